// The keys of one upstream, used in rotation; a refused one is paused while there are others.
import { hash } from 'node:crypto';
import { hashName, scoreChoice } from '../../base/rendezvous.ts';
import type { UpstreamFaultKind } from '../contract/fault.ts';
import { isUpstreamFault } from './fault.ts';

export interface Key {
  /** Identifies the key in every process without revealing it. */
  readonly id: string;
  readonly value: string;
  /** Its position in the settings, from 1. */
  readonly place: number;
}

/** Why a key is paused. */
export const KEY_FAULTS = ['rate', 'auth', 'quota'] as const satisfies readonly UpstreamFaultKind[];

type KeyFault = (typeof KEY_FAULTS)[number];

/** A key that was just paused. */
export interface KeyRest {
  /** Its position in the settings, from 1. */
  readonly place: number;
  readonly keys: number;
  readonly kind: KeyFault;
  readonly status: number | undefined;
  readonly forMs: number;
}

/** How many keys there are, and how many are currently paused. */
export interface KeyHealth extends Readonly<Record<KeyFault, number>> {
  readonly keys: number;
}

interface KeyRingOptions {
  readonly now?: () => number;
  /** Called when one of several keys is paused. */
  readonly onRest?: (rest: KeyRest) => void;
}

/** Which key a call gets. */
interface KeyWish {
  /** The id of a key. */
  readonly id?: string | undefined;
  readonly tried?: Tried | undefined;
  /** Always gets the same key while that is not paused. */
  readonly conversation?: string | undefined;
}

/** A key and its pauses. */
interface Slot {
  readonly key: Key;
  /** For its score in a conversation. */
  readonly hash: number;
  /** On the clock of `now`; 0 for a key that was never paused. */
  restsUntil: number;
  kind: KeyFault | undefined;
  /** Refused for its rights, which may be missing for one model only. */
  lacksRights: boolean;
}

const ID_CHARS = 16;

/** If the upstream gives no time: a rate limit passes soon, anything else needs somebody to fix it. */
const REST_MS: Readonly<Record<KeyFault, number>> = { rate: 5_000, auth: 300_000, quota: 300_000 };

/** Bounds for what the upstream says: a day's limit may be lifted, or paid for, long before. */
const REST_MIN_MS = 500;
const REST_MAX_MS = 600_000;

const FORBIDDEN = 403;

/** The ids of the keys that a call was refused with. */
type Tried = ReadonlySet<string>;

const NONE: Tried = new Set();

export class KeyRing {
  readonly #slots: readonly Slot[];
  readonly #now: () => number;
  readonly #onRest: KeyRingOptions['onRest'];
  #turn = 0;

  constructor(values: readonly string[], { now = Date.now, onRest }: KeyRingOptions = {}) {
    this.#slots = values.map((value, index) => {
      const key = createKey(value, index + 1);
      return { key, hash: hashName(key.id), restsUntil: 0, kind: undefined, lacksRights: false };
    });
    this.#now = now;
    this.#onRest = onRest;
  }

  /**
   * The key with that id if it still exists, otherwise the next one that is not paused, or if all are, the one that is
   * back first: the only way to know is to ask. Undefined if there are none. Of those that a call has `tried`, none is
   * taken again while `blame` says that there is another.
   */
  take({ id, tried = NONE, conversation }: KeyWish = {}): Key | undefined {
    const named = id !== undefined && this.#slots.find(({ key }) => key.id === id);
    if (named) return named.key;
    const count = this.#slots.length;
    if (count < 2) return this.#slots[0]?.key;
    const inOrder = conversation === undefined ? this.#inTurn() : this.#inOrderFor(conversation);
    const now = this.#now();
    const left = inOrder.filter(({ key }) => !tried.has(key.id));
    const fit =
      left.find((slot) => !isPaused(slot, now)) ?? (tried.size > 0 ? left.find((slot) => slot.lacksRights) : undefined);
    return (fit ?? inOrder.reduce((best, slot) => (slot.restsUntil < best.restsUntil ? slot : best))).key;
  }

  #inTurn(): readonly Slot[] {
    const turn = this.#turn++ % this.#slots.length;
    return [...this.#slots.slice(turn), ...this.#slots.slice(0, turn)];
  }

  #inOrderFor(conversation: string): readonly Slot[] {
    const name = hashName(conversation);
    return [...this.#slots].sort((one, other) => scoreChoice(name, other.hash) - scoreChoice(name, one.hash));
  }

  /**
   * Pauses a key if what was thrown is about it. True if a call that was refused with those `tried` may take another:
   * one that is not paused, or one that is paused for its rights, which may suffice for this call.
   */
  blame(id: string | undefined, thrown: unknown, tried = NONE): boolean {
    if (!isUpstreamFault(thrown) || !isKeyFault(thrown.kind)) return false;
    const slot = this.#slots.find(({ key }) => key.id === id);
    if (!slot) return false;
    const { kind, status, retryAfterMs } = thrown;
    this.#pause(slot, { kind, status, forMs: retryAfterMs ?? REST_MS[kind] });
    const now = this.#now();
    const left = this.#slots.filter(({ key }) => !tried.has(key.id));
    return left.some((other) => !isPaused(other, now) || (tried.size > 0 && other.lacksRights));
  }

  /** Pauses a key that has nothing left of a limit; never shortens a pause. */
  rest(id: string, forMs: number): void {
    const slot = this.#slots.find(({ key }) => key.id === id);
    const now = this.#now();
    if (!slot || (isPaused(slot, now) && slot.restsUntil >= now + Math.min(forMs, REST_MAX_MS))) return;
    this.#pause(slot, { kind: 'rate', status: undefined, forMs });
  }

  #pause(slot: Slot, { kind, status, forMs: wantedMs }: Pick<KeyRest, 'kind' | 'status' | 'forMs'>): void {
    const now = this.#now();
    const forMs = Math.min(Math.max(wantedMs, REST_MIN_MS), REST_MAX_MS);
    const isNew = !isPaused(slot, now) || slot.kind !== kind;
    slot.restsUntil = now + forMs;
    slot.kind = kind;
    slot.lacksRights = kind === 'auth' && status === FORBIDDEN;
    const keys = this.#slots.length;
    if (isNew && keys > 1) this.#onRest?.({ place: slot.key.place, keys, kind, status, forMs });
  }

  health(): KeyHealth {
    const now = this.#now();
    const resting = (wanted: KeyFault) =>
      this.#slots.filter((slot) => isPaused(slot, now) && slot.kind === wanted).length;
    return { keys: this.#slots.length, rate: resting('rate'), auth: resting('auth'), quota: resting('quota') };
  }
}

/** A pause that is longer than the longest was made before the clock was set back, and does not count. */
function isPaused({ restsUntil }: Slot, now: number): boolean {
  return restsUntil > now && restsUntil <= now + REST_MAX_MS;
}

function createKey(value: string, place: number): Key {
  return { id: hash('sha256', value, 'hex').slice(0, ID_CHARS), value, place };
}

function isKeyFault(kind: UpstreamFaultKind): kind is KeyFault {
  return (KEY_FAULTS as readonly string[]).includes(kind);
}
