// The calls of a key, and of an account, that run at once: those of this process enter in order before their body is
// read, so that only few try for a place among those of all processes (`call-places.ts`), which keeps the limit.
import { waitForTurn } from '../base/wait-for-turn.ts';
import { type CallLimited, getCallCounts } from '../ledger/caps.ts';
import type { RequestLimits } from '../money/request-limits.ts';
import { type CallPlaces, createCallPlaces, tooManyCalls, WAITING_MAX } from './call-places.ts';

/** The turn of a call in this process. */
export interface Turn {
  readonly waitedMs: number;
  /** Must be called once, when the call has ended. */
  leave(): void;
}

export interface CallTurns extends Pick<CallPlaces, 'take'> {
  /**
   * Undefined if nothing limits the calls of the key. Rejects with a 429 fault if the turn does not come in time, or with
   * the reason of the signal.
   */
  enter(caller: CallLimited, signal: AbortSignal): Promise<Turn> | undefined;
}

interface Lane {
  /** The limit as last seen. */
  atOnce: number;
  inside: number;
  readonly waiting: Set<() => void>;
}

export function createCallTurns(): CallTurns {
  const lanes = new Map<string, Lane>();
  const places = createCallPlaces();

  async function enterLane(id: string, { atOnce, waitSeconds = 0 }: RequestLimits, signal: AbortSignal) {
    if (atOnce === undefined) return undefined;
    const lane = lanes.get(id) ?? { atOnce, inside: 0, waiting: new Set() };
    lanes.set(id, lane);
    lane.atOnce = atOnce;
    admitWaiting(lane);
    if (lane.inside >= atOnce) await waitInLane(lane, { atOnce, waitSeconds, signal });
    else lane.inside += 1;
    return () => {
      lane.inside -= 1;
      admitWaiting(lane);
      if (lane.inside === 0) lanes.delete(id);
      places.notify(id);
    };
  }

  async function enterBoth(caller: CallLimited, signal: AbortSignal) {
    const { limits, accountRequests = {} } = caller;
    const counts = getCallCounts(caller);
    const from = performance.now();
    const leaveKey = await enterLane(counts.key, limits.requests ?? {}, signal);
    try {
      const leaveAccount = await enterLane(counts.account, accountRequests, signal);
      return {
        waitedMs: performance.now() - from,
        leave() {
          leaveAccount?.();
          leaveKey?.();
        },
      };
    } catch (error) {
      leaveKey?.();
      throw error;
    }
  }

  return {
    take: places.take,
    enter(caller, signal) {
      const isLimited = caller.limits.requests?.atOnce ?? caller.accountRequests?.atOnce;
      return isLimited === undefined ? undefined : enterBoth(caller, signal);
    },
  };
}

/** The calls that have waited longest take over; after the limit was lowered, nobody may. */
function admitWaiting(lane: Lane): void {
  for (const enter of lane.waiting) {
    if (lane.inside >= lane.atOnce) return;
    lane.inside += 1;
    enter();
  }
}

interface Wait {
  readonly atOnce: number;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
}

function waitInLane({ waiting }: Lane, { atOnce, waitSeconds, signal }: Wait): Promise<void> {
  if (waitSeconds === 0 || waiting.size >= WAITING_MAX) throw tooManyCalls(atOnce);
  return waitForTurn({
    signal,
    waitMsMax: waitSeconds * 1000,
    makeLateError: () => tooManyCalls(atOnce),
    join(onTurn) {
      waiting.add(onTurn);
      return () => waiting.delete(onTurn);
    },
  });
}
