// Which sums a time is added up from: a month of hours with all their models is thousands of rows, but only some hundreds of
// days. A part of the time is read by the sums of the coarsest grain that lie in it for the most; the finer ones between
// its edges and theirs are added, or taken away again: a day in Moscow is one by UTC, three hours more and three less.

import { DAY_MS, HOUR_MS, WEEK_MS } from '../base/durations.ts';

/** How long what sums are kept by is, ms. Days are those of UTC, and weeks begin with the epoch's first day. */
export const GRAIN_MS = { week: WEEK_MS, day: DAY_MS, hour: HOUR_MS } as const;

/** The coarsest first. */
export const GRAINS = [
  ['week', GRAIN_MS.week],
  ['day', GRAIN_MS.day],
  ['hour', GRAIN_MS.hour],
] as const;

/** A range of sums of one grain, `until` exclusive, and the part of the time that it counts for. */
export interface TimeSpan<Grain extends string> {
  readonly grain: Grain;
  readonly start: number;
  readonly from: number;
  readonly until: number;
  /** -1: taken away. */
  readonly sign: 1 | -1;
}

/** The name of a grain, and its length in ms. */
type Lengths<Grain extends string> = readonly (readonly [Grain, number])[];

/** `starts`: of the parts, in order, the last of which ends at `to`; `grains`: the coarsest first. */
export function splitTime<Grain extends string>(
  starts: readonly number[],
  to: number,
  grains: Lengths<Grain>,
): readonly TimeSpan<Grain>[] {
  return starts.flatMap((start, at) => {
    const spans = splitPart(start, starts[at + 1] ?? to, grains);
    return spans.map((span) => ({ start, ...span }));
  });
}

/** Of the sums in a range, each `ms` long. */
export function listTimes({ from, until }: { readonly from: number; readonly until: number }, ms: number): number[] {
  return Array.from({ length: (until - from) / ms }, (_, at) => from + at * ms);
}

type Span<Grain extends string> = Omit<TimeSpan<Grain>, 'start'>;

function splitPart<Grain extends string>(from: number, until: number, grains: Lengths<Grain>): readonly Span<Grain>[] {
  const [coarsest, ...finer] = grains;
  if (!coarsest || from >= until) return [];
  const [grain, ms] = coarsest;
  if (finer.length === 0) return [{ grain, from, until, sign: 1 }];
  const [first, end] = [from, until].map((at) => Math.round(at / ms) * ms) as [number, number];
  const edges = Math.abs(first - from) + Math.abs(end - until);
  // As much between the edges as in the part would be read besides.
  if (first >= end || edges >= until - from) return splitPart(from, until, finer);
  return [
    { grain, from: first, until: end, sign: 1 },
    ...splitEdge(from, first, finer),
    ...splitEdge(end, until, finer),
  ];
}

/** Taken away if it goes back. */
function splitEdge<Grain extends string>(from: number, until: number, grains: Lengths<Grain>): readonly Span<Grain>[] {
  if (from <= until) return splitPart(from, until, grains);
  return splitPart(until, from, grains).map((span) => ({ ...span, sign: span.sign === 1 ? -1 : 1 }));
}
