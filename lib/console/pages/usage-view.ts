// What of its usage somebody wants to see: the time, whose calls, and how they are grouped and shown, as the query says.
import { DAY_MS } from '../../base/durations.ts';
import { addDays, findHourDay } from '../../money/days.ts';
import type { ChargeQuery } from '../charge-query.ts';
import type { KeyOwner } from '../key-owners.ts';
import { chooseUnit, type SlotUnit } from '../time-slots.ts';
import type { OwnerVisit } from '../visit.ts';

/** The overview has the same days. */
export const USAGE_RANGE = { days: 30, byHours: true } as const;
const DAYS_MAX = 3660;

export const USAGE_SHOWS = ['charged', 'calls', 'tokens', 'failed'] as const;
export type Show = (typeof USAGE_SHOWS)[number];
const STACKS = ['model', 'key', 'kind', 'member'] as const;
export type Stack = (typeof STACKS)[number];

export interface UsageView {
  readonly first: string;
  readonly last: string;
  readonly unit: SlotUnit;
  /** What the table is grouped by. */
  readonly by: 'day' | Stack;
  /** What its rows are split by, if they are. */
  readonly split?: Stack | undefined;
  /** What the bars are stacked by. */
  readonly stack: Stack;
  readonly show: Show;
  readonly isCompared: boolean;
}

export function readUsageView(
  { query, services, zone }: OwnerVisit,
  { from, to }: ChargeQuery,
  owners: readonly KeyOwner[],
): UsageView {
  const today = findHourDay(services.now(), zone);
  const begin = from ?? today;
  const last = to ?? begin;
  // Nobody has calls of longer ago, and every day takes time.
  const earliest = addDays(last, 1 - DAYS_MAX);
  // biome-ignore lint/complexity/useMathMinMax: they are texts
  const first = begin < earliest ? earliest : begin;
  const stacks = listStacks(owners);
  const by = stacks.find((name) => name === query.get('by')) ?? 'day';
  const split = stacks.find((name) => name === query.get('split') && name !== by);
  return {
    first,
    last,
    by,
    split,
    stack: by === 'day' ? (split ?? 'model') : by,
    unit: chooseUnit(query.get('unit'), countDays(first, last)),
    show: USAGE_SHOWS.find((name) => name === query.get('show')) ?? 'charged',
    isCompared: query.get('compare') === 'yes',
  };
}

/** By members only for those who see keys of several. */
export function listStacks(owners: readonly KeyOwner[]): readonly Stack[] {
  return STACKS.filter((name) => name !== 'member' || owners.length > 0);
}

export function countDays(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
}

/** Only the calls with the keys of somebody, if the query names them. */
export function selectMember({ query }: OwnerVisit, selection: ChargeQuery, owners: readonly KeyOwner[]): ChargeQuery {
  const owner = owners.find(({ id }) => id !== '' && id === query.get('member'));
  return owner ? { ...selection, filter: { ...selection.filter, keys: owner.keys } } : selection;
}
