// The use counters of keys: counted in memory, written in one batch about once a second.
import type { KeyRow, KeyStore, KeyUse } from '../store/store.ts';

export interface UsesOptions {
  readonly store: Pick<KeyStore, 'use'>;
  readonly flushMs?: number;
  /** A batch was not written; its counts are kept. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: () => number;
}

export interface KeyUsage {
  readonly requestsCount: number;
  readonly lastUsedAt: number | null;
}

export interface Uses {
  /** Counts one call. */
  used(keyId: string): void;
  /** Calls not written yet. */
  pending(keyId: string): number;
  /** The counters of a row that was read a while ago, with every call counted here since. */
  usage(row: Pick<KeyRow, 'id' | 'requestsCount' | 'lastUsedAt'>): KeyUsage;
  /** Writes what is counted; resolves to false when the store did not take it. */
  flush(): Promise<boolean>;
  /** Stops the timer and writes the rest. */
  close(): Promise<void>;
}

/** Calls of one key between two batches. */
interface Tally {
  count: number;
  lastUsedAt: number;
  /** `open`: counting, always the last of its key. `sent`: in a batch under way. `written`: in the store. */
  state: 'open' | 'sent' | 'written';
  writtenAt: number;
}

const FLUSH_MS = 1000;
/** So long a row may be older than a batch and still be told apart from it. */
const KEEP_MS = 5000;

export function createUses({ store, flushMs = FLUSH_MS, onError, clock = Date.now }: UsesOptions): Uses {
  const tallies = new Map<string, Tally[]>();
  let flying: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function used(keyId: string): void {
    let list = tallies.get(keyId);
    if (!list) {
      list = [];
      tallies.set(keyId, list);
    }
    const last = list.at(-1);
    if (last?.state === 'open') {
      last.count += 1;
      last.lastUsedAt = Math.max(last.lastUsedAt, clock());
    } else {
      // Above the last one's, so that `lastUsedAt` of a row tells which batches are in it.
      const lastUsedAt = Math.max(clock(), (last?.lastUsedAt ?? 0) + 1);
      list.push({ count: 1, lastUsedAt, state: 'open', writtenAt: 0 });
    }
    if (!closed) timer ??= setTimeout(tick, flushMs).unref();
  }

  function tick(): void {
    timer = undefined;
    void flush().finally(() => {
      prune();
      if (tallies.size > 0 && !closed) timer ??= setTimeout(tick, flushMs).unref();
    });
  }

  function pending(keyId: string): number {
    return sum(tallies.get(keyId)?.filter((tally) => tally.state !== 'written'));
  }

  function usage(row: Pick<KeyRow, 'id' | 'requestsCount' | 'lastUsedAt'>): KeyUsage {
    const at = row.lastUsedAt ?? 0;
    const missing = tallies.get(row.id)?.filter((tally) => tally.state === 'open' || tally.lastUsedAt > at) ?? [];
    const lastUsedAt = Math.max(at, missing.at(-1)?.lastUsedAt ?? 0);
    return { requestsCount: row.requestsCount + sum(missing), lastUsedAt: lastUsedAt === 0 ? null : lastUsedAt };
  }

  function flush(): Promise<boolean> {
    flying ??= write().finally(() => {
      flying = undefined;
    });
    return flying;
  }

  async function write(): Promise<boolean> {
    const sent: Tally[] = [];
    const batch: KeyUse[] = [];
    for (const [id, list] of tallies) {
      const last = list.at(-1);
      if (last?.state !== 'open') continue;
      last.state = 'sent';
      sent.push(last);
      batch.push({ id, count: last.count, lastUsedAt: last.lastUsedAt });
    }
    if (batch.length === 0) return true;
    try {
      await store.use(batch);
    } catch (error) {
      for (const { id } of batch) reopen(id);
      onError?.(error);
      return false;
    }
    for (const tally of sent) {
      tally.state = 'written';
      tally.writtenAt = clock();
    }
    return true;
  }

  /** What was not written goes into the next batch, together with what was counted meanwhile. */
  function reopen(id: string): void {
    const list = tallies.get(id) ?? [];
    const kept = list.filter((tally) => tally.state === 'written');
    const unwritten = list.filter((tally) => tally.state !== 'written');
    const lastUsedAt = unwritten.at(-1)?.lastUsedAt ?? 0;
    tallies.set(id, [...kept, { count: sum(unwritten), lastUsedAt, state: 'open', writtenAt: 0 }]);
  }

  function prune(): void {
    const until = clock() - KEEP_MS;
    for (const [id, list] of tallies) {
      const kept = list.filter((tally) => tally.state !== 'written' || tally.writtenAt > until);
      if (kept.length === 0) tallies.delete(id);
      else if (kept.length < list.length) tallies.set(id, kept);
    }
  }

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    await flying;
    await flush();
  }

  return { used, pending, usage, flush, close };
}

function sum(list: readonly Tally[] = []): number {
  return list.reduce((total, tally) => total + tally.count, 0);
}
