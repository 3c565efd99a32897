// How many calls cost the minimum price: hourly sums don't say so, so calls are read, the newest ones of many.
import { TEXT_MINIMUM } from '../../money/price.ts';
import type { ChargeFilter, LedgerStore } from '../../store/ports/ledger.ts';
import { searchCharges } from '../charge-search.ts';

/** Reading so many takes some 20 ms. */
const CALLS_MAX = 2000;

export interface MinimumCount {
  /** Charged calls for text or embeddings that cost the minimum, and all of them. */
  readonly count: number;
  readonly of: number;
  /** Older calls were not read. */
  readonly isPart: boolean;
}

/** `calls`: how many the filter finds, archived ones too. Undefined if no call that was read has a minimum price. */
export async function countMinimum(
  ledger: Pick<LedgerStore, 'wallet' | 'entries' | 'charges'>,
  wallet: string,
  {
    filter,
    calls,
    limit = CALLS_MAX,
  }: { readonly filter: ChargeFilter; readonly calls: number; readonly limit?: number },
): Promise<MinimumCount | undefined> {
  if (calls === 0) return undefined;
  const { charges } = await searchCharges(ledger, wallet, { filter, limit });
  const settled = charges.filter(({ kind, state }) => state === 'settled' && (kind === 'text' || kind === 'embedding'));
  if (settled.length === 0) return undefined;
  const count = settled.filter(({ charged }) => charged === TEXT_MINIMUM).length;
  return { count, of: settled.length, isPart: charges.length === limit || charges.length < calls };
}
