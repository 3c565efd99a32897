// One attempt at one route whose reply comes whole, within the deadline and the signal of its call.

import { rejectOnAbort } from '../base/abort.ts';
import { fault } from '../base/faults.ts';
import { toClientFault } from '../upstream/host/client-fault.ts';
import { type Ending, toAbortEnding } from './ending.ts';

interface AttemptLimits {
  /** Of the call. */
  readonly signal: AbortSignal;
  /** By `performance.now()`. */
  readonly deadline: number;
}

/** Never rejects. */
export async function attemptUntilDeadline<Result>(
  { signal, deadline }: AttemptLimits,
  request: (signal: AbortSignal) => Promise<Result>,
): Promise<Ending<Result>> {
  const upstream = new AbortController();
  const onAbort = () => upstream.abort(signal.reason);
  let timer: NodeJS.Timeout | undefined;
  // Timers may fire a few milliseconds early: another route would be tried in the remaining time.
  const watch = () => {
    const leftMs = deadline - performance.now();
    if (leftMs > 0) timer = setTimeout(watch, Math.ceil(leftMs));
    else upstream.abort(fault('upstream_timeout'));
  };
  watch();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    // A plugin or store that ignores the signal must not delay the call.
    return { type: 'finish', result: await rejectOnAbort(request(upstream.signal), upstream.signal) };
  } catch (error) {
    return signal.aborted ? toAbortEnding(signal) : { type: 'error', fault: toClientFault(error) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
