// What one answer takes of the memory that all clients share: its images, and a long event as long as it is read. Texts
// are bounded by their tokens.

export interface AnswerSizes {
  /** Until the end of the call. */
  readonly kept: number;
  /** Of the event that is being read. */
  readonly open: number;
}

export interface AnswerShare {
  /**
   * Holds this many bytes from now on, in place of those before. Returns a promise if it has to wait for room, which
   * rejects if that would be for ever. Throws if there never is so much room.
   */
  hold(sizes: AnswerSizes): Promise<void> | undefined;
  releaseAll(): void;
}

export interface AnswerQuota {
  reserveAnswer(owner: string): AnswerShare;
}

interface WaitListener {
  onWait(): void;
  onRoom(): void;
}

/** Events up to this length are not counted: any line of an answer may have that much. */
const EVENT_FREE = 1024 * 1024;
const STEP = 1024 * 1024;

export class AnswerMemory {
  /** Told while the answer waits for room. */
  listener: WaitListener | undefined;
  isWaiting = false;
  readonly #quota: AnswerQuota;
  readonly #owner: string;
  /** Most answers need none. */
  #share: AnswerShare | undefined;
  #kept = 0;
  #open = 0;
  /** What was asked for last. */
  #asked = 0;

  constructor(quota: AnswerQuota, owner: string) {
    this.#quota = quota;
    this.#owner = owner;
  }

  /** The open event has become so long, or has ended. */
  noteEvent(chars: number): void {
    this.#open = chars <= EVENT_FREE ? 0 : Math.ceil(chars / STEP) * STEP;
  }

  /** Counts an image until the end of the call, in place of its event. Throws if there never is so much room. */
  holdImage(chars: number): void {
    this.#kept += chars;
    if (this.#kept > this.#asked) this.#hold(this.#kept, 0)?.catch(() => undefined);
  }

  /** Called before more is read: a promise if that has to wait for room. Throws, and it rejects, if there will be none. */
  waitForRoom(): Promise<void> | undefined {
    if (!this.#share && this.#open === 0) return undefined;
    const room = this.#hold(this.#kept, this.#open);
    return room && this.#wait(room);
  }

  #hold(kept: number, open: number): Promise<void> | undefined {
    this.#share ??= this.#quota.reserveAnswer(this.#owner);
    const room = this.#share.hold({ kept, open });
    this.#asked = kept + open;
    return room;
  }

  async #wait(room: Promise<void>): Promise<void> {
    this.isWaiting = true;
    this.listener?.onWait();
    try {
      await room;
    } finally {
      this.isWaiting = false;
      this.listener?.onRoom();
    }
  }

  releaseAll(): void {
    this.#share?.releaseAll();
    this.#kept = this.#open = this.#asked = 0;
    this.isWaiting = false;
  }
}
