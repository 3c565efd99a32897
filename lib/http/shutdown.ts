// A shutdown that proxies are told of before the service stops listening: health checks fail meanwhile.
import { setTimeout } from 'node:timers/promises';

export interface Shutdown {
  /** From now on health checks fail. Resolves after the delay, during which calls are still accepted. */
  begin(): Promise<void>;
  isUnderWay(): boolean;
}

export function createShutdown(delayMs: number): Shutdown {
  let isUnderWay = false;
  return {
    async begin() {
      isUnderWay = true;
      if (delayMs > 0) await setTimeout(delayMs);
    },
    isUnderWay: () => isUnderWay,
  };
}
