// The audit of jobs: each has its charge, and has failed exactly if that charge was refunded.

import type { Charge } from '../money/decide.ts';
import type { Job } from '../money/job-rules.ts';
import type { Store } from '../store/store.ts';
import type { Found } from './audit-rules.ts';

/** Jobs per read; their charges are read together. */
const PAGE = 50;

export async function checkJobs(store: Pick<Store, 'jobs' | 'ledger'>, found: Found): Promise<void> {
  let after = '';
  while (true) {
    const page = await store.jobs.page({ after, limit: PAGE });
    const problems = await Promise.all(page.map((job) => problemOf(store, job)));
    for (const [index, { id, wallet }] of page.entries()) {
      if (problems[index] !== undefined) found(wallet, `job ${id}: ${problems[index]}`);
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
  }
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
  const hasFailed = job.phase === 'failed';
  if (hasFailed === (charge.state === 'refunded')) return undefined;
  return `it is ${job.phase}, and its charge ${charge.id} is ${charge.state}`;
}
