// The audit of jobs: each has its charge and has failed exactly if that charge was refunded, ends by its deadline, and is
// there if a charge paid for it.

import type { Charge } from '../money/decide.ts';
import type { Job } from '../money/job-rules.ts';
import { readJobIdFromMark } from '../money/mark.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import type { Store } from '../store/store.ts';
import type { Found } from './audit-rules.ts';

/** Jobs per read; their charges are read together. */
const PAGE = 50;
/** A gateway ends a job at its deadline; one that starts again after a pause has this long. */
const LATE_MS = 3_600_000;

/** `lastAt`: when the newest entry of the store was made. Nothing ends in a store that stands still, as in a backup. */
export async function checkJobs(
  store: Pick<Store, 'jobs' | 'ledger'>,
  found: Found,
  lastAt = Number.NEGATIVE_INFINITY,
): Promise<void> {
  let after = '';
  while (true) {
    const page = await store.jobs.page({ after, limit: PAGE });
    const problems = await Promise.all(page.map((job) => problemOf(store, job)));
    for (const [index, { id, wallet, deadline, endedAt }] of page.entries()) {
      if (problems[index] !== undefined) found(wallet, `job ${id}: ${problems[index]}`);
      if (endedAt === null && deadline + LATE_MS < lastAt && (await isOpen(store, id))) {
        found(wallet, `job ${id}: it has not ended, and its deadline was ${new Date(deadline).toISOString()}`);
      }
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
  }
}

async function isOpen({ jobs }: Pick<Store, 'jobs'>, id: string): Promise<boolean> {
  return (await jobs.get(id))?.endedAt === null;
}

/** From the journal's side: what was paid for is there. */
export async function checkPaidJobs({ jobs }: Pick<Store, 'jobs'>, page: JournalPage, found: Found): Promise<void> {
  const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
  await Promise.all(
    page.entries.map(async (entry) => {
      const charge = charges.get(entry.charge ?? '');
      if (entry.kind !== 'charge' || !charge) return;
      const id = entry.mark === null ? jobWithoutMark(charge) : readJobIdFromMark(entry);
      if (id === undefined) return;
      const job = await jobs.get(id);
      if (!job) found(entry.wallet, `call ${charge.id}: it paid for the job ${id}, but there is none`);
      else if (job.charge !== charge.id) found(entry.wallet, `call ${charge.id}: its job ${id} is of ${job.charge}`);
    }),
  );
}

/** Entries of earlier versions do not name it: it has the id of the request. */
function jobWithoutMark({ id, kind }: Charge): string | undefined {
  return kind === 'video' && id.startsWith('req_') ? id.replace('req_', 'vid_') : undefined;
}

async function problemOf({ jobs, ledger }: Pick<Store, 'jobs' | 'ledger'>, job: Job): Promise<string | undefined> {
  const problem = disagreement(job, await ledger.charge(job.charge));
  if (problem === undefined) return undefined;
  // Read one after the other beside a running gateway: both may have changed in between.
  const again = await jobs.get(job.id);
  return again && disagreement(again, await ledger.charge(again.charge));
}

function disagreement(job: Job, charge: Charge | undefined): string | undefined {
  if (!charge) return `there is no charge ${job.charge}`;
  if (charge.wallet !== job.wallet) return `its charge ${charge.id} is of ${charge.wallet}`;
  if (charge.model !== job.model) return `its model is ${job.model}, and its charge ${charge.id} is of ${charge.model}`;
  const hasFailed = job.phase === 'failed';
  if (hasFailed === (charge.state === 'refunded')) return undefined;
  return `it is ${job.phase}, and its charge ${charge.id} is ${charge.state}`;
}
