// The spans of a time as intervals that are read once each: what one part gets from its neighbour is the neighbour's too.
import type { AggregateOptions, Document } from 'mongodb';
import { listTimes, type TimeSpan } from '../time-spans.ts';

/** Of sums of one grain, and the parts of the time that it is added to or taken away from. */
interface Interval {
  readonly from: number;
  readonly until: number;
  readonly places: readonly Pick<TimeSpan<string>, 'start' | 'sign'>[];
}

type Intervals<Grain extends string> = ReadonlyMap<Grain, readonly Interval[]>;

/** Cut where any span begins or ends. */
export function listIntervals<Grain extends string>(spans: readonly TimeSpan<Grain>[]): Intervals<Grain> {
  const byGrain = Map.groupBy(spans, ({ grain }) => grain);
  return new Map([...byGrain].map(([grain, list]) => [grain, cutSpans(list)]));
}

function cutSpans(spans: readonly TimeSpan<string>[]): readonly Interval[] {
  const cuts = [...new Set(spans.flatMap(({ from, until }) => [from, until]))].sort((one, other) => one - other);
  return cuts.slice(1).flatMap((until, at) => {
    const from = cuts[at] as number;
    const places = spans.filter((span) => span.from <= from && until <= span.until);
    return places.length === 0 ? [] : [{ from, until, places }];
  });
}

interface Range {
  readonly from: number;
  readonly until: number;
}

/**
 * A condition for the time of sums that lie in some ranges and are `ms` long each. Ranges that meet are one; several are
 * few sums each, the edges of days or weeks, whose times are faster to look up than an `$or` of ranges is to plan.
 */
export function matchRanges(ranges: readonly Range[], ms: number): Document {
  const merged: { from: number; until: number }[] = [];
  for (const { from, until } of ranges) {
    const last = merged.at(-1);
    if (last?.until === from) last.until = until;
    else merged.push({ from, until });
  }
  const [first, ...others] = merged;
  if (first && others.length === 0) return { $gte: first.from, $lt: first.until };
  return { $in: merged.flatMap((range) => listTimes(range, ms)) };
}

/** Most charts have fewer sums, and most services fewer accounts: those come in one answer. */
export const BATCH = 2000;

/** What is taken away again has to be what was added. */
export function readConsistently(spans: readonly TimeSpan<string>[]): Pick<AggregateOptions, 'readConcern'> {
  return spans.some(({ sign }) => sign < 0) ? { readConcern: { level: 'snapshot' } } : {};
}

interface Sum<Grain extends string, Totals> {
  readonly grain: Grain;
  /** The start of its interval. */
  readonly at: number;
  readonly name: string;
  readonly totals: Totals;
}

type Placed<Totals> = Totals & { readonly at: number; readonly name: string };

/** Adds the sums of intervals up to those of parts, by name. */
export function placeSums<Grain extends string, Totals extends object>(
  sums: readonly Sum<Grain, Totals>[],
  intervals: Intervals<Grain>,
  add: (one: Totals | undefined, other: Totals, sign: 1 | -1) => Totals,
): readonly Placed<Totals>[] {
  const known = [...intervals].flatMap(([grain, list]) => list.map((each) => [`${grain} ${each.from}`, each] as const));
  const byStart = new Map(known);
  const placed = new Map<string, Placed<Totals>>();
  for (const { grain, at, name, totals } of sums) {
    for (const { start, sign } of byStart.get(`${grain} ${at}`)?.places ?? []) {
      const key = `${start} ${name}`;
      placed.set(key, { ...add(placed.get(key), totals, sign), at: start, name });
    }
  }
  return [...placed.values()];
}
