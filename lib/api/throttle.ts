// A key whose requests are refused again and again waits before each further one while others call: reading and refusing
// them takes time that their calls would need. Its next paid call ends that.
import type { FinishedRequest } from '../http/access-log.ts';

export interface Throttle {
  /** How long a request of this key has to wait before anything is done for it, in ms. */
  computeWaitMs(key: string): number;
  /** Takes note of how a request ended. */
  noteEnd(request: Pick<FinishedRequest, 'status' | 'bytes' | 'notes'>): void;
}

/** Refusals in a row, without a paid call between, each MiB of their bodies one more; no client that works gets there. */
export const REFUSALS_MAX = 100;
/** From then on a request of the key starts so often, and so much later for each MiB that was refused. */
export const EVERY_MS = 200;
/** A client that waits longer would give up. */
export const WAIT_MAX_MS = 20_000;
/** Somebody else is there if a call of theirs began so recently. */
export const OTHERS_MS = 2000;
/** After such a pause refusals are counted anew. */
export const FORGOTTEN_MS = 60_000;
/** Beyond that all are forgotten: it is only about who comes often. */
const KEYS_MAX = 1000;
const MIB = 1024 * 1024;

interface RefusedKey {
  refusals: number;
  /** The last of them. */
  at: number;
  /** When the last request that had to wait may start. */
  startsAt: number;
}

interface Started {
  readonly key: string;
  at: number;
}

export function createThrottle(now: () => number = () => performance.now()): Throttle {
  const rows = new Map<string, RefusedKey>();
  /** The last requests that did not have to wait, of two keys. */
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

/** The client's doing: a mistake, no money, too much at once, or it left before its call began. */
function isRefusal(status: number, { fault }: FinishedRequest['notes']): boolean {
  return (status >= 400 && status < 500) || status === 0 || fault === 'no_room';
}
