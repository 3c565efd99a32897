// Starts calls whose key or account may run only so many at once. The store counts them over all gateways, in the
// transaction that holds their money; calls that find no place wait here, in order, and the first of them tries again.
import { type Fault, fault } from '../base/faults.ts';
import { type CallCap, type CallLimited, CallsFull, listCallLimits } from '../ledger/caps.ts';

export interface WaitingCall<Holder extends CallLimited = CallLimited> {
  readonly holder: Holder;
  /** The holder as it is now: its limits may change while the call waits. Throws if it may not call any more. */
  confirm(): Promise<Holder>;
  /** How long the call has already waited for its turn. */
  readonly waitedMs: number;
  readonly signal: AbortSignal;
}

export interface CallPlaces {
  /**
   * Runs `start` with the limits that its hold has to keep and the holder as it is then, again and again while it throws
   * `CallsFull`. Rejects with a 429 fault if no call ends in time, with the reason of the signal, or with what `start`
   * throws otherwise.
   */
  take<T, Holder extends CallLimited>(
    call: WaitingCall<Holder>,
    start: (caps: readonly CallCap[], holder: Holder) => Promise<T>,
  ): Promise<T>;
  /** A call that counted here has ended in this process. */
  notify(id: string): void;
}

/** Waiting calls per key and per account. */
export const WAITING_MAX = 1000;
/** Calls that end in another process give no notice. */
const RETRY_MS = 150;

export function createCallPlaces(): CallPlaces {
  /** By the id of the count. A call waits in one line at a time, so that no two can wait for each other. */
  const lines = new Map<string, Set<Waiter>>();

  function isFirst(id: string, waiter: Waiter): boolean {
    const [first] = lines.get(id) ?? [];
    return first === waiter;
  }

  function notify(id: string): void {
    const [first] = lines.get(id) ?? [];
    first?.wake();
  }

  function leaveLine(id: string, waiter: Waiter): void {
    const line = lines.get(id);
    const wasFirst = isFirst(id, waiter);
    line?.delete(waiter);
    if (line?.size === 0) lines.delete(id);
    else if (wasFirst) notify(id);
  }

  function joinLine(id: string, waiter: Waiter, limit: bigint): void {
    const line = lines.get(id) ?? new Set();
    if (line.size >= WAITING_MAX) throw tooManyCalls(limit);
    lines.set(id, line.add(waiter));
  }

  return {
    notify,
    async take({ holder, confirm, waitedMs, signal }, start) {
      const since = performance.now() - waitedMs;
      const waiter = new Waiter();
      let joined: string | undefined;
      let current = holder;
      let limits = listCallLimits(current);
      // Whoever comes later waits behind those who wait already.
      let full = limits.find(({ cap }) => lines.has(cap.id));
      try {
        for (;;) {
          if (full) {
            const { cap, waitSeconds } = full;
            const leftMs = since + waitSeconds * 1000 - performance.now();
            if (leftMs <= 0) throw tooManyCalls(cap.limit);
            if (joined !== cap.id) {
              joinLine(cap.id, waiter, cap.limit);
              if (joined !== undefined) leaveLine(joined, waiter);
              joined = cap.id;
            }
            await waiter.wait(isFirst(cap.id, waiter) ? Math.min(leftMs, RETRY_MS) : leftMs, signal);
            current = await confirm();
            limits = listCallLimits(current);
            full = limits.find((limit) => limit.cap.id === cap.id && !isFirst(cap.id, waiter));
            if (full) continue;
          }
          try {
            return await start(
              limits.map(({ cap }) => cap),
              current,
            );
          } catch (error) {
            full = error instanceof CallsFull ? limits.find(({ cap }) => cap.id === error.id) : undefined;
            if (!full) throw error;
          }
        }
      } finally {
        if (joined !== undefined) leaveLine(joined, waiter);
      }
    },
  };
}

/** A call that waits until it may try again. */
class Waiter {
  #isWoken = false;
  #resolve: (() => void) | undefined;

  /** Also ends the next wait, if the call is just trying. */
  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isWoken) await this.#sleep(ms, signal);
    this.#isWoken = false;
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#resolve = undefined;
      };
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      const onTime = () => {
        end();
        resolve();
      };
      const timer = setTimeout(onTime, ms);
      this.#resolve = onTime;
      signal.addEventListener('abort', onAbort);
    });
  }
}

export function tooManyCalls(limit: bigint | number): Fault {
  return fault('too_many_calls', { hint: String(limit), retryAfterS: 1 });
}
