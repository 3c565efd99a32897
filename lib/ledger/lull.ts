// Waits for a quiet moment of the event loop: while other work runs, more arrives that can join the batch.
import { performance } from 'node:perf_hooks';

/** Resolves after the first turn of the loop in which nothing happened, or after `withinMs`. */
export function lull(withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const until = performance.now() + withinMs;
    let events = eventsSoFar();
    const turn = () => {
      const now = eventsSoFar();
      if (now === events || performance.now() >= until) resolve();
      else {
        events = now;
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
