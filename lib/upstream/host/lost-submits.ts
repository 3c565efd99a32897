// Keeps a plugin from paying twice: in one call, a POST that may have arrived is not followed by another to the same
// address.
import { classifyStatus, isUpstreamFault, upstreamFault } from './fault.ts';
import { isPolling, isUpstream, type PluginRun, readPluginRun } from './plugin-run.ts';
import type { Upstream } from './upstream.ts';

/** The first fault is thrown again; `onRepeat` is told that somebody has to mend the plugin. */
export function refuseLostSubmits(request: Upstream['request'], onRepeat: () => void): Upstream['request'] {
  return async (url, init, key, reuse) => {
    const run = init.method === 'POST' ? readPluginRun() : undefined;
    // Only upstreams: payment providers take an idempotency key.
    if (!run || !isUpstream(run)) return request(url, init, key, reuse);
    const lost = run.lostSubmits?.get(url);
    if (lost) {
      onRepeat();
      throw lost;
    }
    try {
      const response = await request(url, init, key, reuse);
      const { status } = response;
      if (status >= 500) noteLost(run, url, upstreamFault(classifyStatus(status), '', { status }));
      else response.body.watch((error) => noteLost(run, url, error));
      return response;
    } catch (error) {
      noteLost(run, url, error);
      throw error;
    }
  };
}

/** A poll may be repeated, and so may what was never sent. */
function noteLost(run: PluginRun, url: string, error: unknown): void {
  if (isPolling(run) || !isUpstreamFault(error) || error.unsent) return;
  run.lostSubmits ??= new Map();
  run.lostSubmits.set(url, error);
}
