// What an account sees of its video jobs.
import { orUnavailable } from '../../accounts/read-wallet.ts';
import { fault } from '../../base/faults.ts';
import type { Results } from '../../media/results.ts';
import type { Job } from '../../money/job-rules.ts';
import type { Store } from '../../store/store.ts';
import { VIDEO_ID } from './job-id.ts';

/** Throws 404 for another account's video as for an unknown one. */
export async function findVideo(
  store: Pick<Store, 'jobs'>,
  { id, account }: { id: string; account: string },
): Promise<Job> {
  const job = VIDEO_ID.test(id) ? await orUnavailable(store.jobs.get(id)) : undefined;
  if (!job || job.wallet !== account) throw fault('unknown_video', { everyDialect: true });
  return job;
}

export interface VideoView {
  readonly id: string;
  readonly status: string;
  /** 0 to 100. */
  readonly progress: number;
  /** Null until completed. */
  readonly url: string | null;
  /** If it failed. */
  readonly error?: string | null;
  readonly refunded?: true;
}

export function describeVideo(job: Job, results: Pick<Results, 'buildLink'>): VideoView {
  const { id, progress, phase, error } = job;
  const failure = phase === 'failed' ? ({ error, refunded: true } as const) : {};
  return { id, status: publicStatus(job), progress, url: linkToResult(job, results), ...failure };
}

function publicStatus({ phase, shown }: Job): string {
  return phase === 'completed' || phase === 'failed' ? phase : shown;
}

/** Even if the file has expired: the link then says so itself. */
function linkToResult({ phase, result }: Job, results: Pick<Results, 'buildLink'>): string | null {
  return phase === 'completed' && result !== null ? results.buildLink(JSON.parse(result)) : null;
}
