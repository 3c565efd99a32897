// Limits the bytes of client data held in memory at once, in total and per key, so that no upload can exhaust the process:
// what does not fit is refused; a body that has not been read waits a little, an answer as long as it has to.
import { fault } from '../base/faults.ts';
import type { AnswerQuota } from '../stream/answer-memory.ts';
import { AnswerQueue } from './answer-queue.ts';
import { BodyQueue, type BodyWait } from './body-queue.ts';

interface QuotaLimits {
  /** For the whole process. */
  readonly bytesMax: number;
  /** Per owner, such as a key. */
  readonly ownerBytesMax: number;
}

export interface MemoryQuota extends AnswerQuota {
  /** Makes an empty reservation; the caller must release it. */
  reserve(owner: string): MemoryReservation;
  /** Bytes held by all reservations. */
  used(): number;
}

/** The memory held for one request. */
export interface MemoryReservation {
  /** Grows the reservation by this many bytes. Throws a 503 fault if there is no room, leaving the reservation unchanged. */
  take(bytes: number): void;
  /**
   * Like `take`, for a body of which nothing has been read. Returns a promise if it has to wait for room, which rejects
   * with a 503 fault if there is none in time, or with the signal's reason.
   */
  takeInTurn(bytes: number, wait: BodyWait): Promise<void> | undefined;
  /** Throws the fault that `takeInTurn` would throw at once; takes nothing. */
  check(bytes: number): void;
  /** Like `take`, for bytes that can be released separately; undefined if there is no room. */
  takePart(bytes: number): (() => void) | undefined;
  /** Releases all bytes; the reservation can be used again. */
  releaseAll(): void;
}

/** Reservations up to this size are never refused because of larger ones. */
export const SMALL_BYTES = 64 * 1024;
/** This fraction of the memory is kept for small reservations. */
const SMALL_FRACTION = 1 / 8;

export function createMemoryQuota({ bytesMax, ownerBytesMax }: QuotaLimits): MemoryQuota {
  const bodies = new BodyQueue();
  const owners = new Map<string, number>();
  const largeMax = bytesMax * (1 - SMALL_FRACTION);
  let used = 0;
  const pool = {
    hasRoom(owner: string, bytes: number, isLarge: boolean) {
      const max = isLarge ? largeMax : bytesMax;
      return used + bytes <= max && (owners.get(owner) ?? 0) + bytes <= ownerBytesMax;
    },
    move(owner: string, bytes: number) {
      used += bytes;
      const left = (owners.get(owner) ?? 0) + bytes;
      if (left === 0) owners.delete(owner);
      else owners.set(owner, left);
      if (bytes >= 0) return;
      queue.admit();
      bodies.admit();
    },
    bodies,
    used: () => used,
    usedBy: (owner: string) => owners.get(owner) ?? 0,
    bytesMax: largeMax,
    ownerBytesMax,
  };
  const queue = new AnswerQueue(pool);
  return {
    reserve: (owner) => new OpenReservation(pool, owner),
    reserveAnswer: (owner) => queue.reserve(owner),
    used: pool.used,
  };
}

/** The memory that all reservations are taken from. */
interface Pool {
  hasRoom(owner: string, bytes: number, isLarge: boolean): boolean;
  /** Negative to release. */
  move(owner: string, bytes: number): void;
  readonly bodies: BodyQueue;
  /** For large reservations. */
  readonly bytesMax: number;
  readonly ownerBytesMax: number;
}

class OpenReservation implements MemoryReservation {
  readonly #pool: Pool;
  readonly #owner: string;
  #held = 0;
  /** Counts calls of `releaseAll`: parts of an earlier round are released already. */
  #round = 0;

  constructor(pool: Pool, owner: string) {
    this.#pool = pool;
    this.#owner = owner;
  }

  take(bytes: number): void {
    if (!this.#hold(bytes)) throw fault('no_room');
  }

  takeInTurn(bytes: number, wait: BodyWait): Promise<void> | undefined {
    if (this.#hold(bytes)) return undefined;
    this.check(bytes);
    return this.#pool.bodies.wait({ owner: this.#owner, hold: () => this.#hold(bytes) }, wait);
  }

  check(bytes: number): void {
    const { bodies, bytesMax, ownerBytesMax } = this.#pool;
    if (this.#fits(bytes)) return;
    const never = bytes > Math.min(bytesMax, ownerBytesMax);
    if (never || bodies.isFull(this.#owner)) throw fault('no_room');
  }

  takePart(bytes: number): (() => void) | undefined {
    if (!this.#hold(bytes)) return undefined;
    let heldIn: number | undefined = this.#round;
    return () => {
      if (heldIn === this.#round) this.#return(bytes);
      heldIn = undefined;
    };
  }

  releaseAll(): void {
    this.#return(this.#held);
    this.#round += 1;
  }

  #hold(bytes: number): boolean {
    if (!this.#fits(bytes)) return false;
    this.#held += bytes;
    this.#pool.move(this.#owner, bytes);
    return true;
  }

  #fits(bytes: number): boolean {
    return this.#pool.hasRoom(this.#owner, bytes, this.#held + bytes > SMALL_BYTES);
  }

  #return(bytes: number): void {
    this.#held -= bytes;
    this.#pool.move(this.#owner, -bytes);
  }
}
