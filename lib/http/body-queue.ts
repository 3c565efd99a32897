// The queue of request bodies for the memory that they announce: nothing of them has been read yet.
import { fault } from '../base/faults.ts';

/** Each is an open connection, whose client may have sent as much as its system buffers. */
const WAITING_MAX = 100;
/** Of one owner, who may send more than its memory takes. */
const OWNER_WAITING_MAX = 50;

interface Waiter {
  readonly owner: string;
  /** Takes the memory; false if there is no room. */
  hold(): boolean;
}

export interface BodyWait {
  readonly signal: AbortSignal;
  readonly waitMsMax: number;
}

export class BodyQueue {
  /** In the order in which they came. */
  readonly #waiting = new Map<() => void, string>();
  #isDue = false;

  isFull(owner: string): boolean {
    const own = [...this.#waiting.values()].filter((each) => each === owner);
    return this.#waiting.size >= WAITING_MAX || own.length >= OWNER_WAITING_MAX;
  }

  /** Memory has become free. Whoever has read a body takes what was parsed from it in the same turn, and comes first. */
  admit(): void {
    if (this.#isDue || this.#waiting.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const proceed of this.#waiting.keys()) proceed();
    });
  }

  /** Resolves once `hold` returns true. Rejects with a 503 fault, or with the signal's reason. */
  wait({ owner, hold }: Waiter, { signal, waitMsMax }: BodyWait): Promise<void> {
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
      }, waitMsMax).unref();
      this.#waiting.set(proceed, owner);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }
}
