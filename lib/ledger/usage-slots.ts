// The usage of an account by parts of a time, such as days, and by model, key or kind: what a stacked chart shows.
import type { UsageQuery, UsageSlotSum, UsageStore, UsageTotals } from '../store/ports/usage.ts';
import { addUsageTotals, NO_USAGE } from '../store/usage-totals.ts';

interface Slot {
  /** Whole hours, ms since the epoch; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

interface SlotQuery extends Pick<UsageQuery, 'key' | 'keys' | 'model' | 'kind' | 'counts'> {
  /** In order, without gaps. */
  readonly slots: readonly Slot[];
  readonly by: 'model' | 'key' | 'kind';
}

export interface UsageGroup {
  readonly name: string;
  readonly total: UsageTotals;
  /** One for each slot. */
  readonly slots: readonly UsageTotals[];
}

export interface SlottedUsage {
  readonly total: UsageTotals;
  /** Those with the highest charge first. */
  readonly groups: readonly UsageGroup[];
}

/** As far as the usage of the account is folded. */
export async function readUsageSlots(
  usage: Pick<UsageStore, 'slots'>,
  wallet: string,
  { slots, ...query }: SlotQuery,
): Promise<SlottedUsage> {
  const last = slots.at(-1);
  if (!last) return { total: NO_USAGE, groups: [] };
  const starts = slots.map(({ from }) => from);
  return sumSlots(await usage.slots(wallet, { ...query, starts, to: last.to }), starts);
}

/** Adds groups together: those of keys become those of people. */
export function regroupUsage({ total, groups }: SlottedUsage, nameGroup: (name: string) => string): SlottedUsage {
  const merged = [...Map.groupBy(groups, ({ name }) => nameGroup(name))].map(([name, parts]) => ({
    name,
    total: parts.map((part) => part.total).reduce(addUsageTotals, NO_USAGE),
    slots: (parts[0]?.slots ?? []).map((_, at) =>
      parts.reduce((sum, part) => addUsageTotals(sum, part.slots[at] ?? NO_USAGE), NO_USAGE),
    ),
  }));
  return { total, groups: merged.sort(compareGroups) };
}

function sumSlots(rows: readonly UsageSlotSum[], starts: readonly number[]): SlottedUsage {
  const places = new Map(starts.map((start, at) => [start, at]));
  const sums = new Map<string, UsageTotals[]>();
  for (const { at, group, ...totals } of rows) {
    const slots = sums.get(group) ?? starts.map(() => NO_USAGE);
    sums.set(group, slots);
    // The store has one sum of each part and group.
    slots[places.get(at) ?? 0] = totals;
  }
  const groups = [...sums].map(([name, slots]) => ({ name, slots, total: slots.reduce(addUsageTotals, NO_USAGE) }));
  return {
    groups: groups.sort(compareGroups),
    total: groups.map(({ total }) => total).reduce(addUsageTotals, NO_USAGE),
  };
}

/** The highest charge comes first. */
export function compareGroups(
  { total: one }: Pick<UsageGroup, 'total'>,
  { total: other }: Pick<UsageGroup, 'total'>,
): number {
  if (one.charged === other.charged) return other.calls - one.calls;
  return one.charged > other.charged ? -1 : 1;
}
