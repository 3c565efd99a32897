// Copies a store into another of any kind. The journal is replayed through the rules of the ledger, so that the copy has
// every entry and charge unchanged, or fails. Every step is idempotent, so an interrupted copy can be resumed.
import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../base/operator-error.ts';
import { pluralize } from '../base/pluralize.ts';
import type { Job } from '../money/job-rules.ts';
import { copyAccounts, copyAllKeys, findChangedKeys } from './copy-accounts.ts';
import { copyArchives, copyOpeningUsage, refuseUnfinishedArchive } from './copy-archives.ts';
import { copyAttempts } from './copy-attempts.ts';
import { copyJournal } from './copy-journal.ts';
import { copyMedia } from './copy-media.ts';
import { mismatchError } from './copy-mismatch.ts';
import { copyPapers } from './copy-papers.ts';
import { copyPayments, findChangedPayments } from './copy-payments.ts';
import { copyAlerts, copyAuditLog, copyFormerUsers, copyUsers } from './copy-people.ts';
import { copyPromos } from './copy-promos.ts';
import { copyRefusals } from './copy-refusals.ts';
import { listPortNames, type PortName } from './port-calls.ts';
import type { CatalogVersion, CatalogVersionStore } from './ports/catalog-versions.ts';
import type { WalletCheckpoint } from './ports/checkpoints.ts';
import type { IdempotencyStore } from './ports/idempotency.ts';
import type { ManagementStore } from './ports/management.ts';
import type { OnProgress, Store } from './store.ts';
import { walkFrom, walkPages } from './walks.ts';

type CopySource = Omit<Store, 'close'>;

interface CopyOptions {
  readonly from: CopySource;
  /** An empty store, or the target of an interrupted copy. */
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

const WALLETS_PER_PAGE = 500;
const JOBS_PER_PAGE = 200;
/** Few per page: a reply may be one MiB. */
const RECORDS_PER_PAGE = 8;

/** Rejects with `OperatorError` if the copy cannot be made or does not match the source. */
export async function copyStore(options: CopyOptions): Promise<CopyReport> {
  const { from, to, live } = options;
  refuseUnknownPorts(from);
  await refuseUnfinishedArchive(from);
  const resumed = await claimTarget(to);
  const counts: Counts = { accounts: 0, keys: 0, entries: 0, jobs: 0, payments: 0, media: 0, users: 0, settings: 0 };
  for (const step of Object.values(COPY_STEPS)) Object.assign(counts, await step?.({ ...options, resumed }));
  if (!live) await refuseChanges(from, to);
  await to.settings.set(COPY_SETTING, `finished ${new Date().toISOString()}`);
  return { ...counts, resumed };
}

type Counts = Omit<CopyReport, 'resumed'>;
type Step = (options: CopyOptions & Pick<CopyReport, 'resumed'>) => Promise<Partial<Counts>>;

/** The copy step of each port, in this order; null: nothing is copied directly. */
const COPY_STEPS: { readonly [Name in PortName]: Step | null } = {
  // First: what a reply says has happened by then, so the copy has it, too.
  management: async ({ from, to }) => {
    await copyManagement(from.management, to.management);
    return {};
  },
  accounts: async ({ from, to }) => ({ accounts: await copyAccounts(from, to) }),
  // Before the journal: sums that are read earlier are never ahead of it.
  usage: async ({ from, to }) => {
    await copyOpeningUsage(from, to);
    return {};
  },
  journal: async (options) => ({ entries: await copyJournal(options) }),
  // Replaying the journal writes these rows.
  ledger: null,
  keys: async ({ from, to, live }) => ({ keys: await copyAllKeys(from, to, live) }),
  jobs: async (options) => ({ jobs: await copyJobs(options) }),
  // The journal has copied those of calls; those of jobs may have ended since.
  attempts: async ({ from, to }) => {
    await copyJobAttempts(from, to);
    return {};
  },
  payments: async ({ from, to, live }) => ({ payments: await copyPayments(from, to, live) }),
  media: async ({ from, to }) => ({ media: await copyMedia(from.media, to.media) }),
  settings: async ({ from, to }) => ({ settings: await copySettings(from, to) }),
  users: async ({ from, to, live }) => {
    await copyFormerUsers(from, to);
    return { users: await copyUsers(from, to, live) };
  },
  // The copy gets its own checkpoints when it is audited.
  checkpoints: null,
  archives: async ({ from, to }) => {
    await copyArchives(from, to);
    return {};
  },
  refusals: async ({ from, to }) => {
    await copyRefusals(from.refusals, to.refusals);
    return {};
  },
  // Users sign in again.
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
    await copyIdempotencyRecords(from.idempotency, to.idempotency);
    return {};
  },
  rates: async ({ from, to }) => {
    await to.rates.put(await from.rates.list());
    return {};
  },
  promos: async ({ from, to, live }) => {
    await copyPromos(from.promos, to.promos, live);
    return {};
  },
  papers: async ({ from, to }) => {
    await copyPapers(from, to);
    return {};
  },
  catalogVersions: async ({ from, to }) => {
    await copyCatalogVersions(from.catalogVersions, to.catalogVersions);
    return {};
  },
  // Windows last only a minute, and the owners do not use the copy.
  limits: null,
  owners: null,
};

/** An unknown port would be lost silently. */
function refuseUnknownPorts(from: CopySource): void {
  const unknown = listPortNames(from).find((name) => !(name in COPY_STEPS));
  if (unknown !== undefined) throw new Error(`the copy does not know the port ${unknown} of the store`);
}

/** Resolves to whether a copy had already started. */
async function claimTarget(to: Store): Promise<boolean> {
  if ((await to.settings.get(COPY_SETTING)) === COPY_UNFINISHED) return true;
  const accounts = await to.accounts.page({ limit: 1 });
  const settings = await to.settings.list();
  if (accounts.length > 0 || settings.length > 0) {
    const { wallets } = await to.journal.size();
    const counts = `${pluralize(wallets, 'account')} and ${pluralize(settings.length, 'setting')}`;
    throw new OperatorError(`The target is not empty (it has ${counts}). Choose an empty one.`);
  }
  await to.settings.set(COPY_SETTING, COPY_UNFINISHED);
  return false;
}

/** Resolves to the number of jobs. Must run after the journal was copied, so that no end of a job is missing. */
async function copyJobs({ from, to, live }: CopyOptions): Promise<number> {
  let copied = 0;
  let after = '';
  while (true) {
    const page = await from.jobs.page({ after, limit: JOBS_PER_PAGE });
    const found = await Promise.all(page.map((job) => (live ? rewindJob(to, job) : job)));
    const jobs = found.filter((job) => job !== undefined);
    await to.jobs.put(jobs);
    const copies = await to.jobs.page({ after, limit: JOBS_PER_PAGE });
    // Rows after the last one of the source exist only if the target had other rows before.
    if (!isDeepStrictEqual(copies.slice(0, jobs.length), jobs)) throw mismatchError('the list of jobs');
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

async function copyJobAttempts(from: CopySource, to: Store): Promise<void> {
  for await (const jobs of walkPages(JOBS_PER_PAGE, to.jobs.page, ({ id }) => id)) {
    const charges = jobs.map(({ charge }) => charge);
    await copyAttempts(await from.attempts.list(charges), { charges, to });
  }
}

/**
 * Rewinds a job to the moment at which its wallet was copied: missing if its charge is, and not failed if the charge is
 * not refunded. Such a job is due again, so that a gateway on the copy polls the upstream and fails it again.
 */
async function rewindJob(to: Store, job: Job): Promise<Job | undefined> {
  const charge = await to.ledger.charge(job.charge);
  if (!charge) return undefined;
  if (job.phase !== 'failed' || charge.state === 'refunded') return job;
  const phase = job.ref === null ? 'starting' : 'running';
  return { ...job, phase, error: null, endedAt: null, dueAt: job.createdAt };
}

/** Keys go on working on the copy; a repeat of a request there finds its reply. */
async function copyManagement(from: ManagementStore, to: ManagementStore): Promise<void> {
  await to.putKeys(await from.listKeys());
  for await (const page of walkPages(RECORDS_PER_PAGE, from.replyPage, ({ id }) => id)) await to.putReplies(page);
}

/** Includes calls without a reply: repeating one of them on the copy must not charge it again. */
async function copyIdempotencyRecords(from: IdempotencyStore, to: IdempotencyStore): Promise<void> {
  for await (const page of walkPages(RECORDS_PER_PAGE, from.page, ({ id }) => id)) await to.put(page);
}

const VERSIONS_PER_PAGE = 50;

/** The latest first. */
async function copyCatalogVersions(from: CatalogVersionStore, to: CatalogVersionStore): Promise<void> {
  const limit = VERSIONS_PER_PAGE;
  const read = (last?: CatalogVersion) => from.page({ limit, ...(last && { before: last.seq }) });
  for await (const versions of walkFrom(limit, read)) await to.put(versions);
}

async function copySettings(from: CopySource, to: Store): Promise<number> {
  const settings = (await from.settings.list()).filter(({ name }) => name !== COPY_SETTING);
  for (const { name, value } of settings) await to.settings.set(name, value);
  return settings.length;
}

/** Rows written to the source in the meantime would be missing from the copy. */
async function refuseChanges(from: CopySource, to: Store): Promise<void> {
  const changed = (where: string) =>
    new OperatorError(
      `The source changed during the copy (${where}): stop every gateway on it and copy again, which resumes ` +
        'from here.',
    );
  const account = (await findChangedWallet(from, to)) ?? (await findChangedKeys(from, to));
  if (account !== undefined) throw changed(`account ${account}`);
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

async function findChangedWallet(from: CopySource, to: Store): Promise<string | undefined> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = (store: CopySource) => store.checkpoints.page(after as string, WALLETS_PER_PAGE);
    const [now, copies] = (await Promise.all([page(from), page(to)])) as [
      readonly WalletCheckpoint[],
      readonly WalletCheckpoint[],
    ];
    const copied = new Map(copies.map(({ id, wallet }) => [id, wallet]));
    const changed = now.find(({ id, wallet }) => !isDeepStrictEqual(copied.get(id), wallet));
    if (changed) return changed.id;
    after = now.at(-1)?.id;
  }
  return undefined;
}
