// Delays the requests of a key that is refused again and again while other keys are active: reading and refusing bodies
// takes time that other calls need. The next paid call of the key ends the throttling.
import type { FinishedRequest } from '../http/access-log.ts';

export interface Throttle {
  /** How long a request of this key has to wait before it is processed. */
  computeWaitMs(key: string): number;
  /** Counts a finished request. */
  noteEnd(request: Pick<FinishedRequest, 'status' | 'bytes' | 'notes'>): void;
}

/** Consecutive refusals before throttling starts. Each MiB of refused body counts as one more. */
export const REFUSALS_MAX = 100;
/** The interval between requests of a throttled key; each MiB of refused body delays the next one by as much. */
export const EVERY_MS = 200;
/** Clients give up after a longer wait. */
export const WAIT_MAX_MS = 20_000;
/** Another key counts as active if it started a call within this window. */
export const OTHERS_MS = 2000;
/** Refusals are forgotten after this pause. */
export const FORGOTTEN_MS = 60_000;
/** All keys are forgotten when there are more; only frequent callers matter. */
const KEYS_MAX = 1000;
const MIB = 1024 * 1024;

interface RefusedKey {
  refusals: number;
  /** When the last refusal happened. */
  at: number;
  /** When the latest delayed request may start. */
  startsAt: number;
}

interface Started {
  readonly key: string;
  at: number;
}

export function createThrottle(now: () => number = () => performance.now()): Throttle {
  const rows = new Map<string, RefusedKey>();
  /** The latest undelayed requests of two different keys. */
  let latest: Started = { key: '', at: -OTHERS_MS };
  let other = latest;

  function noteStart(key: string): void {
    if (latest.key !== key) [latest, other] = [{ key, at: 0 }, latest];
    latest.at = now();
  }

  function areOthersActive(key: string): boolean {
    const { at } = latest.key === key ? other : latest;
    return now() - at < OTHERS_MS;
  }

  return {
    computeWaitMs(key) {
      const entry = rows.get(key);
      const at = now();
      if (!entry || entry.refusals < REFUSALS_MAX || at - entry.at >= FORGOTTEN_MS) {
        noteStart(key);
        return 0;
      }
      if (!areOthersActive(key)) return 0;
      entry.startsAt = Math.min(Math.max(entry.startsAt, at) + EVERY_MS, at + WAIT_MAX_MS);
      return entry.startsAt - at;
    },
    noteEnd({ status, bytes, notes }) {
      const { key, charged_micro: charged } = notes;
      if (typeof key !== 'string') return;
      if (charged !== undefined) {
        if (charged !== '0') rows.delete(key);
      } else if (isRefusal(status, notes)) {
        if (rows.size >= KEYS_MAX && !rows.has(key)) rows.clear();
        const at = now();
        const entry = rows.get(key);
        const before = entry && at - entry.at < FORGOTTEN_MS ? entry : { refusals: 0, startsAt: 0 };
        const startsAt = Math.max(before.startsAt, at) + (bytes / MIB) * EVERY_MS;
        rows.set(key, { refusals: before.refusals + 1 + bytes / MIB, at, startsAt });
      }
    },
  };
}

const NO_ROOM = new Set<unknown>(['no_room', 'no_room_for_answer']);
/** Found before the body is read. Who has a stolen key must not slow down its owner, who calls from an allowed address. */
const NOT_ADMITTED = new Set<unknown>(['expired_key', 'address_not_allowed']);

/** Ends that the client caused: a mistake, no money, too much at once, or a disconnect before the call. */
function isRefusal(status: number, { fault }: FinishedRequest['notes']): boolean {
  if (NOT_ADMITTED.has(fault)) return false;
  return (status >= 400 && status < 500) || status === 0 || NO_ROOM.has(fault);
}
