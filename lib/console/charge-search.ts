// Searches the calls of an account by a filter, part by part: an account with a million calls is read for seconds if few of
// them match. A part is some thousand entries of the journal, whose numbers say where it begins without reading it.
import type { Charge } from '../money/decide.ts';
import type { ChargeFilter, JournalPart, LedgerStore } from '../store/ports/ledger.ts';

/** About half as many calls, which take some 20 ms to read. */
const ENTRIES_PER_PART = 20_000;
const PARTS_MAX = 1000;

interface ChargeSearch {
  readonly filter: ChargeFilter;
  readonly limit: number;
  /** Only charges after this one. */
  readonly before?: string | undefined;
  /** The entry above which everything was searched; the newest one by default. */
  readonly upTo?: number | undefined;
  /** Everything, however long it takes. */
  readonly isWhole?: boolean;
}

export interface FoundCharges {
  readonly charges: readonly Charge[];
  /** The entry above which everything was searched before; absent if there are no parts. */
  readonly upTo?: number;
  /** Where to go on if there is more to search: an entry and its time. */
  readonly rest?: { readonly upTo: number; readonly at: number };
}

type LedgerReads = Pick<LedgerStore, 'wallet' | 'entries' | 'charges'>;

export async function searchCharges(ledger: LedgerReads, wallet: string, search: ChargeSearch): Promise<FoundCharges> {
  const { filter, limit, before, isWhole = false } = search;
  const read = (part?: JournalPart) =>
    ledger.charges(wallet, { limit, filter, ...(part && { part }), ...(before !== undefined && { before }) });
  const isFiltered = [filter.key, filter.keys, filter.model, filter.kind, filter.state].some(
    (part) => part !== undefined,
  );
  if (isWhole || !isFiltered) return { charges: await read() };
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = filter;
  const findTime = async (seq: number) => (await ledger.entries(wallet, { before: seq + 1, limit: 1 }))[0]?.at ?? 0;
  // The newest part has no end: calls may begin meanwhile.
  let upTo = search.upTo ?? Number.MAX_SAFE_INTEGER - 1;
  let end = search.upTo === undefined ? Number.MAX_SAFE_INTEGER : await findTime(upTo);
  const newest = Math.min(upTo, (await ledger.wallet(wallet))?.seq ?? 0);
  for (let part = 0; part < PARTS_MAX; part += 1) {
    const low = Math.max(0, newest - (part + 1) * ENTRIES_PER_PART);
    const start = low > 0 ? await findTime(low) : 0;
    // Nothing of this part is asked for.
    if (start >= to) {
      upTo = low;
      end = start;
      continue;
    }
    const charges = await read({ above: low, upTo, from: start, to: end });
    const isOver = start <= from || charges.length === limit;
    return { charges, upTo: Math.min(upTo, newest), ...(!isOver && { rest: { upTo: low, at: start } }) };
  }
  return { charges: [] };
}
