// How long ticks of the event loop take, in CPU time of the thread: other processes on the machine do not count.

export interface Turns {
  /** CPU time of the longest turn, in ms. */
  worstMs(): number;
  stop(): void;
}

export function watchTurns(): Turns {
  let worst = 0;
  let before = cpuMs();
  let stopped = false;
  const turn = () => {
    const now = cpuMs();
    worst = Math.max(worst, now - before);
    before = now;
    if (!stopped) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    worstMs: () => worst,
    stop: () => {
      stopped = true;
    },
  };
}

/** For this thread. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
