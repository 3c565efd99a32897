// Counts the calls of each key in memory and writes the counts to the store in one batch about once a second.
import { randomUUID } from 'node:crypto';
import type { Batch } from '../store/ports/batches.ts';
import type { KeyRow, KeyStore, KeyUse } from '../store/ports/keys.ts';

interface KeyUsageCounterOptions {
  readonly store: Pick<KeyStore, 'use'>;
  readonly flushMs?: number;
  /** Called when a batch was not confirmed; the same batch is sent again. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: () => number;
}

interface KeyUsage {
  readonly requestsCount: number;
  readonly lastUsedAt: number | null;
}

export interface KeyUsageCounter {
  /** Counts one call. */
  countUse(keyId: string): void;
  /** The number of calls that are not written yet. */
  pending(keyId: string): number;
  /** The counters of a row that was read a while ago, plus the calls counted here that the row does not include. */
  usage(row: Pick<KeyRow, 'id' | 'requestsCount' | 'lastUsedAt'>): KeyUsage;
  /** Writes the counts; resolves to false if the store did not accept them. */
  flush(): Promise<boolean>;
  /** Stops the timer and writes the remaining counts. */
  close(): Promise<void>;
}

/** The calls of one key between two batches. */
interface Tally {
  count: number;
  lastUsedAt: number;
  /** `open`: counting, always the last of its key. `sent`: in a batch not confirmed. `written`: in the store. */
  state: 'open' | 'sent' | 'written';
  writtenAt: number;
}

/** A batch that the store has not confirmed yet. */
interface PendingUses {
  readonly batch: Batch;
  readonly uses: readonly KeyUse[];
  readonly tallies: readonly Tally[];
}

const FLUSH_MS = 1000;
/** How long a written tally is kept, to complete rows that were read before it was written. */
const WRITTEN_KEPT_MS = 5000;

export function createKeyUsageCounter({
  store,
  flushMs = FLUSH_MS,
  onError,
  clock = Date.now,
}: KeyUsageCounterOptions): KeyUsageCounter {
  const tallies = new Map<string, Tally[]>();
  const writer = randomUUID();
  let batches = 0;
  let unconfirmed: PendingUses | undefined;
  let flushing: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function countUse(keyId: string): void {
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
    if (!closed) timer ??= setTimeout(flushOnTimer, flushMs).unref();
  }

  function flushOnTimer(): void {
    timer = undefined;
    void flush().finally(() => {
      dropWritten();
      if (tallies.size > 0 && !closed) timer ??= setTimeout(flushOnTimer, flushMs).unref();
    });
  }

  function pending(keyId: string): number {
    return sumTallies(tallies.get(keyId)?.filter((tally) => tally.state !== 'written'));
  }

  function usage(row: Pick<KeyRow, 'id' | 'requestsCount' | 'lastUsedAt'>): KeyUsage {
    const at = row.lastUsedAt ?? 0;
    const missing = tallies.get(row.id)?.filter((tally) => tally.state === 'open' || tally.lastUsedAt > at) ?? [];
    const lastUsedAt = Math.max(at, missing.at(-1)?.lastUsedAt ?? 0);
    return { requestsCount: row.requestsCount + sumTallies(missing), lastUsedAt: lastUsedAt === 0 ? null : lastUsedAt };
  }

  function flush(): Promise<boolean> {
    flushing ??= writeBatches().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  async function writeBatches(): Promise<boolean> {
    if (unconfirmed && !(await sendBatch(unconfirmed))) return false;
    const sending = takeBatch();
    return sending ? sendBatch(sending) : true;
  }

  function takeBatch(): PendingUses | undefined {
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

  async function sendBatch(sending: PendingUses): Promise<boolean> {
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

  function dropWritten(): void {
    const until = clock() - WRITTEN_KEPT_MS;
    for (const [id, list] of tallies) {
      const kept = list.filter((tally) => tally.state !== 'written' || tally.writtenAt > until);
      if (kept.length === 0) tallies.delete(id);
      else if (kept.length < list.length) tallies.set(id, kept);
    }
  }

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    await flushing;
    await flush();
  }

  return { countUse, pending, usage, flush, close };
}

function sumTallies(list: readonly Tally[] = []): number {
  return list.reduce((total, tally) => total + tally.count, 0);
}
