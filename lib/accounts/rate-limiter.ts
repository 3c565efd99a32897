// Rate limits with a window that opens at its first request: in memory while this process is alone on the store,
// otherwise in the store; the switch loses no count.
import { randomUUID } from 'node:crypto';
import { fault } from '../base/faults.ts';
import type { Batch } from '../store/ports/batches.ts';
import type { LimitStore, LimitWindow } from '../store/ports/limits.ts';

export interface LimitRule {
  /** The bucket's name; each key has one of each. */
  readonly name: string;
  readonly perMinute: number;
}

export interface LimitResult {
  readonly allowed: boolean;
  /** Until the window ends, in whole seconds, 1 to 59. */
  readonly retryAfterS: number;
}

export interface Limiter {
  /**
   * Counts one request of a key. Rejects with a 503 fault if the store has to count and does not answer in time; the
   * time the request has already waited for the store counts towards that.
   */
  hit(rule: LimitRule, keyId: string, waitedMs?: number): LimitResult | Promise<LimitResult>;
  /**
   * Sets how many other processes use the store now, and whether they have handed over the counts they kept in memory;
   * until they have, nothing is allowed.
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

/** How long a request waits for the process that counts. */
export const ANSWER_WITHIN_MS = 4800;
const WINDOW_MS = 60_000;
/** Memory is swept after growing by this many windows. */
const SWEEP_AT = 10_000;

interface OpenWindow {
  readonly endsAt: number;
  count: number;
  /** How much of the count the store knows. */
  stored: number;
}

/** Counts on their way to the store, until it has confirmed them. */
interface Sending {
  readonly batch: Batch;
  readonly parts: readonly { readonly bucket: string; readonly window: OpenWindow; readonly count: number }[];
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { store, windowMs = WINDOW_MS, now = Date.now, answerWithinMs = ANSWER_WITHIN_MS } = options;
  let windows = new Map<string, OpenWindow>();
  let sweepAt = SWEEP_AT;
  /** `local` counts here, `shared` in the store. */
  let mode: 'local' | 'shared' = 'local';
  let change: Promise<void> = Promise.resolve();
  let changing: Promise<void> | undefined;
  /** Another process still counts in its memory. */
  let unsettled: PromiseWithResolvers<void> | undefined;
  const writer = randomUUID();
  let batches = 0;
  let unconfirmed: Sending | undefined;

  function hit(rule: LimitRule, keyId: string, waitedMs = 0): LimitResult | Promise<LimitResult> {
    const bucket = `${rule.name}:${keyId}`;
    if (mode === 'local' && !changing && !unsettled) return judge(rule, count(bucket));
    return inTime(countShared(bucket), answerWithinMs - waitedMs).then((window) => judge(rule, window));
  }

  async function countShared(bucket: string): Promise<LimitWindow> {
    // A switch that fails leaves everything as it was.
    while (changing || unsettled) await (changing?.catch(() => undefined) ?? unsettled?.promise);
    return mode === 'local' ? count(bucket) : store.hit(bucket, windowMs, now());
  }

  function count(bucket: string): LimitWindow {
    const at = now();
    let window = windows.get(bucket);
    // A window that ends far in the future dates from before the clock was set back.
    if (!window || window.endsAt <= at || window.endsAt > at + 2 * windowMs) {
      window = { endsAt: at + windowMs, count: 0, stored: 0 };
      windows.set(bucket, window);
      if (windows.size > sweepAt) sweep(at);
    }
    window.count += 1;
    return { bucket, endsAt: window.endsAt, count: window.count };
  }

  function sweep(at: number): void {
    for (const [bucket, { endsAt }] of windows) if (endsAt <= at) windows.delete(bucket);
    sweepAt = windows.size + SWEEP_AT;
  }

  function judge(rule: LimitRule, window: LimitWindow): LimitResult {
    const seconds = Math.ceil((window.endsAt - now()) / 1000);
    return { allowed: window.count <= rule.perMinute, retryAfterS: Math.min(59, Math.max(1, seconds)) };
  }

  async function share(): Promise<void> {
    if (unconfirmed) await send(unconfirmed);
    const rest = gather();
    if (rest) await send(rest);
    windows = new Map();
    mode = 'shared';
  }

  /** What the store does not know yet. */
  function gather(): Sending | undefined {
    const all = [...windows].map(([bucket, window]) => ({ bucket, window, count: window.count - window.stored }));
    const parts = all.filter(({ count }) => count > 0);
    if (parts.length === 0) return undefined;
    batches += 1;
    return { batch: { writer, number: batches }, parts };
  }

  async function send(sending: Sending): Promise<void> {
    unconfirmed = sending;
    const { parts, batch } = sending;
    const mine = parts.map(({ bucket, window: { endsAt }, count }) => ({ bucket, endsAt, count }));
    await store.merge(mine, now(), batch);
    for (const { window, count } of parts) window.stored += count;
    unconfirmed = undefined;
  }

  async function keep(): Promise<void> {
    // Hits sent before this read are included: the store answers in order.
    const open = await store.open(now());
    windows = new Map(open.map(({ bucket, endsAt, count }) => [bucket, { endsAt, count, stored: count }]));
    mode = 'local';
  }

  async function changeTo(wanted: typeof mode): Promise<void> {
    if (wanted === mode) return;
    changing = (wanted === 'shared' ? share() : keep()).finally(() => {
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
          await changeTo(peers > 0 ? 'shared' : 'local');
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
export function inTime<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const fail = (error?: unknown) => reject(fault('store_unavailable', {}, error));
  const timer = setTimeout(fail, withinMs);
  answer.finally(() => clearTimeout(timer)).then(resolve, fail);
  return promise;
}
