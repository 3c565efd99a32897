// This process's clock, as set by a test: the whole process sees it jump, while the monotonic clock continues.
import { HOUR_MS, MINUTE_MS } from '../lib/base/durations.ts';

export interface TestClock {
  /** Sets the clock this far ahead of the machine's; negative: behind. */
  set(aheadMs: number): void;
  restore(): void;
}

/** To be called before the parts that should see it are created: they may keep the function. */
export function takeClock(): TestClock {
  const { now } = Date;
  let offsetMs = 0;
  Date.now = () => now() + offsetMs;
  return {
    set(aheadMs) {
      offsetMs = aheadMs;
    },
    restore() {
      Date.now = now;
    },
  };
}

/** In the last minute of an hour, waits for the next: what a test does in the minute after this is of one hour. */
export async function avoidEndOfHour(): Promise<void> {
  const leftMs = HOUR_MS - (Date.now() % HOUR_MS);
  if (leftMs < MINUTE_MS) await new Promise((resolve) => setTimeout(resolve, leftMs));
}
