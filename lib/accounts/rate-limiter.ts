// Rate limits with a window that opens at its first request. Counts in memory while this process is alone on the store,
// otherwise in the store; no count is lost at the switch.
import { randomUUID } from 'node:crypto';
import { fault } from '../base/faults.ts';
import type { Batch } from '../store/ports/batches.ts';
import type { LimitStore, LimitWindow } from '../store/ports/limits.ts';

export interface LimitRule {
  /** The name of the bucket; each key has its own bucket per name. */
  readonly name: string;
  readonly perMinute: number;
}

export interface LimitResult {
  readonly allowed: boolean;
  /** Whole seconds until the window ends, 1 to 59. */
  readonly retryAfterS: number;
}

export interface Limiter {
  /**
   * Counts one request of a key. Rejects with a 503 fault if the store has to count and does not answer in time; the
   * time the request has already waited for the store counts towards that.
   */
  hit(rule: LimitRule, keyId: string, waitedMs?: number): LimitResult | Promise<LimitResult>;
  /**
   * Sets how many other processes use the store now, and whether they have handed over the counts in their memory. Until
   * they have, requests wait.
   */
  setPeers(peers: number, settled?: boolean): Promise<void>;
}

export interface LimiterOptions {
  readonly store: LimitStore;
  readonly windowMs?: number;
  readonly now?: () => number;
  /** How long a request waits for the store. */
  readonly answerWithinMs?: number;
}

/** How long a request waits for the store or the primary. */
export const ANSWER_WITHIN_MS = 4800;
const WINDOW_MS = 60_000;
/** Expired windows are removed from memory after it has grown by this many windows. */
const SWEEP_AT = 10_000;

interface OpenWindow {
  readonly endsAt: number;
  count: number;
  /** The part of the count that the store knows. */
  stored: number;
}

/** Counts that the store has not confirmed yet. */
interface PendingCounts {
  readonly batch: Batch;
  readonly parts: readonly { readonly bucket: string; readonly window: OpenWindow; readonly count: number }[];
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { store, windowMs = WINDOW_MS, now = Date.now, answerWithinMs = ANSWER_WITHIN_MS } = options;
  let windows = new Map<string, OpenWindow>();
  let sweepAt = SWEEP_AT;
  /** `local` counts in memory, `shared` in the store. */
  let mode: 'local' | 'shared' = 'local';
  let change: Promise<void> = Promise.resolve();
  let changing: Promise<void> | undefined;
  /** Set while another process still counts in its memory. */
  let unsettled: PromiseWithResolvers<void> | undefined;
  const writer = randomUUID();
  let batches = 0;
  let unconfirmed: PendingCounts | undefined;

  function hit(rule: LimitRule, keyId: string, waitedMs = 0): LimitResult | Promise<LimitResult> {
    const bucket = `${rule.name}:${keyId}`;
    if (mode === 'local' && !changing && !unsettled) return toLimitResult(rule, countLocally(bucket));
    return withStoreTimeout(countShared(bucket), answerWithinMs - waitedMs).then((window) =>
      toLimitResult(rule, window),
    );
  }

  async function countShared(bucket: string): Promise<LimitWindow> {
    // A failed switch changes nothing, so its error is ignored.
    while (changing || unsettled) await (changing?.catch(() => undefined) ?? unsettled?.promise);
    return mode === 'local' ? countLocally(bucket) : store.hit(bucket, windowMs, now());
  }

  function countLocally(bucket: string): LimitWindow {
    const at = now();
    let window = windows.get(bucket);
    // A window that ends far in the future was opened before the clock was set back.
    if (!window || window.endsAt <= at || window.endsAt > at + 2 * windowMs) {
      window = { endsAt: at + windowMs, count: 0, stored: 0 };
      windows.set(bucket, window);
      if (windows.size > sweepAt) removeExpiredWindows(at);
    }
    window.count += 1;
    return { bucket, endsAt: window.endsAt, count: window.count };
  }

  function removeExpiredWindows(at: number): void {
    for (const [bucket, { endsAt }] of windows) if (endsAt <= at) windows.delete(bucket);
    sweepAt = windows.size + SWEEP_AT;
  }

  function toLimitResult(rule: LimitRule, window: LimitWindow): LimitResult {
    const seconds = Math.ceil((window.endsAt - now()) / 1000);
    return { allowed: window.count <= rule.perMinute, retryAfterS: Math.min(59, Math.max(1, seconds)) };
  }

  async function moveCountsToStore(): Promise<void> {
    if (unconfirmed) await sendCounts(unconfirmed);
    const rest = takeUnsentCounts();
    if (rest) await sendCounts(rest);
    windows = new Map();
    mode = 'shared';
  }

  function takeUnsentCounts(): PendingCounts | undefined {
    const all = [...windows].map(([bucket, window]) => ({ bucket, window, count: window.count - window.stored }));
    const parts = all.filter(({ count }) => count > 0);
    if (parts.length === 0) return undefined;
    batches += 1;
    return { batch: { writer, number: batches }, parts };
  }

  async function sendCounts(sending: PendingCounts): Promise<void> {
    unconfirmed = sending;
    const { parts, batch } = sending;
    const mine = parts.map(({ bucket, window: { endsAt }, count }) => ({ bucket, endsAt, count }));
    await store.merge(mine, now(), batch);
    for (const { window, count } of parts) window.stored += count;
    unconfirmed = undefined;
  }

  async function loadCounts(): Promise<void> {
    // Hits sent before this read are included: the store answers in order.
    const open = await store.open(now());
    windows = new Map(open.map(({ bucket, endsAt, count }) => [bucket, { endsAt, count, stored: count }]));
    mode = 'local';
  }

  async function switchMode(wanted: typeof mode): Promise<void> {
    if (wanted === mode) return;
    changing = (wanted === 'shared' ? moveCountsToStore() : loadCounts()).finally(() => {
      changing = undefined;
    });
    await changing;
  }

  return {
    hit,
    setPeers(peers, settled = true) {
      change = change.then(async () => {
        if (!settled) unsettled ??= Promise.withResolvers();
        try {
          await switchMode(peers > 0 ? 'shared' : 'local');
        } finally {
          if (settled) {
            unsettled?.resolve();
            unsettled = undefined;
          }
        }
      });
      const result = change;
      change = change.catch(() => undefined);
      return result;
    },
  };
}

/** Rejects with a 503 fault if there is no answer in time. */
export function withStoreTimeout<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const fail = (error?: unknown) => reject(fault('store_unavailable', {}, error));
  const timer = setTimeout(fail, withinMs);
  answer.finally(() => clearTimeout(timer)).then(resolve, fail);
  return promise;
}
