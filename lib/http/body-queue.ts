// The queue of request bodies for the memory that they announce: nothing of them has been read yet.
import { fault } from '../base/faults.ts';

/** Each is an open connection, whose client may have sent as much as its system buffers. */
const WAITING_MAX = 100;

export class BodyQueue {
  readonly #waitMsMax: number;
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>();
  #isDue = false;

  constructor(waitMsMax: number) {
    this.#waitMsMax = waitMsMax;
  }

  get isFull(): boolean {
    return this.#waiting.size >= WAITING_MAX;
  }

  /** Memory has become free. Whoever has read a body takes what was parsed from it in the same turn, and comes first. */
  admit(): void {
    if (this.#isDue || this.#waiting.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const proceed of this.#waiting) proceed();
    });
  }

  /** Resolves once `hold` returns true. Rejects with a 503 fault, or with the signal's reason. */
  wait(hold: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(proceed);
      };
      const proceed = () => {
        if (!hold()) return;
        end();
        resolve();
      };
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        end();
        reject(fault('no_room'));
      }, this.#waitMsMax).unref();
      this.#waiting.add(proceed);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }
}
