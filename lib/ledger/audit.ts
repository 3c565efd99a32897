// The audit: checks every wallet against its journal and every charge against its entries, and reports differences.

import { eachConcurrently } from '../base/each-concurrently.ts';
import { pluralize } from '../base/pluralize.ts';
import type { Charge, Entry } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { getEntryChargeId } from '../money/replay.ts';
import { compareIds, journalPages } from '../store/journal.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import type { OnProgress, Store } from '../store/store.ts';
import { type PageStart, walkFound, walkRows } from '../store/walks.ts';
import { readAttemptsSince } from './attempts-since.ts';
import { checkArchives } from './audit-archives.ts';
import { checkAttemptsOfPage, findAttemptsOfUnknownCalls } from './audit-attempts.ts';
import { checkAutoTopups } from './audit-auto-topups.ts';
import { createBudgetCheck } from './audit-budgets.ts';
import { type ChargeFinding, checkCharge } from './audit-charge.ts';
import { checkJobs, checkPaidJobs } from './audit-jobs.ts';
import { checkMarks } from './audit-marks.ts';
import { checkPaymentEntries, checkPayments } from './audit-payments.ts';
import { createPromoCheck } from './audit-promos.ts';
import { isUnreadableRow, type ReportProblem } from './audit-rules.ts';
import { checkServiceSums } from './audit-service.ts';
import { createUsageCheck } from './audit-usage.ts';
import { createWalletAudit, type WalletAudit } from './audit-wallet.ts';

export interface AuditReport {
  readonly ok: boolean;
  readonly wallets: number;
  readonly entries: number;
  /** The sum of the absolute values of all differences. */
  readonly drift: Micro;
  /** The first problems per wallet and in total: a damaged store may have millions. */
  readonly problems: readonly AuditProblem[];
  /** How many more problems there are. */
  readonly more: number;
}

interface AuditProblem {
  readonly wallet: string;
  readonly problem: string;
}

/** Rows per read, few enough not to keep other reads waiting. */
const ROWS_PER_PAGE = 500;
/** Wallets whose usage is compared concurrently. */
const WALLETS_AT_ONCE = 8;
const PROBLEMS_MAX = 1000;
const PROBLEMS_PER_WALLET_MAX = 20;

export async function verifyLedger(store: Store, onProgress?: OnProgress): Promise<AuditReport> {
  const { journal } = store;
  const total = onProgress ? (await journal.size()).entries : 0;
  const audit = createAudit();
  const { report } = audit;
  const archives = await store.archives.list();
  const usage = createUsageCheck(store, report);
  const promos = createPromoCheck(store, report);
  const attemptsSince = await readAttemptsSince(store.settings);
  for await (const page of journalPages(journal, ROWS_PER_PAGE)) {
    const ended = audit.addPage(page);
    usage.add(page);
    promos.add(page.entries);
    checkAttemptsOfPage(page, attemptsSince, report);
    await eachConcurrently(ended, WALLETS_AT_ONCE, usage.end);
    await checkPaymentEntries(store, page.entries, report);
    await checkPaidJobs(store, page, report);
    onProgress?.({ done: audit.entries(), total, unit: 'entries' });
  }
  checkArchives(audit.removed(), { before: archives, after: await store.archives.list() }, report);
  const checks: readonly (readonly [string, () => Promise<void>])[] = [
    ['calls', () => findUnknownCharges(store, report)],
    ['attempts', () => findAttemptsOfUnknownCalls(store, report)],
    ['keys', () => checkKeys(store, report)],
    ['jobs', () => checkJobs(store, report, { lastAt: Math.min(audit.lastAt(), Date.now()), attemptsSince })],
    ['payments', () => checkPayments(store, report)],
    ['automatic top-ups', () => checkAutoTopups(store, report)],
    ['promo codes', promos.end],
    ['marks', () => checkMarks(store, report)],
    ['sums of all accounts', () => checkServiceSums(store, report)],
  ];
  for (const [name, check] of checks) await runCheck(name, check, report);
  return audit.summary();
}

/** An unreadable row must not hide the results of the other checks. */
async function runCheck(name: string, check: () => Promise<void>, report: ReportProblem): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!isUnreadableRow(error)) throw error;
    report(name, `a row cannot be read: ${error.message}`);
  }
}

function createAudit() {
  const notes = createProblemLog();
  const sums = { wallets: 0, entries: 0 };
  const removed = { entries: 0, charged: 0n };
  let lastAt = Number.NEGATIVE_INFINITY;
  const budgets = createBudgetCheck(notes.report);
  /** The wallet that continues on the next page. */
  let open: WalletAudit | undefined;

  /** Returns the wallets that end on the page. */
  function addPage(page: JournalPage): readonly string[] {
    const ended: string[] = [];
    checkCharges(page, notes.report);
    budgets.add(page);
    const entries = Map.groupBy(page.entries, (entry) => entry.wallet);
    const wallets = new Map(page.wallets.map((wallet) => [wallet.id, wallet]));
    const accounts = new Map(page.accounts.map((account) => [account.id, account]));
    const openings = new Map(page.openings.map((opening) => [opening.wallet, opening]));
    const ids = new Set([...(open ? [open.id] : []), ...entries.keys(), ...wallets.keys(), ...accounts.keys()]);
    for (const id of [...ids].sort(compareIds)) {
      const audit = open?.id === id ? open : createWalletAudit(id, notes.report);
      const found = entries.get(id) ?? [];
      const opening = openings.get(id);
      if (opening) audit.openAt(opening);
      for (const entry of found) audit.add(entry);
      for (const { at } of found) if (at > lastAt) lastAt = at;
      sums.entries += found.length;
      open = audit;
      if (page.next?.id === id && page.next.seq !== null) continue;
      audit.end(wallets.get(id), accounts.get(id));
      budgets.end(id, wallets.has(id));
      open = undefined;
      ended.push(id);
      removed.entries += audit.removed().entries;
      removed.charged += audit.removed().charged;
      if (wallets.has(id)) sums.wallets += 1;
    }
    return ended;
  }

  return {
    addPage,
    report: notes.report,
    entries: () => sums.entries,
    removed: () => removed,
    lastAt: () => lastAt,
    summary: (): AuditReport => ({ ...sums, ...notes.read() }),
  };
}

/** Keeps the first problems of each wallet, and counts the rest. */
export function createProblemLog() {
  const problems: AuditProblem[] = [];
  const perWallet = new Map<string, number>();
  let count = 0;
  let drift = 0n;
  return {
    report(wallet: string, problem: string, by: Micro = 0n): void {
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

export function checkCharges(page: JournalPage, report: ReportProblem): void {
  const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
  const keys = new Map(page.keys.map((key) => [key.id, key]));
  const keyed = new Set(page.keyed);
  const groups = Map.groupBy([...page.entries, ...page.others], getEntryChargeId);
  for (const [id, wallet] of new Map(page.entries.flatMap(listChargeAndWallet))) {
    const entries = (groups.get(id) ?? []).filter((entry) => entry.wallet === wallet);
    const charge = charges.get(id);
    const onFinding = ({ problem, drift }: ChargeFinding) => report(wallet, `call ${id}: ${problem}`, drift);
    for (const finding of checkCharge({ wallet, charge, entries })) onFinding(finding);
    const problem = charge && checkChargeKey(charge, keys.get(charge.key), keyed);
    if (problem !== undefined) onFinding({ problem });
  }
}

function checkChargeKey(
  { wallet, kind, key: id, period, budgetKey }: Charge,
  key: JournalPage['keys'][number] | undefined,
  keyed: ReadonlySet<string>,
): string | undefined {
  // A hold of a service that names no key has who made it: a management key, or the command line.
  if (kind === 'service' && !key && !id.startsWith('key_')) return undefined;
  // Programs that use the ledger without keys write accounts without any.
  if (key?.account !== wallet) return key || keyed.has(wallet) ? `its key ${id} is not one of this account` : undefined;
  const wanted = period === null ? null : key.budgetKey;
  return budgetKey === wanted ? undefined : `it counts in the budget of ${budgetKey ?? id} instead of ${wanted ?? id}`;
}

function listChargeAndWallet(entry: Entry): readonly (readonly [charge: string, wallet: string])[] {
  const id = getEntryChargeId(entry);
  return id === undefined ? [] : [[id, entry.wallet]];
}

async function findUnknownCharges({ journal }: Store, report: ReportProblem): Promise<void> {
  const unknown = walkFound((after) => journal.unknownCharges(after, ROWS_PER_PAGE));
  for await (const { id, wallet } of unknown) report(wallet, `call ${id}: no entry of the journal creates it`);
}

async function checkKeys({ journal }: Store, report: ReportProblem): Promise<void> {
  const read = ({ after, limit }: PageStart) => journal.keys(after, limit);
  const keys = walkRows(ROWS_PER_PAGE, read, ({ id }) => id);
  for await (const { id, account, hasAccount, requestsCount, lastUsedAt } of keys) {
    if (!hasAccount) report(account, `key ${id}: its account does not exist`);
    if ((requestsCount === 0) !== (lastUsedAt === null)) {
      report(account, `key ${id}: ${pluralize(requestsCount, 'request')}, last used ${lastUsedAt ?? 'never'}`);
    }
  }
}
