// Limits how many tasks run at once; the others wait in order.

type ConcurrencyLimit = <T>(run: () => Promise<T>) => Promise<T>;

export function limitConcurrency(limit: number): ConcurrencyLimit {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (inside >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else inside += 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else inside -= 1;
    }
  };
}
