// The audit of jobs: each job has its charge, has failed exactly if that charge was refunded, ends by its deadline, and
// exists if a charge paid for it.

import { HOUR_MS } from '../base/durations.ts';
import type { Charge } from '../money/decide.ts';
import type { Job } from '../money/job-rules.ts';
import { readJobIdFromMark } from '../money/mark.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import type { Store } from '../store/store.ts';
import { walkPages } from '../store/walks.ts';
import type { ReportProblem } from './audit-rules.ts';

/** Jobs per read; their charges are read concurrently. */
const JOBS_PER_PAGE = 50;
/** A gateway ends a job at its deadline; after an outage it has this much longer. */
const LATE_MS = HOUR_MS;

interface JobTimes {
  /** The time of the newest entry. In a store that is not in use, such as a backup, no job ends. */
  readonly lastAt: number;
  /** See `readAttemptsSince`. */
  readonly attemptsSince: number;
}

export async function checkJobs(
  store: Pick<Store, 'jobs' | 'ledger' | 'attempts'>,
  report: ReportProblem,
  { lastAt, attemptsSince }: JobTimes,
): Promise<void> {
  for await (const page of walkPages(JOBS_PER_PAGE, store.jobs.page, ({ id }) => id)) {
    const problems = await Promise.all(page.map((job) => findJobProblem(store, job)));
    for (const [index, { id, wallet, deadline, endedAt }] of page.entries()) {
      if (problems[index] !== undefined) report(wallet, `job ${id}: ${problems[index]}`);
      if (endedAt === null && deadline + LATE_MS < lastAt && (await isJobOpen(store, id))) {
        report(wallet, `job ${id}: it has not ended, and its deadline was ${new Date(deadline).toISOString()}`);
      }
    }
    await checkJobAttempts(
      store,
      page.filter(({ createdAt }) => createdAt >= attemptsSince),
      report,
    );
  }
}

/** What an upstream works on, or has worked on, costs something. */
async function checkJobAttempts(
  { attempts }: Pick<Store, 'attempts'>,
  jobs: readonly Job[],
  report: ReportProblem,
): Promise<void> {
  const found = Map.groupBy(await attempts.list(jobs.map(({ charge }) => charge)), ({ charge }) => charge);
  for (const { id, wallet, charge, phase, ref } of jobs) {
    const rows = found.get(charge) ?? [];
    // One that never ran may have failed before any upstream was asked.
    if (ref !== null && rows.length === 0) report(wallet, `job ${id}: it has no attempt at an upstream`);
    if (phase === 'completed' && rows.at(-1)?.ending === 'running')
      report(wallet, `job ${id}: it is completed, and its last attempt is running`);
  }
}

async function isJobOpen({ jobs }: Pick<Store, 'jobs'>, id: string): Promise<boolean> {
  return (await jobs.get(id))?.endedAt === null;
}

/** The opposite direction: every job that the journal paid for exists. */
export async function checkPaidJobs(
  { jobs }: Pick<Store, 'jobs'>,
  page: JournalPage,
  report: ReportProblem,
): Promise<void> {
  const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
  await Promise.all(
    page.entries.map(async (entry) => {
      const charge = charges.get(entry.charge ?? '');
      if (entry.kind !== 'charge' || !charge) return;
      const id = entry.mark === null ? deriveJobId(charge) : readJobIdFromMark(entry);
      if (id === undefined) return;
      const job = await jobs.get(id);
      if (!job) report(entry.wallet, `call ${charge.id}: it paid for the job ${id}, but there is none`);
      else if (job.charge !== charge.id) report(entry.wallet, `call ${charge.id}: its job ${id} is of ${job.charge}`);
    }),
  );
}

/** Entries of earlier versions do not name the job: its id is derived from the id of the request. */
function deriveJobId({ id, kind }: Charge): string | undefined {
  return kind === 'video' && id.startsWith('req_') ? id.replace('req_', 'vid_') : undefined;
}

async function findJobProblem({ jobs, ledger }: Pick<Store, 'jobs' | 'ledger'>, job: Job): Promise<string | undefined> {
  const problem = compareJob(job, await ledger.charge(job.charge));
  if (problem === undefined) return undefined;
  // A running gateway may have changed both between the reads, so they are compared again.
  const again = await jobs.get(job.id);
  return again && compareJob(again, await ledger.charge(again.charge));
}

function compareJob(job: Job, charge: Charge | undefined): string | undefined {
  if (!charge) return `there is no charge ${job.charge}`;
  if (charge.wallet !== job.wallet) return `its charge ${charge.id} is of ${charge.wallet}`;
  if (charge.model !== job.model) return `its model is ${job.model}, and its charge ${charge.id} is of ${charge.model}`;
  const hasFailed = job.phase === 'failed';
  if (hasFailed === (charge.state === 'refunded')) return undefined;
  return `it is ${job.phase}, and its charge ${charge.id} is ${charge.state}`;
}
