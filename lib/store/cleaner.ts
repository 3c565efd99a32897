// Periodically removes expired rows of a port, in every process; each row is removed once.

/** A port with rows that expire. */
interface Expiring {
  /** Removes up to `limit` rows that have expired by `now`; resolves to how many. */
  clean(now: number, limit: number): Promise<number>;
}

export interface CleanerOptions {
  readonly expiring: Expiring;
  /** Called with the first of consecutive failures. */
  readonly onError: (error: unknown) => void;
  readonly onRemoved?: ((count: number) => void) | undefined;
  /** Average pause between two rounds. */
  readonly everyMs?: number;
}

interface Cleaner {
  start(): void;
  /** A step in progress ends when the store is closed. */
  stop(): void;
}

const EVERY_MS = 300_000;
/** Rows per step: small steps let the store do other work in between. */
const STEP_MAX = 100;

export function createCleaner(options: CleanerOptions): Cleaner {
  const { expiring, onError, onRemoved, everyMs = EVERY_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let failing = false;

  async function clean(): Promise<void> {
    try {
      let removed: number;
      do {
        removed = await expiring.clean(Date.now(), STEP_MAX);
        onRemoved?.(removed);
      } while (removed >= STEP_MAX && !stopped);
      failing = false;
    } catch (error) {
      if (!failing && !stopped) onError(error);
      failing = true;
    }
    if (!stopped) scheduleNext();
  }

  /** A random wait, so that the processes do not clean at the same time. */
  function scheduleNext(): void {
    timer = setTimeout(clean, everyMs * (0.5 + Math.random())).unref();
  }

  return {
    start: scheduleNext,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
