// Who holds a key: the look-up behind every request, from a small cache that is never older than a revocation may be.
import assert from 'node:assert/strict';
import { LRUCache } from 'lru-cache';
import { fault } from '../base/faults.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import type { Store } from '../store/store.ts';
import { hashKey, isLongAsKey, isWellFormedKey } from './key.ts';
import { createUses, type Uses } from './uses.ts';

export interface HoldersOptions {
  readonly store: Pick<Store, 'keys'>;
  /** `config.keyPrefix`. */
  readonly prefix: string;
  /** How long a row is used without another look; revocation and suspension take effect within it. */
  readonly ttlMs?: number;
  /** Keys remembered at once. */
  readonly holdersMax?: number;
  /** How often the use counters are written. */
  readonly flushMs?: number;
  /** The use counters could not be written; they are kept and tried again. */
  readonly onFlushError?: (error: unknown) => void;
}

export interface Holders extends Omit<Uses, 'flush'> {
  /**
   * The holder of an active key, suspended or not; undefined for a text that is malformed, unknown or revoked. Answers
   * at once from the cache, otherwise by a promise, which rejects with the fault `store_unavailable`.
   */
  find(keyText: string): KeyHolder | undefined | Promise<KeyHolder | undefined>;
  /** The same once more for a key that was found before, without its text. */
  again(holder: KeyHolder): KeyHolder | undefined | Promise<KeyHolder | undefined>;
}

interface Seen {
  readonly holder: KeyHolder | undefined;
  readonly at: number;
}

interface Reading {
  readonly found: Promise<KeyHolder | undefined>;
  readonly at: number;
}

/** Together with the time of a read this stays below the second within which a revocation must take effect. */
const TTL_MS_MAX = 800;
const HOLDERS_MAX = 10_000;
/** Unknown keys have a small cache of their own, so that a guesser cannot evict holders. */
const UNKNOWN_MAX = 1000;

export function createHolders(options: HoldersOptions): Holders {
  const { store, prefix, ttlMs = TTL_MS_MAX, holdersMax = HOLDERS_MAX, flushMs, onFlushError } = options;
  assert(ttlMs >= 0 && ttlMs <= TTL_MS_MAX);
  const holders = new LRUCache<string, Seen>({ max: holdersMax });
  const unknown = new LRUCache<string, Seen>({ max: UNKNOWN_MAX });
  const readings = new Map<string, Reading>();
  const { used, pending, usage, close } = createUses({
    store: store.keys,
    ...(flushMs !== undefined && { flushMs }),
    ...(onFlushError && { onError: onFlushError }),
  });

  function find(keyText: string): KeyHolder | undefined | Promise<KeyHolder | undefined> {
    if (!isLongAsKey(prefix, keyText)) return undefined;
    const hash = hashKey(keyText);
    // A known key needs no checksum, which costs more than the rest of the look-up.
    return holders.has(hash) || isWellFormedKey(prefix, keyText) ? findHash(hash) : undefined;
  }

  function findHash(hash: string): KeyHolder | undefined | Promise<KeyHolder | undefined> {
    const freshFrom = performance.now() - ttlMs;
    const seen = holders.get(hash) ?? unknown.get(hash);
    if (seen && seen.at > freshFrom) return seen.holder;
    const reading = readings.get(hash);
    if (reading && reading.at > freshFrom) return reading.found;
    return read(hash);
  }

  function read(hash: string): Promise<KeyHolder | undefined> {
    // The age of a row counts from the start of its read: it may lack what happened to the key since.
    const at = performance.now();
    const found = store.keys.find(hash).then(
      (row) => {
        const holder = row && row.revokedAt === null ? row : undefined;
        remember(hash, { holder, at });
        return holder;
      },
      (error: unknown) => {
        throw fault('store_unavailable', {}, error);
      },
    );
    const reading = { found, at };
    readings.set(hash, reading);
    const forget = () => {
      if (readings.get(hash) === reading) readings.delete(hash);
    };
    found.then(forget, forget);
    return found;
  }

  /** A read that took too long is remembered with its age: it answers nobody. */
  function remember(hash: string, seen: Seen): void {
    const [into, outOf] = seen.holder ? [holders, unknown] : [unknown, holders];
    outOf.delete(hash);
    into.set(hash, seen);
  }

  return { find, again: ({ hash }) => findHash(hash), used, pending, usage, close };
}
