// Waits for a quiet moment of the event loop: while other work runs, more arrives that can join the batch.
import { performance } from 'node:perf_hooks';

export interface LullLimits {
  /** At the longest. */
  readonly withinMs: number;
  /** At the longest after the last arrival: what else keeps the loop busy brings nothing for the batch. */
  readonly aloneMs: number;
}

/** Resolves after the first turn of the loop in which nothing happened, or at a limit; `arrived` counts arrivals. */
export function waitForIdleTick({ withinMs, aloneMs }: LullLimits, arrived: () => number): Promise<void> {
  return new Promise((resolve) => {
    const from = performance.now();
    let [events, count, arrivedAt] = [eventsSoFar(), arrived(), from];
    const turn = () => {
      const at = performance.now();
      const eventsNow = eventsSoFar();
      const countNow = arrived();
      if (countNow !== count) arrivedAt = at;
      if (eventsNow === events || at - from >= withinMs || at - arrivedAt >= aloneMs) resolve();
      else {
        events = eventsNow;
        count = countNow;
        setImmediate(turn);
      }
    };
    setImmediate(turn);
  });
}

/** Events of sockets, files and threads handled by this thread; reading it costs a tenth of a microsecond. */
function eventsSoFar(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}
