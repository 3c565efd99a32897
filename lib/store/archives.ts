// The rules of removing archived calls, the same for each store.
import { isDeepStrictEqual } from 'node:util';
import type { Attempt } from '../money/attempt.ts';
import type { Charge, Entry } from '../money/decide.ts';
import { listChargeOperationIds } from '../money/replay.ts';
import type { Archive, Opening, WholeCall } from './ports/archives.ts';
import { markRow } from './row-mark.ts';
import { StoreError } from './store.ts';

/** An opening as a row with an id, for its mark. */
export function openingRow(opening: Opening): Opening & { readonly id: string } {
  return { id: opening.wallet, ...opening };
}

export const markOpening = (opening: Opening): string => markRow(openingRow(opening));
export const markArchive = (archive: Archive): string => markRow(archive);

interface CallRows {
  readonly charges: readonly Charge[];
  readonly entries: readonly Entry[];
  readonly attempts: readonly Attempt[];
}

/** All entry ids that the calls can have, including entries made after the archive was written. */
export function listEntryIds(calls: readonly WholeCall[]): readonly string[] {
  return calls.flatMap(({ charge }) => listChargeOperationIds(charge.id));
}

/**
 * Selects the calls that are still in the store. A call with an entry after the opening stays entirely: the opening covers
 * only its earlier entries. Throws if a call differs from its archived copy, or is not covered by the opening yet.
 */
export function selectRemovableCalls(
  calls: readonly WholeCall[],
  rows: CallRows,
  opened: number,
): readonly WholeCall[] {
  const charges = new Map(rows.charges.map((charge) => [charge.id, charge]));
  const entries = Map.groupBy(rows.entries, ({ charge }) => charge);
  const attempts = Map.groupBy(rows.attempts, ({ charge }) => charge);
  return calls.filter((call) => {
    const { id } = call.charge;
    const charge = charges.get(id);
    const found = entries.get(id) ?? [];
    if (!charge && found.length === 0) return false;
    const ordered = found.toSorted((a, b) => a.seq - b.seq);
    const isLonger =
      ordered.length > call.entries.length && ordered.every(({ seq }, at) => at < call.entries.length || seq > opened);
    if (isLonger && isDeepStrictEqual(ordered.slice(0, call.entries.length), call.entries)) return false;
    const same =
      isDeepStrictEqual(charge, call.charge) &&
      isDeepStrictEqual(ordered, call.entries) &&
      isDeepStrictEqual(attempts.get(id) ?? [], call.attempts);
    if (same && ordered.every(({ seq }) => seq <= opened)) return true;
    throw new StoreError(`the call ${id} is not as it was archived`, 'no', undefined, 'batch');
  });
}
