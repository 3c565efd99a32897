// What one answer takes of the memory that all clients share: its images, and a long event as long as it is read. Texts
// are bounded by their tokens.
import { fault } from '../base/faults.ts';

export interface MemoryShare {
  /** Returns what gives the bytes back; undefined if there is no room. */
  takePart(bytes: number): (() => void) | undefined;
  releaseAll(): void;
}

/** What an event may have uncounted: as much as any line of an answer. */
const EVENT_FREE = 1024 * 1024;
const STEP = 1024 * 1024;

export class AnswerMemory {
  readonly #share: MemoryShare;
  /** Of the open event, a step each. */
  #event: (() => void)[] = [];

  constructor(share: MemoryShare) {
    this.#share = share;
  }

  /** The open event has become so long, or has ended. Throws if there is no room. */
  holdEvent(chars: number): void {
    if (chars <= EVENT_FREE) {
      if (this.#event.length > 0) this.#releaseEvent();
      return;
    }
    while (this.#event.length * STEP < chars) this.#event.push(this.#hold(STEP));
  }

  /** For the rest of the call. Throws if there is no room. */
  holdImage(chars: number): void {
    this.#hold(chars);
  }

  #hold(bytes: number): () => void {
    const release = this.#share.takePart(bytes);
    if (!release) throw fault('no_room_for_answer');
    return release;
  }

  #releaseEvent(): void {
    for (const release of this.#event) release();
    this.#event = [];
  }
}
