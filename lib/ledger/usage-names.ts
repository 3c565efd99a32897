// The usage of an account by key, kind and model at once: what any two of them are added up from.
import type { UsageQuery, UsageStore, UsageTotals } from '../store/ports/usage.ts';
import { addUsageTotals, NO_USAGE } from '../store/usage-totals.ts';
import { compareGroups } from './usage-slots.ts';

export interface NamedUsage {
  readonly key: string;
  readonly kind: string;
  readonly model: string;
  readonly total: UsageTotals;
}

/** What a part of the usage adds up to. */
export interface UsagePart {
  readonly name: string;
  readonly total: UsageTotals;
}

/** As far as the usage of the account is folded. */
export async function readUsageNames(
  usage: Pick<UsageStore, 'sums'>,
  wallet: string,
  query: Omit<UsageQuery, 'by'>,
): Promise<readonly NamedUsage[]> {
  const sums = await usage.sums(wallet, { ...query, by: 'names' });
  return sums.map(({ group, ...total }) => {
    const [key = '', kind = '', ...model] = group.split(' ');
    return { key, kind, model: model.join(' '), total };
  });
}

/** Those with the highest charge first. */
export function addUpNames(rows: readonly NamedUsage[], name: (row: NamedUsage) => string): readonly UsagePart[] {
  const groups = [...Map.groupBy(rows, name)].map(([each, some]) => ({
    name: each,
    total: some.map(({ total }) => total).reduce(addUsageTotals, NO_USAGE),
  }));
  return groups.sort(compareGroups);
}
