// Finds the holder of a key for every request, from a small cache whose entries expire within the time that a revocation
// may take.
import assert from 'node:assert/strict';
import { LRUCache } from 'lru-cache';
import { fault } from '../base/faults.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import type { Store } from '../store/store.ts';
import { hashKey, hasKeyLength, isWellFormedKey } from './key.ts';
import { createKeyUsageCounter, type KeyUsageCounter } from './key-usage-counter.ts';
import { createMovedKeys, isMovedKey } from './moved-keys.ts';

export interface HoldersOptions {
  readonly store: Pick<Store, 'keys' | 'settings'>;
  /** `config.keyPrefix`. */
  readonly prefix: string;
  /** How long a row is used without reading it again; revocations and suspensions take effect within this time. */
  readonly ttlMs?: number | undefined;
  /** The maximum of cached keys. */
  readonly holdersMax?: number;
  /** How often the usage counters are written. */
  readonly flushMs?: number;
  /** Called when the usage counters could not be written; they are kept and written later. */
  readonly onFlushError?: (error: unknown) => void;
}

export interface Holders extends Omit<KeyUsageCounter, 'flush'> {
  /**
   * The holder of an active key, suspended or not; undefined for a malformed text and an unknown or revoked key. Returns
   * at once from the cache, otherwise a promise, which may reject with the fault `store_unavailable`.
   */
  find(keyText: string): KeyHolder | undefined | Promise<KeyHolder | undefined>;
  /** The same for a holder that was found before, without the key's text. */
  findAgain(holder: Pick<KeyHolder, 'hash'>): KeyHolder | undefined | Promise<KeyHolder | undefined>;
}

interface CachedHolder {
  readonly holder: KeyHolder | undefined;
  readonly at: number;
}

interface PendingRead {
  readonly found: Promise<KeyHolder | undefined>;
  readonly at: number;
}

/** A revocation must take effect within a second, including the time of a read. */
const TTL_MS_MAX = 800;
const HOLDERS_MAX = 10_000;
/** Unknown keys have a separate small cache, so that a guesser cannot evict holders. */
const UNKNOWN_MAX = 1000;

export function createHolders(options: HoldersOptions): Holders {
  const { store, prefix, ttlMs = TTL_MS_MAX, holdersMax = HOLDERS_MAX, flushMs, onFlushError } = options;
  assert(ttlMs >= 0 && ttlMs <= TTL_MS_MAX);
  const holders = new LRUCache<string, CachedHolder>({ max: holdersMax });
  const unknown = new LRUCache<string, CachedHolder>({ max: UNKNOWN_MAX });
  const pendingReads = new Map<string, PendingRead>();
  const moved = createMovedKeys(store);
  const counter = createKeyUsageCounter({ store: store.keys, flushMs, onError: onFlushError });
  const { countUse, pending, usage, close } = counter;

  function find(keyText: string): KeyHolder | undefined | Promise<KeyHolder | undefined> {
    if (hasKeyLength(prefix, keyText)) {
      const hash = hashKey(keyText);
      // The checksum costs more than the rest of the look-up, so it is skipped for a cached key.
      if (holders.has(hash) || isWellFormedKey(prefix, keyText)) return findHash(hash);
    }
    return isMovedKey(keyText) ? findMoved(hashKey(keyText)) : undefined;
  }

  function findMoved(hash: string): KeyHolder | undefined | Promise<KeyHolder | undefined> {
    const mayExist = holders.has(hash) || moved.mayHave(hash);
    if (typeof mayExist === 'boolean') return mayExist ? findHash(hash) : undefined;
    return mayExist.then((found) => (found ? findHash(hash) : undefined));
  }

  function findHash(hash: string): KeyHolder | undefined | Promise<KeyHolder | undefined> {
    const freshFrom = performance.now() - ttlMs;
    const seen = holders.get(hash) ?? unknown.get(hash);
    if (seen && seen.at > freshFrom) return seen.holder;
    const pendingRead = pendingReads.get(hash);
    if (pendingRead && pendingRead.at > freshFrom) return pendingRead.found;
    return readHolder(hash);
  }

  function readHolder(hash: string): Promise<KeyHolder | undefined> {
    // The age of a row counts from the start of its read, because the row may lack later changes.
    const at = performance.now();
    const found = store.keys.find(hash).then(
      (row) => {
        const holder = row && row.revokedAt === null ? row : undefined;
        cacheHolder(hash, { holder, at });
        return holder;
      },
      (error: unknown) => {
        throw fault('store_unavailable', {}, error);
      },
    );
    const pendingRead = { found, at };
    pendingReads.set(hash, pendingRead);
    const forget = () => {
      if (pendingReads.get(hash) === pendingRead) pendingReads.delete(hash);
    };
    found.then(forget, forget);
    return found;
  }

  /** The result of a slow read is cached with its age, so it may already be too old for the next request. */
  function cacheHolder(hash: string, seen: CachedHolder): void {
    const [into, outOf] = seen.holder ? [holders, unknown] : [unknown, holders];
    outOf.delete(hash);
    into.set(hash, seen);
  }

  return { find, findAgain: ({ hash }) => findHash(hash), countUse, pending, usage, close };
}
