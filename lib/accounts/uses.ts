// The use counters of keys: counted in memory, written in one batch about once a second.
import { randomUUID } from 'node:crypto';
import type { Batch } from '../store/ports/batches.ts';
import type { KeyRow, KeyStore, KeyUse } from '../store/ports/keys.ts';

export interface UsesOptions {
  readonly store: Pick<KeyStore, 'use'>;
  readonly flushMs?: number;
  /** A batch was not confirmed; it is sent again as it is. */
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
  /** Writes what was counted; resolves to false when the store did not accept it. */
  flush(): Promise<boolean>;
  /** Stops the timer and writes the rest. */
  close(): Promise<void>;
}

/** Calls of one key between two batches. */
interface Tally {
  count: number;
  lastUsedAt: number;
  /** `open`: counting, always the last of its key. `sent`: in a batch not confirmed. `written`: in the store. */
  state: 'open' | 'sent' | 'written';
  writtenAt: number;
}

/** A batch on its way, until the store has confirmed it. */
interface Sending {
  readonly batch: Batch;
  readonly uses: readonly KeyUse[];
  readonly tallies: readonly Tally[];
}

const FLUSH_MS = 1000;
/** How much older than a batch a row may be and still be told apart from it. */
const KEEP_MS = 5000;

export function createUses({ store, flushMs = FLUSH_MS, onError, clock = Date.now }: UsesOptions): Uses {
  const tallies = new Map<string, Tally[]>();
  const writer = randomUUID();
  let batches = 0;
  let unconfirmed: Sending | undefined;
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
      // Later than the previous one, so that a row's `lastUsedAt` tells which batches it includes.
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
    if (unconfirmed && !(await send(unconfirmed))) return false;
    const sending = gather();
    return sending ? send(sending) : true;
  }

  function gather(): Sending | undefined {
    const uses: KeyUse[] = [];
    const sent: Tally[] = [];
    for (const [id, list] of tallies) {
      const last = list.at(-1);
      if (last?.state !== 'open') continue;
      last.state = 'sent';
      sent.push(last);
      uses.push({ id, count: last.count, lastUsedAt: last.lastUsedAt });
    }
    if (uses.length === 0) return undefined;
    batches += 1;
    return { batch: { writer, number: batches }, uses, tallies: sent };
  }

  async function send(sending: Sending): Promise<boolean> {
    unconfirmed = sending;
    try {
      await store.use(sending.uses, sending.batch);
    } catch (error) {
      onError?.(error);
      return false;
    }
    unconfirmed = undefined;
    for (const tally of sending.tallies) {
      tally.state = 'written';
      tally.writtenAt = clock();
    }
    return true;
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
