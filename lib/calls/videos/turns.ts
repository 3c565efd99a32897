// Turns at each upstream: only so many jobs use one at once, and no job waits for long, so that an upstream that hangs
// holds up neither the jobs of others nor the deadlines of its own.
import { limitConcurrency } from '../../base/limit-concurrency.ts';

interface TurnLimits {
  /** Of each upstream. */
  readonly atOnce: number;
  /** How long one waits for its turn. */
  readonly waitMsMax: number;
}

/** Resolves to undefined if its turn did not come in time; then nothing was run. */
type TakeTurn = <T>(upstream: string, run: () => Promise<T>) => Promise<T | undefined>;

export function createTurns({ atOnce, waitMsMax }: TurnLimits): TakeTurn {
  const limits = new Map<string, ReturnType<typeof limitConcurrency>>();
  return (upstream, run) => {
    const limit = limits.get(upstream) ?? limitConcurrency(atOnce);
    limits.set(upstream, limit);
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        resolve(undefined);
      }, waitMsMax).unref();
      void limit(async () => {
        if (isLate) return;
        clearTimeout(timer);
        await run().then(resolve, reject);
      });
    });
  };
}
