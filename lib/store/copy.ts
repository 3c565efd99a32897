// Copies a store into another of any kind: the journal is replayed through the ledger's rules, so that the copy has
// every entry and charge unchanged, or is refused. Every step is idempotent, so an interrupted copy can be resumed.
import { isDeepStrictEqual } from 'node:util';
import { countOf } from '../count.ts';
import { forEach } from '../for-each.ts';
import type { Charge, Entry, Wallet } from '../money/decide.ts';
import type { Job } from '../money/job-rules.ts';
import { operationOf } from '../money/replay.ts';
import { OperatorError } from '../operator-error.ts';
import { copyArchives, copyEarlier, copyOpeningUsage, refuseUnfinishedArchive } from './copy-archives.ts';
import { copyPayments, findChangedPayments } from './copy-payments.ts';
import { copyAlerts, copyAuditLog, copyUsers } from './copy-people.ts';
import { journalPages } from './journal.ts';
import { copyMedia } from './media.ts';
import type { Account } from './ports/accounts.ts';
import type { IdempotencyStore } from './ports/idempotency.ts';
import type { JournalPage } from './ports/journal.ts';
import type { Submission } from './ports/ledger.ts';
import { type PortName, portNamesOf } from './ports.ts';
import { type OnProgress, type Store, StoreError } from './store.ts';

type CopySource = Omit<Store, 'close'>;

export interface CopyOptions {
  readonly from: CopySource;
  /** Empty, or the target of an interrupted copy. */
  readonly to: Store;
  /** The source is in use: each wallet is copied as of one moment and may have changed afterwards. */
  readonly live: boolean;
  readonly onProgress?: OnProgress | undefined;
}

export interface CopyReport {
  readonly accounts: number;
  readonly keys: number;
  readonly entries: number;
  readonly jobs: number;
  readonly payments: number;
  /** Files that have not expired. */
  readonly media: number;
  readonly users: number;
  readonly settings: number;
  /** The target was left by an interrupted copy. */
  readonly resumed: boolean;
}

/** The setting that says whether a copy is complete. */
export const COPY_SETTING = 'store.copy';
export const COPY_UNFINISHED = 'unfinished';

const ROWS_PER_PAGE = 1000;
const JOBS_PER_PAGE = 200;
/** Their replies may be a mebibyte each. */
const REPEATS_PER_PAGE = 8;
const WALLETS_AT_ONCE = 4;
const READS_AT_ONCE = 8;
const TRIES = 5;
const TRY_AGAIN_MS = 500;

/** Rejects with `OperatorError` if the copy cannot be made or does not match the source. */
export async function copyStore(options: CopyOptions): Promise<CopyReport> {
  const { from, to, live } = options;
  refuseUnknownPorts(from);
  await refuseUnfinishedArchive(from);
  const resumed = await claimTarget(to);
  const accounts = await from.accounts.list();
  const counts: Counts = { accounts: 0, keys: 0, entries: 0, jobs: 0, payments: 0, media: 0, users: 0, settings: 0 };
  for (const step of Object.values(STEPS)) Object.assign(counts, await step?.(options, accounts));
  if (!live) await refuseChanges(from, to);
  await to.settings.set(COPY_SETTING, `finished ${new Date().toISOString()}`);
  return { ...counts, resumed };
}

type Counts = Omit<CopyReport, 'resumed'>;
type Step = (options: CopyOptions, accounts: readonly Account[]) => Promise<Partial<Counts>>;

/** What a copy does with each port, in this order; null: nothing is copied directly. */
const STEPS: { readonly [Name in PortName]: Step | null } = {
  accounts: async ({ to }, accounts) => {
    await copyAccounts(to, accounts);
    return { accounts: accounts.length };
  },
  // First: sums that are read before their journal are never ahead of it.
  usage: async ({ from, to }) => {
    await copyOpeningUsage(from, to);
    return {};
  },
  journal: async (options, accounts) => ({ entries: await copyJournal(options, accounts) }),
  // Its rows come from replaying the journal.
  ledger: null,
  keys: async ({ from, to }, accounts) => {
    let keys = 0;
    for (const { id } of accounts) keys += await copyKeys(from, to, id);
    return { keys };
  },
  jobs: async (options) => ({ jobs: await copyJobs(options) }),
  payments: async ({ from, to, live }) => ({ payments: await copyPayments(from, to, live) }),
  media: async ({ from, to }) => ({ media: await copyMedia(from.media, to.media) }),
  settings: async ({ from, to }) => ({ settings: await copySettings(from, to) }),
  users: async ({ from, to }) => ({ users: await copyUsers(from, to) }),
  // The copy is verified as a whole.
  checkpoints: null,
  archives: async ({ from, to }) => {
    await copyArchives(from, to);
    return {};
  },
  // People sign in again.
  sessions: null,
  auditLog: async ({ from, to }) => {
    await copyAuditLog(from, to);
    return {};
  },
  alerts: async ({ from, to }) => {
    await copyAlerts(from, to);
    return {};
  },
  idempotency: async ({ from, to }) => {
    await copyRepeats(from.idempotency, to.idempotency);
    return {};
  },
  // Windows last a minute, and owners are processes that do not work on the copy.
  limits: null,
  owners: null,
};

/** Otherwise a port that the copy does not know would be lost silently. */
function refuseUnknownPorts(from: CopySource): void {
  const unknown = portNamesOf(from).find((name) => !(name in STEPS));
  if (unknown !== undefined) throw new Error(`the copy does not know the port ${unknown} of the store`);
}

/** Resolves to whether a copy had already started. */
async function claimTarget(to: Store): Promise<boolean> {
  if ((await to.settings.get(COPY_SETTING)) === COPY_UNFINISHED) return true;
  const [accounts, settings] = [await to.accounts.list(), await to.settings.list()];
  if (accounts.length > 0 || settings.length > 0) {
    const counts = `${countOf(accounts.length, 'account')} and ${countOf(settings.length, 'setting')}`;
    throw new OperatorError(`The target is not empty (it has ${counts}). Choose an empty one.`);
  }
  await to.settings.set(COPY_SETTING, COPY_UNFINISHED);
  return false;
}

async function copyAccounts(to: Store, accounts: readonly Account[]): Promise<void> {
  const existing = new Map((await to.accounts.list()).map((account) => [account.id, account]));
  for (const account of accounts) {
    const { id, name, createdAt, autoTopup } = account;
    const found = existing.get(id);
    existing.delete(id);
    if (!found) await to.accounts.create({ id, name, createdAt });
    const made = found ?? (await to.accounts.get(id));
    const isWished = isDeepStrictEqual(made?.autoTopup, autoTopup);
    if (!isWished) await to.accounts.setAutoTopup(id, autoTopup);
    const copy = isWished ? made : await to.accounts.get(id);
    if (!isDeepStrictEqual({ ...copy, status: account.status }, account)) throw differs(`the account ${id}`);
  }
  const [stranger] = existing.keys();
  if (stranger !== undefined)
    throw new OperatorError(`The target has an account ${stranger} that the source does not have.`);
}

/** Resolves to the number of entries. */
async function copyJournal({ from, to, onProgress }: CopyOptions, accounts: readonly Account[]): Promise<number> {
  const wanted = new Set(accounts.map((account) => account.id));
  const strangers = new Set<string>();
  const { entries: total } = await from.journal.size();
  let done = 0;
  for await (const page of journalPages(from.journal, ROWS_PER_PAGE)) {
    const parts = partsOf(page);
    for (const { id } of parts) if (!wanted.has(id)) strangers.add(id);
    const known = parts.filter(({ id }) => wanted.has(id));
    await forEach(known, WALLETS_AT_ONCE, (part) => copyPart(to, part, page));
    done += known.reduce((sum, { entries }) => sum + entries.length, 0);
    onProgress?.({ done, total, unit: 'entries' });
  }
  await refuseStrangers(from, strangers);
  return done;
}

/** What a page has of one wallet. */
interface WalletPart {
  readonly id: string;
  readonly entries: readonly Entry[];
  /** The wallet as it should be, with its last entries. */
  readonly wallet: Wallet | undefined;
}

function partsOf({ entries, wallets }: JournalPage): readonly WalletPart[] {
  const groups = Map.groupBy(entries, (entry) => entry.wallet);
  const ends = new Map(wallets.map((wallet) => [wallet.id, wallet]));
  const ids = new Set([...groups.keys(), ...ends.keys()]);
  return [...ids].map((id) => ({ id, entries: groups.get(id) ?? [], wallet: ends.get(id) }));
}

async function copyPart(to: Store, { id, entries, wallet }: WalletPart, page: JournalPage): Promise<void> {
  await copyEarlier(to, { id, entries, isLast: wallet !== undefined }, page);
  const begun = await to.ledger.wallet(id);
  const opened = page.openings.find((opening) => opening.wallet === id)?.seq ?? 0;
  const missing = entries.filter(({ seq }) => seq > Math.max(begun?.seq ?? 0, opened));
  // A suspended wallet would refuse its own past.
  if (begun?.status === 'suspended' && missing.length > 0) await to.accounts.setStatus(id, 'active');
  const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
  for (let from = 0; from < missing.length; from += to.ledger.batchMax) {
    await replay(to, missing.slice(from, from + to.ledger.batchMax), charges);
  }
  await compareEntries(to, id, entries);
  if (!wallet) return;
  if (wallet.status !== (await to.ledger.wallet(id))?.status) await to.accounts.setStatus(id, wallet.status);
  if (!isDeepStrictEqual(await to.ledger.wallet(id), wallet)) throw differs(`the wallet ${id}`);
  const budgets = page.budgets.filter((budget) => budget.wallet === id);
  const copies = new Map((await to.ledger.budgets(budgets.map(({ key }) => key))).map((copy) => [copy.key, copy]));
  const wrong = budgets.find((budget) => !isDeepStrictEqual(copies.get(budget.key), budget));
  if (wrong) throw differs(`the budget of the key ${wrong.key}`);
}

async function compareEntries(to: Store, id: string, entries: readonly Entry[]): Promise<void> {
  const last = entries.at(-1);
  if (!last) return;
  const copies = await to.ledger.entries(id, { before: last.seq + 1, limit: entries.length });
  if (!isDeepStrictEqual(copies.toReversed(), entries)) throw differs(`the wallet ${id}`);
}

/** Accounts created after the copy started are left out; rows without an account belong to none. */
async function refuseStrangers(from: CopySource, strangers: ReadonlySet<string>): Promise<void> {
  for (const id of strangers) {
    if (await from.accounts.get(id)) continue;
    throw new OperatorError(`The source has a wallet or entries of ${id}, but no such account: see "ledger verify".`);
  }
}

async function replay(to: Store, entries: readonly Entry[], charges: ReadonlyMap<string, Charge>): Promise<void> {
  const batch = entries.map((entry) => {
    const op = operationOf(entry, charges.get(entry.charge ?? ''));
    if (!op) throw new OperatorError(`The source has no charge for entry ${entry.seq} of ${entry.wallet}.`);
    return { op, tried: false, abandoned: false } satisfies Submission;
  });
  const outcomes = await applyPatiently(to, batch);
  for (const [index, entry] of entries.entries()) {
    const outcome = outcomes[index];
    const charge = charges.get(entry.charge ?? '');
    const same = outcome?.charge?.state !== charge?.state || isDeepStrictEqual(outcome?.charge, charge);
    if (!same || (outcome?.status !== 'done' && outcome?.status !== 'exists')) {
      throw new OperatorError(`The ledger rejects entry ${entry.seq} of ${entry.wallet}: ${outcome?.status}.`);
    }
  }
}

/** Operations are idempotent: a batch can be sent again, whatever happened to it. */
async function applyPatiently(to: Store, batch: readonly Submission[]) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await to.ledger.apply(batch);
    } catch (error) {
      if (!(error instanceof StoreError) || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** Resolves to the number of keys. */
async function copyKeys(from: CopySource, to: Store, account: string): Promise<number> {
  const rows = await from.keys.list(account);
  const copied = new Map((await to.keys.list(account)).map((row) => [row.id, row]));
  for (const row of rows) {
    const { id, revokedAt, requestsCount, lastUsedAt } = row;
    const found = copied.get(id);
    if (!found) await to.keys.add(row, Number.MAX_SAFE_INTEGER);
    else if (!isDeepStrictEqual(found.limits, row.limits)) await to.keys.put(id, row.limits);
    if (revokedAt !== null) await to.keys.revoke(id, revokedAt);
    const count = requestsCount - (found?.requestsCount ?? 0);
    if (lastUsedAt !== null && (count !== 0 || found?.lastUsedAt !== lastUsedAt)) {
      await to.keys.use([{ id, count, lastUsedAt }]);
    }
  }
  if (!isDeepStrictEqual(await to.keys.list(account), rows)) throw differs(`the list of keys of ${account}`);
  return rows.length;
}

/** Resolves to the number of jobs. Read after the journal, so they include every end that the journal has. */
async function copyJobs({ from, to, live }: CopyOptions): Promise<number> {
  let [copied, after] = [0, ''];
  while (true) {
    const page = await from.jobs.page({ after, limit: JOBS_PER_PAGE });
    const found = await Promise.all(page.map((job) => (live ? asOfCharge(to, job) : job)));
    const jobs = found.filter((job) => job !== undefined);
    await to.jobs.put(jobs);
    const copies = await to.jobs.page({ after, limit: JOBS_PER_PAGE });
    // Rows beyond the source's last one exist only in a target that had more.
    if (!isDeepStrictEqual(copies.slice(0, jobs.length), jobs)) throw differs('the list of jobs');
    copied += jobs.length;
    const last = page.at(-1);
    if (!last) {
      if (copies.length > 0)
        throw new OperatorError(`The target has a job ${copies[0]?.id} that the source does not have.`);
      return copied;
    }
    after = last.id;
  }
}

/**
 * A job as it was when its wallet was copied: not there yet, or not failed yet if its charge was not refunded yet. Such
 * a job is due again, so that a gateway on the copy asks the upstream and lets it fail once more.
 */
async function asOfCharge(to: Store, job: Job): Promise<Job | undefined> {
  const charge = await to.ledger.charge(job.charge);
  if (!charge) return undefined;
  if (job.phase !== 'failed' || charge.state === 'refunded') return job;
  const phase = job.ref === null ? 'starting' : 'running';
  return { ...job, phase, error: null, endedAt: null, dueAt: job.createdAt };
}

/** Including calls without a reply yet: a repeat on the copy must not be charged again. */
async function copyRepeats(from: IdempotencyStore, to: IdempotencyStore): Promise<void> {
  for (let after = ''; ; ) {
    const page = await from.page({ after, limit: REPEATS_PER_PAGE });
    await to.put(page);
    const last = page.at(-1);
    if (!last) return;
    after = last.id;
  }
}

async function copySettings(from: CopySource, to: Store): Promise<number> {
  const settings = (await from.settings.list()).filter(({ name }) => name !== COPY_SETTING);
  for (const { name, value } of settings) await to.settings.set(name, value);
  return settings.length;
}

/** What was written to the source in the meantime is missing from the copy. */
async function refuseChanges(from: CopySource, to: Store): Promise<void> {
  const changed = (where: string) =>
    new OperatorError(
      `The source changed during the copy (${where}): stop every gateway on it and copy again, which resumes ` +
        'from here.',
    );
  const readOf = async ({ ledger, keys }: CopySource, id: string) => [await ledger.wallet(id), await keys.list(id)];
  await forEach(await from.accounts.list(), READS_AT_ONCE, async ({ id }) => {
    const [now, copy] = await Promise.all([readOf(from, id), readOf(to, id)]);
    if (isDeepStrictEqual(now, copy)) return;
    throw changed(`account ${id}`);
  });
  const payments = await findChangedPayments(from, to);
  if (payments !== undefined) throw changed(payments);
  for (let after = ''; ; ) {
    const [now, copy] = await Promise.all([from, to].map(({ jobs }) => jobs.page({ after, limit: JOBS_PER_PAGE })));
    if (!isDeepStrictEqual(now, copy)) throw changed('jobs');
    const last = now?.at(-1);
    if (!last) return;
    after = last.id;
  }
}

function differs(what: string): OperatorError {
  return new OperatorError(`The copy of ${what} does not match the source: start again with an empty target.`);
}
