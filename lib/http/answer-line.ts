// The line of large answers for the memory that they share with request bodies. What has been asked of an upstream is
// paid for, so an answer waits for room where a request is refused.
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
 * Whose event began first may take all the room that there is; the others leave it enough for the event. So somebody
 * always goes on, however many events are open at once.
 */
export class AnswerLine {
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
    for (let next = this.#findNext(); next; next = this.#findNext()) next.goOn();
    this.endCircles();
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
      if (answer.isInLine && !ofOwners.has(answer.owner)) ofOwners.set(answer.owner, answer);
    }
    const [first] = ofOwners.values();
    return { first, ofOwners };
  }

  /** What the others leave to the first. */
  #findKept({ kept, held }: LargeAnswer): number {
    return Math.max(0, Math.min(kept + EVENT_BYTES_MAX, this.pool.ownerBytesMax) - held);
  }

  /** Answers that all wait for another image, and hold those before it, would wait for each other: the last gives way. */
  endCircles(): void {
    const { bytesMax, ownerBytesMax } = this.pool;
    const all = [...this.#answers];
    for (const answers of Map.groupBy(all, ({ owner }) => owner).values()) endCircle(answers, ownerBytesMax);
    endCircle(all, bytesMax);
  }
}

/** Bodies do not count: they are released by calls that do not wait. */
function endCircle(answers: readonly LargeAnswer[], bytesMax: number): void {
  const first = answers.find(({ isWaiting }) => isWaiting);
  const holders = answers.filter(({ held }) => held > 0);
  if (!first || holders.some(({ isWaiting }) => !isWaiting)) return;
  const held = holders.reduce((sum, each) => sum + each.held, 0);
  if (held + first.missing > bytesMax) holders.findLast((each) => each !== first)?.giveWay();
}

class LargeAnswer implements AnswerShare {
  readonly owner: string;
  held = 0;
  kept = 0;
  #wanted = 0;
  #isReading = false;
  #turn: PromiseWithResolvers<void> | undefined;
  readonly #line: AnswerLine;

  constructor(owner: string, line: AnswerLine) {
    this.owner = owner;
    this.#line = line;
  }

  get missing(): number {
    return this.#wanted - this.held;
  }

  get isWaiting(): boolean {
    return this.#turn !== undefined;
  }

  get isInLine(): boolean {
    return this.#isReading || this.isWaiting;
  }

  hold({ kept, open }: AnswerSizes): Promise<void> | undefined {
    const { bytesMax, ownerBytesMax } = this.#line.pool;
    if (kept + open > Math.min(bytesMax, ownerBytesMax)) throw fault('no_room_for_answer');
    this.kept = kept;
    this.#wanted = kept + open;
    const isNext = !this.isInLine;
    this.#isReading = open > 0;
    if (isNext) this.#line.join(this);
    if (this.missing <= 0 || this.#line.hasRoom(this)) {
      this.goOn();
      // The others need leave it nothing any more.
      if (!this.#isReading) this.#line.admit();
      return undefined;
    }
    this.#turn ??= Promise.withResolvers();
    const { promise } = this.#turn;
    this.#line.endCircles();
    return promise;
  }

  goOn(): void {
    const more = this.missing;
    this.held = this.#wanted;
    this.#turn?.resolve();
    this.#turn = undefined;
    this.#line.pool.move(this.owner, more);
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
    this.#line.leave(this);
    this.#line.pool.move(this.owner, -bytes);
    this.#line.admit();
  }
}
