// The rules of removing archived calls, the same for each store.
import { isDeepStrictEqual } from 'node:util';
import type { Charge, Entry } from '../money/decide.ts';
import { listChargeOperationIds } from '../money/replay.ts';
import type { Archive, Opening, WholeCall } from './ports/archives.ts';
import { markRow } from './row-mark.ts';
import { StoreError } from './store.ts';

/** As a row with an id, which has a mark. */
export function openingRow(opening: Opening): Opening & { readonly id: string } {
  return { id: opening.wallet, ...opening };
}

export const markOpening = (opening: Opening): string => markRow(openingRow(opening));
export const markArchive = (archive: Archive): string => markRow(archive);

/** The rows that a store has of some calls. */
export interface CallRows {
  readonly charges: readonly Charge[];
  readonly entries: readonly Entry[];
}

/** The ids of the entries that calls can have, including those that no archive knows. */
export function listEntryIds(calls: readonly WholeCall[]): readonly string[] {
  return calls.flatMap(({ charge }) => listChargeOperationIds(charge.id));
}

/**
 * The calls that are still there. One that has a further entry since then stays as a whole: its earlier entries are in the
 * opening, the new one is behind it. Throws if one is not as it was archived, or not yet within the opening.
 */
export function selectRemovableCalls(
  calls: readonly WholeCall[],
  rows: CallRows,
  opened: number,
): readonly WholeCall[] {
  const charges = new Map(rows.charges.map((charge) => [charge.id, charge]));
  const entries = Map.groupBy(rows.entries, ({ charge }) => charge);
  return calls.filter((call) => {
    const { id } = call.charge;
    const [charge, found = []] = [charges.get(id), entries.get(id)];
    if (!charge && found.length === 0) return false;
    const ordered = found.toSorted((a, b) => a.seq - b.seq);
    const isLonger =
      ordered.length > call.entries.length && ordered.every(({ seq }, at) => at < call.entries.length || seq > opened);
    if (isLonger && isDeepStrictEqual(ordered.slice(0, call.entries.length), call.entries)) return false;
    const same = isDeepStrictEqual(charge, call.charge) && isDeepStrictEqual(ordered, call.entries);
    if (same && ordered.every(({ seq }) => seq <= opened)) return true;
    throw new StoreError(`the call ${id} is not as it was archived`, 'no', undefined, 'batch');
  });
}
