// The queue of request bodies for the memory that they announce: nothing of them has been read yet.
import { fault } from '../base/faults.ts';
import { waitForTurn } from '../base/wait-for-turn.ts';

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

  /** Memory has become free. Whoever has read a body takes what was parsed from it in the same tick, and comes first. */
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
    return waitForTurn({
      signal,
      waitMsMax,
      makeLateError: () => fault('no_room'),
      join: (onTurn) => {
        const proceed = () => {
          if (hold()) onTurn();
        };
        this.#waiting.set(proceed, owner);
        return () => this.#waiting.delete(proceed);
      },
    });
  }
}
