// Tells an upstream that a job was given up, so that it need not finish a video that nobody waits for. The job has ended by
// then: whatever comes of it changes nothing.

import { rejectOnAbort } from '../../base/abort.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Job } from '../../money/job-rules.ts';
import type { VideoRef } from '../../upstream/contract/provider.ts';
import { callPlugin, nameUpstream } from '../../upstream/host/plugin-run.ts';
import type { CallLog } from '../context.ts';

interface CancelOptions {
  /** The current catalog. */
  readonly catalog: () => Catalog;
  readonly log: Pick<CallLog, 'debug'>;
}

/** Never rejects. */
export type CancelJob = (job: Job, signal: AbortSignal) => Promise<void>;

const CANCEL_MS_MAX = 10_000;

export function createCancelJob({ catalog, log }: CancelOptions): CancelJob {
  return async (job, signal) => {
    const { id, upstream, ref: stored } = job;
    const video = catalog().upstreams.get(upstream)?.provider.video;
    if (!video?.cancel || stored === null) return;
    const ending = AbortSignal.any([signal, AbortSignal.timeout(CANCEL_MS_MAX)]);
    try {
      const ref: VideoRef = JSON.parse(stored);
      const cancelling = callPlugin(nameUpstream(upstream), ending, async (inner) => video.cancel?.(ref, inner));
      await rejectOnAbort(cancelling, ending);
    } catch (err) {
      log.debug({ job: id, upstream, err }, 'could not cancel a video');
    }
  };
}
