// The audit: checks every wallet against its journal and every charge against its entries, and reports differences.

import { eachConcurrently } from '../base/each-concurrently.ts';
import { pluralize } from '../base/pluralize.ts';
import type { Charge, Entry } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { getEntryChargeId } from '../money/replay.ts';
import { compareIds, journalPages } from '../store/journal.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import type { OnProgress, Store } from '../store/store.ts';
import { checkArchives } from './audit-archives.ts';
import { checkAutoTopups } from './audit-auto.ts';
import { createBudgetCheck } from './audit-budgets.ts';
import { type ChargeFinding, checkCharge } from './audit-charge.ts';
import { checkJobs, checkPaidJobs } from './audit-jobs.ts';
import { checkMarks } from './audit-marks.ts';
import { checkPaymentEntries, checkPayments } from './audit-payments.ts';
import { type Found, isUnreadable } from './audit-rules.ts';
import { createUsageCheck } from './audit-usage.ts';
import { type OpenAccount, openAccount } from './audit-wallet.ts';

export interface AuditReport {
  readonly ok: boolean;
  readonly wallets: number;
  readonly entries: number;
  /** The sum of the absolute values of all differences. */
  readonly drift: Micro;
  /** The first per wallet and in all: a damaged store may have millions. */
  readonly problems: readonly AuditProblem[];
  /** How many more there are. */
  readonly more: number;
}

export interface AuditProblem {
  readonly wallet: string;
  readonly problem: string;
}

/** Rows per read, few enough not to keep other reads waiting. */
const PAGE = 500;
/** Wallets that are looked at together. */
const AT_ONCE = 8;
const PROBLEMS_MAX = 1000;
const PROBLEMS_PER_WALLET_MAX = 20;

export async function verifyLedger(store: Store, onProgress?: OnProgress): Promise<AuditReport> {
  const { journal } = store;
  const total = onProgress ? (await journal.size()).entries : 0;
  const audit = createAudit();
  const { found } = audit;
  const archives = await store.archives.list();
  const usage = createUsageCheck(store, found);
  for await (const page of journalPages(journal, PAGE)) {
    const ended = audit.addPage(page);
    usage.add(page);
    await eachConcurrently(ended, AT_ONCE, usage.end);
    await checkPaymentEntries(store, page.entries, found);
    await checkPaidJobs(store, page, found);
    onProgress?.({ done: audit.entries(), total, unit: 'entries' });
  }
  checkArchives(audit.left(), { before: archives, after: await store.archives.list() }, found);
  const checks: readonly (readonly [string, () => Promise<void>])[] = [
    ['calls', () => findUnknownCharges(store, found)],
    ['keys', () => checkKeys(store, found)],
    ['jobs', () => checkJobs(store, found, Math.min(audit.lastAt(), Date.now()))],
    ['payments', () => checkPayments(store, found)],
    ['automatic top-ups', () => checkAutoTopups(store, found)],
    ['marks', () => checkMarks(store, found)],
  ];
  for (const [name, check] of checks) await goOn(name, check, found);
  return audit.report();
}

/** A row that cannot be read does not hide what the other checks find. */
async function goOn(name: string, check: () => Promise<void>, found: Found): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    found(name, `a row cannot be read: ${error.message}`);
  }
}

function createAudit() {
  const notes = createNotes();
  const sums = { wallets: 0, entries: 0 };
  const left = { entries: 0, charged: 0n };
  let lastAt = Number.NEGATIVE_INFINITY;
  const budgets = createBudgetCheck(notes.found);
  /** The wallet that continues on the next page. */
  let open: OpenAccount | undefined;

  /** The wallets that end on the page. */
  function addPage(page: JournalPage): readonly string[] {
    const ended: string[] = [];
    checkCharges(page, notes.found);
    budgets.add(page);
    const entries = Map.groupBy(page.entries, (entry) => entry.wallet);
    const wallets = new Map(page.wallets.map((wallet) => [wallet.id, wallet]));
    const accounts = new Map(page.accounts.map((account) => [account.id, account]));
    const openings = new Map(page.openings.map((opening) => [opening.wallet, opening]));
    const ids = new Set([...(open ? [open.id] : []), ...entries.keys(), ...wallets.keys(), ...accounts.keys()]);
    for (const id of [...ids].sort(compareIds)) {
      const account = open?.id === id ? open : openAccount(id, notes.found);
      const found = entries.get(id) ?? [];
      const opening = openings.get(id);
      if (opening) account.openAt(opening);
      for (const entry of found) account.add(entry);
      for (const { at } of found) if (at > lastAt) lastAt = at;
      sums.entries += found.length;
      open = account;
      if (page.next?.id === id && page.next.seq !== null) continue;
      account.end(wallets.get(id), accounts.get(id));
      budgets.end(id, wallets.has(id));
      open = undefined;
      ended.push(id);
      left.entries += account.left().entries;
      left.charged += account.left().charged;
      if (wallets.has(id)) sums.wallets += 1;
    }
    return ended;
  }

  return {
    addPage,
    found: notes.found,
    entries: () => sums.entries,
    left: () => left,
    lastAt: () => lastAt,
    report: (): AuditReport => ({ ...sums, ...notes.read() }),
  };
}

/** Keeps the first problems of each wallet, and counts the rest. */
export function createNotes() {
  const problems: AuditProblem[] = [];
  const perWallet = new Map<string, number>();
  let [count, drift] = [0, 0n];
  return {
    found(wallet: string, problem: string, by: Micro = 0n): void {
      count += 1;
      drift += by;
      const before = perWallet.get(wallet) ?? 0;
      if (before >= PROBLEMS_PER_WALLET_MAX || problems.length >= PROBLEMS_MAX) return;
      perWallet.set(wallet, before + 1);
      problems.push({ wallet, problem });
    },
    read: () => ({ ok: count === 0, drift, problems, more: count - problems.length }),
  };
}

export function checkCharges(page: JournalPage, found: Found): void {
  const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
  const keys = new Map(page.keys.map((key) => [key.id, key]));
  const keyed = new Set(page.keyed);
  const groups = groupByCharge([...page.entries, ...page.others]);
  for (const [id, wallet] of new Map(page.entries.flatMap(subjectOfPage))) {
    const entries = (groups.get(id) ?? []).filter((entry) => entry.wallet === wallet);
    const charge = charges.get(id);
    const onFinding = ({ problem, drift }: ChargeFinding) => found(wallet, `call ${id}: ${problem}`, drift);
    for (const finding of checkCharge({ id, wallet, charge, entries })) onFinding(finding);
    const problem = charge && problemOfKey(charge, keys.get(charge.key), keyed);
    if (problem !== undefined) onFinding({ problem });
  }
}

function problemOfKey(
  { wallet, key: id, period, budgetKey }: Charge,
  key: JournalPage['keys'][number] | undefined,
  keyed: ReadonlySet<string>,
): string | undefined {
  // Programs that use the ledger without keys write accounts without any.
  if (key?.account !== wallet) return key || keyed.has(wallet) ? `its key ${id} is not one of this account` : undefined;
  const wanted = period === null ? null : key.budgetKey;
  return budgetKey === wanted ? undefined : `it counts in the budget of ${budgetKey ?? id} instead of ${wanted ?? id}`;
}

function subjectOfPage(entry: Entry): readonly (readonly [charge: string, wallet: string])[] {
  const id = getEntryChargeId(entry);
  return id === undefined ? [] : [[id, entry.wallet]];
}

function groupByCharge(entries: readonly Entry[]): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const id = getEntryChargeId(entry);
    if (id === undefined) continue;
    const group = groups.get(id);
    if (group) group.push(entry);
    else groups.set(id, [entry]);
  }
  return groups;
}

async function findUnknownCharges({ journal }: Store, found: Found): Promise<void> {
  let after: string | undefined = '';
  while (after !== undefined) {
    const page: Awaited<ReturnType<typeof journal.unknownCharges>> = await journal.unknownCharges(after, PAGE);
    for (const { id, wallet } of page.found) found(wallet, `call ${id}: no entry of the journal creates it`);
    after = page.next;
  }
}

async function checkKeys({ journal }: Store, found: Found): Promise<void> {
  let after = '';
  while (true) {
    const rows = await journal.keys(after, PAGE);
    for (const { id, account, hasAccount, requestsCount, lastUsedAt } of rows) {
      if (!hasAccount) found(account, `key ${id}: its account does not exist`);
      if ((requestsCount === 0) !== (lastUsedAt === null)) {
        found(account, `key ${id}: ${pluralize(requestsCount, 'request')}, last used ${lastUsedAt ?? 'never'}`);
      }
    }
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}
