// How long ticks of the event loop take, in CPU time of the thread: other processes on the machine do not count.

interface TickWatch {
  /** CPU time of the longest tick, in ms. */
  worstMs(): number;
  stop(): void;
}

export function watchTicks(): TickWatch {
  let worst = 0;
  let before = cpuMs();
  let stopped = false;
  const tick = () => {
    const now = cpuMs();
    worst = Math.max(worst, now - before);
    before = now;
    if (!stopped) setImmediate(tick);
  };
  setImmediate(tick);
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
