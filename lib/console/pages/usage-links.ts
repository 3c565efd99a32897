// Where the bars and the rows of the usage page lead: one level deeper, at last to the calls.
import { findHourDay } from '../../money/days.ts';
import { chargeQueryText } from '../charge-query.ts';
import type { TimeSlot } from '../time-slots.ts';
import { mayVisit, type OwnerVisit } from '../visit.ts';
import type { Stack, UsageView } from './usage-view.ts';

/** What a row is of, by its name in the query. */
export type Picks = Readonly<Partial<Record<Stack, string>>>;

/** A month leads to its days, a day to its hours, an hour to the calls of its day; undefined: nowhere. */
export function linkToSlot(
  visit: OwnerVisit,
  slot: TimeSlot,
  { unit }: Pick<UsageView, 'unit'>,
  picks: Picks = {},
): string | undefined {
  if (picks.member === '') return undefined;
  const end = findHourDay(slot.to - 1, visit.zone);
  if (unit === 'hour') return linkToCalls(visit, { ...picks, from: slot.day, to: slot.day });
  const whole = Object.keys(picks).length > 0 && { split: undefined };
  return `${visit.path}${chargeQueryText(visit, { ...picks, ...whole, from: slot.day, to: end, unit: undefined })}`;
}

/** Undefined for those who see sums only. */
function linkToCalls(visit: OwnerVisit, filter: Readonly<Record<string, string | undefined>>): string | undefined {
  if (!mayVisit(visit, '/account/calls')) return undefined;
  // The list of calls has no filter of people.
  const isByKey = Boolean(filter.key ?? visit.query.get('key'));
  if ((filter.member ?? visit.query.get('member')) && !isByKey) return undefined;
  const none = { by: undefined, split: undefined, unit: undefined, show: undefined, compare: undefined };
  return `/account/calls${chargeQueryText(visit, { ...none, ...filter, member: undefined, sort: 'price' })}`;
}

/** A person and a model lead to their keys, a key and a type to their models, a model and a key to the calls. */
export function linkToGroup(visit: OwnerVisit, view: UsageView, picks: Picks): string | undefined {
  if (picks.member === '') return undefined;
  const order = picks.member === undefined ? (['model', 'key'] as const) : (['key', 'model'] as const);
  const next = order.find((name) => !(picks[name] ?? visit.query.get(name)));
  if (next === undefined) return linkToCalls(visit, { ...picks, from: view.first, to: view.last });
  return `${visit.path}${chargeQueryText(visit, { ...picks, by: next, split: undefined })}`;
}
