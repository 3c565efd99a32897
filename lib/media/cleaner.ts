// Removes expired media from time to time: every process does, and each file is removed once.
import type { MediaStore } from '../store/ports/media.ts';

export interface MediaCleanerOptions {
  readonly media: Pick<MediaStore, 'clean'>;
  /** Called for the first failure in a row. */
  readonly onError: (error: unknown) => void;
  readonly onRemoved?: ((count: number) => void) | undefined;
  /** Between two cleanings, more or less. */
  readonly everyMs?: number;
}

export interface MediaCleaner {
  start(): void;
  /** Work under way ends with the store. */
  stop(): void;
}

const EVERY_MS = 300_000;
/** Files per step: the store has other work to do. */
const FILES_MAX = 100;

export function createMediaCleaner(options: MediaCleanerOptions): MediaCleaner {
  const { media, onError, onRemoved, everyMs = EVERY_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let failing = false;

  async function clean(): Promise<void> {
    try {
      let removed: number;
      do {
        removed = await media.clean(Date.now(), FILES_MAX);
        onRemoved?.(removed);
      } while (removed >= FILES_MAX && !stopped);
      failing = false;
    } catch (error) {
      if (!failing && !stopped) onError(error);
      failing = true;
    }
    if (!stopped) wait();
  }

  /** Spreads the processes out. */
  function wait(): void {
    timer = setTimeout(clean, everyMs * (0.5 + Math.random())).unref();
  }

  return {
    start: wait,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
