// Limits the bytes of client data held in memory at once, in total and per key: what does not fit is refused, so no
// upload can exhaust the process.
import { fault } from '../faults.ts';

export interface BudgetLimits {
  /** For the whole process. */
  readonly bytesMax: number;
  /** For one owner, such as a key. */
  readonly ownerBytesMax: number;
}

export interface Budget {
  /** Opens an empty share, which the caller must always return. */
  open(owner: string): Share;
  /** Bytes held. */
  used(): number;
}

/** What one request holds. */
export interface Share {
  /** Grows the share by this many bytes. Throws a 503 fault if there is no room, leaving the share unchanged. */
  take(bytes: number): void;
  /** The same for a part that can be returned separately; undefined if there is no room. */
  part(bytes: number): (() => void) | undefined;
  /** Returns all of it; the share is then empty. */
  giveBack(): void;
}

/** A share up to this size is never refused because of larger ones. */
export const SMALL_BYTES = 64 * 1024;
/** This fraction of the whole is reserved for small shares. */
const SMALL_PART = 1 / 8;

export function createBudget({ bytesMax, ownerBytesMax }: BudgetLimits): Budget {
  const owners = new Map<string, number>();
  const largeMax = bytesMax * (1 - SMALL_PART);
  let used = 0;

  function move(owner: string, bytes: number): void {
    used += bytes;
    const left = (owners.get(owner) ?? 0) + bytes;
    if (left === 0) owners.delete(owner);
    else owners.set(owner, left);
  }

  return {
    open(owner) {
      let held = 0;
      /** Parts of an earlier round were returned with everything else. */
      let round = 0;

      function hold(bytes: number): boolean {
        const max = held + bytes > SMALL_BYTES ? largeMax : bytesMax;
        if (used + bytes > max || (owners.get(owner) ?? 0) + bytes > ownerBytesMax) return false;
        held += bytes;
        move(owner, bytes);
        return true;
      }
      function giveBack(bytes: number): void {
        held -= bytes;
        move(owner, -bytes);
      }

      return {
        take(bytes) {
          if (!hold(bytes)) throw fault('no_room');
        },
        part(bytes) {
          if (!hold(bytes)) return undefined;
          let of: number | undefined = round;
          return () => {
            if (of === round) giveBack(bytes);
            of = undefined;
          };
        },
        giveBack() {
          giveBack(held);
          round += 1;
        },
      };
    },
    used: () => used,
  };
}
