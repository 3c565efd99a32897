// Starts calls whose key or account may run only so many at once. The store counts them over all gateways, in the
// transaction that holds their money; calls that find no place wait here, in order, and the first of them tries again.
import { type Fault, fault } from '../base/faults.ts';
import { type CallCap, type CallLimit, type CallLimited, CallsFull, listCallLimits } from '../ledger/caps.ts';

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

  function findFirst(id: string): Waiter | undefined {
    const [first] = lines.get(id) ?? [];
    return first;
  }

  function notify(id: string): void {
    findFirst(id)?.wake();
  }

  function enterLine({ id, limit }: CallLimit['cap'], waiter: Waiter): void {
    if (waiter.line === id) return;
    const line = lines.get(id) ?? new Set();
    if (line.size >= WAITING_MAX) throw tooManyCalls(limit);
    lines.set(id, line.add(waiter));
    leaveLine(waiter);
    waiter.line = id;
  }

  function leaveLine(waiter: Waiter): void {
    const { line: id } = waiter;
    if (id === undefined) return;
    const line = lines.get(id);
    const wasFirst = findFirst(id) === waiter;
    line?.delete(waiter);
    if (line?.size === 0) lines.delete(id);
    else if (wasFirst) notify(id);
  }

  /** Waits in the line of a limit, for its turn to try or until that limit is gone; resolves to the holder as it is then. */
  async function waitInLine<Holder extends CallLimited>(
    limit: CallLimit,
    waiter: Waiter,
    { confirm, signal }: Pick<WaitingCall<Holder>, 'confirm' | 'signal'>,
  ): Promise<Holder> {
    let { cap, waitSeconds } = limit;
    const isFirst = () => findFirst(limit.cap.id) === waiter;
    for (;;) {
      const leftMs = waiter.since + waitSeconds * 1000 - performance.now();
      if (leftMs <= 0) throw tooManyCalls(cap.limit);
      enterLine(cap, waiter);
      await waiter.wait(isFirst() ? Math.min(leftMs, RETRY_MS) : leftMs, signal);
      const current = await confirm();
      const now = listCallLimits(current).find((each) => each.cap.id === limit.cap.id);
      if (!now || isFirst()) return current;
      ({ cap, waitSeconds } = now);
    }
  }

  return {
    notify,
    async take({ holder, confirm, waitedMs, signal }, start) {
      const waiter = new Waiter(performance.now() - waitedMs);
      let current = holder;
      // Whoever comes later waits behind those who wait already.
      let full = listCallLimits(holder).find(({ cap }) => lines.has(cap.id));
      try {
        for (;;) {
          if (full) current = await waitInLine(full, waiter, { confirm, signal });
          const limits = listCallLimits(current);
          const caps = limits.map(({ cap }) => cap);
          try {
            return await start(caps, current);
          } catch (error) {
            full = error instanceof CallsFull ? limits.find(({ cap }) => cap.id === error.id) : undefined;
            if (!full) throw error;
          }
        }
      } finally {
        leaveLine(waiter);
      }
    },
  };
}

/** A call that waits until it may try again. */
class Waiter {
  /** When it began to wait. */
  readonly since: number;
  /** The id of the line that it is in. */
  line: string | undefined;
  #isWoken = false;
  #resolve: (() => void) | undefined;

  constructor(since: number) {
    this.since = since;
  }

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
