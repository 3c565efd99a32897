// The clock of this process, as a test sets it: every part of the process sees it jump, the monotonic clock goes on.
export interface TestClock {
  /** Sets the clock so far ahead of the machine's; negative: behind. */
  set(aheadMs: number): void;
  restore(): void;
}

/** Before the parts that are to see it are made: they may keep the function. */
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
