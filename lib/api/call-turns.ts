// Limits how many calls of a key, and of an account, run at once in this process. Further ones wait for their turn, in
// order, for as long as the limit says.
import { type Fault, fault } from '../base/faults.ts';
import type { RequestLimits } from '../money/request-limits.ts';
import type { KeyHolder } from '../store/ports/keys.ts';

type Caller = Pick<KeyHolder, 'id' | 'account' | 'limits' | 'accountRequests'>;

export interface CallTurns {
  /**
   * Undefined if nothing limits the calls of the key. Otherwise resolves to a function that ends the call's turn, which
   * must be called once; rejects with a 429 fault if the turn does not come in time, or with the reason of the signal.
   */
  enter(caller: Caller, signal: AbortSignal): Promise<() => void> | undefined;
}

interface Lane {
  inside: number;
  readonly waiting: Set<() => void>;
}

/** Waiting calls per key and per account. */
const WAITING_MAX = 1000;

export function createCallTurns(): CallTurns {
  const lanes = new Map<string, Lane>();

  async function enterLane(id: string, { atOnce, waitSeconds = 0 }: RequestLimits, signal: AbortSignal) {
    if (atOnce === undefined) return undefined;
    const lane = lanes.get(id) ?? { inside: 0, waiting: new Set() };
    lanes.set(id, lane);
    if (lane.inside >= atOnce) await waitInLane(lane, { atOnce, waitSeconds, signal });
    else lane.inside += 1;
    return () => {
      // The call that has waited longest takes over.
      const [next] = lane.waiting;
      if (next) return next();
      lane.inside -= 1;
      if (lane.inside === 0) lanes.delete(id);
    };
  }

  async function enterBoth({ id, account, limits, accountRequests = {} }: Caller, signal: AbortSignal) {
    const leaveKey = await enterLane(id, limits.requests ?? {}, signal);
    try {
      const leaveAccount = await enterLane(account, accountRequests, signal);
      return () => {
        leaveAccount?.();
        leaveKey?.();
      };
    } catch (error) {
      leaveKey?.();
      throw error;
    }
  }

  return {
    enter(caller, signal) {
      const isLimited = caller.limits.requests?.atOnce ?? caller.accountRequests?.atOnce;
      return isLimited === undefined ? undefined : enterBoth(caller, signal);
    },
  };
}

interface Wait {
  readonly atOnce: number;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
}

function waitInLane({ waiting }: Lane, { atOnce, waitSeconds, signal }: Wait): Promise<void> {
  if (waitSeconds === 0 || waiting.size >= WAITING_MAX) throw tooManyCalls(atOnce);
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      waiting.delete(onTurn);
    };
    const onTurn = () => {
      end();
      resolve();
    };
    const onAbort = () => {
      end();
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      end();
      reject(tooManyCalls(atOnce));
    }, waitSeconds * 1000);
    waiting.add(onTurn);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

function tooManyCalls(atOnce: number): Fault {
  return fault('too_many_calls', { hint: String(atOnce), retryAfterS: 1 });
}
