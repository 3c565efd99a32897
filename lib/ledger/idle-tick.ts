// Waits for an idle tick of the event loop: while other work runs, more operations arrive that can join the batch.
import { performance } from 'node:perf_hooks';

interface IdleTickLimits {
  /** The longest wait in total. */
  readonly maxMs: number;
  /** The longest wait after the last arrival: other work that keeps the loop busy adds nothing to the batch. */
  readonly idleMs: number;
}

/** Resolves after the first event-loop tick without events, or at a limit; `arrived` counts arrivals. */
export function waitForIdleTick({ maxMs, idleMs }: IdleTickLimits, arrived: () => number): Promise<void> {
  return new Promise((resolve) => {
    const from = performance.now();
    let events = eventsSoFar();
    let count = arrived();
    let arrivedAt = from;
    const tick = () => {
      const at = performance.now();
      const eventsNow = eventsSoFar();
      const countNow = arrived();
      if (countNow !== count) arrivedAt = at;
      if (eventsNow === events || at - from >= maxMs || at - arrivedAt >= idleMs) resolve();
      else {
        events = eventsNow;
        count = countNow;
        setImmediate(tick);
      }
    };
    setImmediate(tick);
  });
}

/** Events of sockets, files and threads handled by this thread; reading the counter takes 0.1 µs. */
function eventsSoFar(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}
