// The queue of large answers for the memory that they share with request bodies. What has been asked of an upstream is
// paid for, so an answer waits for room when a request would long be refused.
import { fault } from '../base/faults.ts';
import type { AnswerShare, AnswerSizes } from '../stream/answer-memory.ts';

/** The memory that bodies and answers are taken from. */
interface AnswerPool {
  readonly bytesMax: number;
  readonly ownerBytesMax: number;
  /** Bytes held by all, bodies included. */
  used(): number;
  usedBy(owner: string): number;
  /** Negative to release. */
  move(owner: string, bytes: number): void;
}

/** An event with an image of 20 MiB in base64. */
const EVENT_BYTES_MAX = 28 * 1024 * 1024;

/**
 * The answer whose event began first may take all the room that there is; the others leave it enough for that event. So
 * one of them always goes on, however many events are open at once.
 */
export class AnswerQueue {
  readonly pool: AnswerPool;
  /** In the order in which their open events began. */
  readonly #answers = new Set<LargeAnswer>();

  constructor(pool: AnswerPool) {
    this.pool = pool;
  }

  reserve(owner: string): AnswerShare {
    return new LargeAnswer(owner, this);
  }

  join(answer: LargeAnswer): void {
    this.#answers.delete(answer);
    this.#answers.add(answer);
  }

  leave(answer: LargeAnswer): void {
    this.#answers.delete(answer);
  }

  /** Memory has become free. Of those who can go on, one of the owner who has least is next. */
  admit(): void {
    if (!this.#isAwaited()) return;
    for (let next = this.#findNext(); next; next = this.#findNext()) next.proceed();
    this.breakDeadlocks();
  }

  #isAwaited(): boolean {
    for (const { isWaiting } of this.#answers) if (isWaiting) return true;
    return false;
  }

  #findNext(): LargeAnswer | undefined {
    const firsts = this.#findFirsts();
    let next: LargeAnswer | undefined;
    for (const answer of this.#answers) {
      if (!answer.isWaiting || !this.hasRoom(answer, firsts)) continue;
      if (!next || this.pool.usedBy(answer.owner) < this.pool.usedBy(next.owner)) next = answer;
    }
    return next;
  }

  hasRoom(answer: LargeAnswer, { first, ofOwners } = this.#findFirsts()): boolean {
    const { pool } = this;
    const { owner, missing } = answer;
    const keep = (one: LargeAnswer | undefined) => (!one || one === answer ? 0 : this.#findKept(one));
    return (
      pool.usedBy(owner) + missing + keep(ofOwners.get(owner)) <= pool.ownerBytesMax &&
      pool.used() + missing + keep(first) <= pool.bytesMax
    );
  }

  /** In one pass: hundreds of keys may wait, and every release asks. */
  #findFirsts(): { readonly first?: LargeAnswer | undefined; readonly ofOwners: ReadonlyMap<string, LargeAnswer> } {
    const ofOwners = new Map<string, LargeAnswer>();
    for (const answer of this.#answers) {
      if (answer.isQueued && !ofOwners.has(answer.owner)) ofOwners.set(answer.owner, answer);
    }
    const [first] = ofOwners.values();
    return { first, ofOwners };
  }

  /** What the others leave to the first. */
  #findKept({ kept, held }: LargeAnswer): number {
    return Math.max(0, Math.min(kept + EVENT_BYTES_MAX, this.pool.ownerBytesMax) - held);
  }

  /** Answers that all wait for another image, and hold those before it, would wait for each other: the last gives way. */
  breakDeadlocks(): void {
    const { bytesMax, ownerBytesMax } = this.pool;
    const all = [...this.#answers];
    for (const answers of Map.groupBy(all, ({ owner }) => owner).values()) breakDeadlock(answers, ownerBytesMax);
    breakDeadlock(all, bytesMax);
  }
}

/** Bodies do not count: they are released by calls that do not wait. */
function breakDeadlock(answers: readonly LargeAnswer[], bytesMax: number): void {
  const first = answers.find(({ isWaiting }) => isWaiting);
  const holders = answers.filter(({ held }) => held > 0);
  if (!first || holders.some(({ isWaiting }) => !isWaiting)) return;
  const held = holders.reduce((sum, each) => sum + each.held, 0);
  if (held + first.missing > bytesMax) holders.findLast((each) => each !== first)?.giveWay();
}

class LargeAnswer implements AnswerShare {
  readonly owner: string;
  held = 0;
  /** What it keeps when its open event has ended. */
  kept = 0;
  #wanted = 0;
  /** Part of an event has arrived. */
  #isReading = false;
  /** Resolves when there is room for what it wants. */
  #turn: PromiseWithResolvers<void> | undefined;
  readonly #queue: AnswerQueue;

  constructor(owner: string, queue: AnswerQueue) {
    this.owner = owner;
    this.#queue = queue;
  }

  get missing(): number {
    return this.#wanted - this.held;
  }

  get isWaiting(): boolean {
    return this.#turn !== undefined;
  }

  get isQueued(): boolean {
    return this.#isReading || this.isWaiting;
  }

  hold({ kept, open }: AnswerSizes): Promise<void> | undefined {
    const { bytesMax, ownerBytesMax } = this.#queue.pool;
    if (kept + open > Math.min(bytesMax, ownerBytesMax)) throw fault('no_room_for_answer');
    this.kept = kept;
    this.#wanted = kept + open;
    const isFirstOfEvent = !this.isQueued;
    this.#isReading = open > 0;
    if (isFirstOfEvent) this.#queue.join(this);
    if (this.missing <= 0 || this.#queue.hasRoom(this)) {
      this.proceed();
      // The others need leave it nothing any more.
      if (!this.#isReading) this.#queue.admit();
      return undefined;
    }
    this.#turn ??= Promise.withResolvers();
    const { promise } = this.#turn;
    this.#queue.breakDeadlocks();
    return promise;
  }

  proceed(): void {
    const more = this.missing;
    this.held = this.#wanted;
    this.#turn?.resolve();
    this.#turn = undefined;
    this.#queue.pool.move(this.owner, more);
  }

  giveWay(): void {
    this.#turn?.reject(fault('no_room_for_answer'));
    this.#turn = undefined;
    this.#isReading = false;
  }

  releaseAll(): void {
    const bytes = this.held;
    this.held = this.kept = this.#wanted = 0;
    this.#turn = undefined;
    this.#isReading = false;
    this.#queue.leave(this);
    this.#queue.pool.move(this.owner, -bytes);
    this.#queue.admit();
  }
}
