// The memory for long replies with images, which have to be read as a whole: what has been asked is paid for, so a reply
// waits for room instead of failing. The oldest always goes on.
import type { AnswerQuota, AnswerShare, AnswerSizes } from '../../stream/answer-memory.ts';

/** Of all replies but the oldest. Parsing one takes a few times as much. */
const BYTES_MAX = 64 * 1024 * 1024;

export class ReplyQueue implements AnswerQuota {
  /** In the order in which they became long. */
  readonly #shares = new Set<ReplyShare>();
  readonly #bytesMax: number;
  #used = 0;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  reserveAnswer(): AnswerShare {
    return new ReplyShare(this);
  }

  join(share: ReplyShare): void {
    this.#shares.add(share);
  }

  leave(share: ReplyShare, bytes: number): void {
    this.#shares.delete(share);
    this.#used -= bytes;
    for (const waiting of this.#shares) waiting.tryAgain();
  }

  hasRoom(share: ReplyShare, bytes: number): boolean {
    const [oldest] = this.#shares;
    return share === oldest || this.#used + bytes <= this.#bytesMax;
  }

  take(bytes: number): void {
    this.#used += bytes;
  }
}

class ReplyShare implements AnswerShare {
  readonly #queue: ReplyQueue;
  #held = 0;
  #wanted = 0;
  #turn: PromiseWithResolvers<void> | undefined;

  constructor(queue: ReplyQueue) {
    this.#queue = queue;
  }

  hold({ kept, open }: AnswerSizes): Promise<void> | undefined {
    this.#wanted = kept + open;
    if (this.#wanted === 0) {
      this.releaseAll();
      return undefined;
    }
    this.#queue.join(this);
    if (this.#proceed()) return undefined;
    this.#turn ??= Promise.withResolvers();
    return this.#turn.promise;
  }

  tryAgain(): void {
    if (!this.#turn || !this.#proceed()) return;
    this.#turn.resolve();
    this.#turn = undefined;
  }

  #proceed(): boolean {
    const more = Math.max(this.#wanted - this.#held, 0);
    if (more > 0 && !this.#queue.hasRoom(this, more)) return false;
    this.#held += more;
    this.#queue.take(more);
    return true;
  }

  releaseAll(): void {
    const bytes = this.#held;
    this.#held = this.#wanted = 0;
    this.#turn = undefined;
    this.#queue.leave(this, bytes);
  }
}
