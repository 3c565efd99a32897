// Expressions that put hours into the parts of a time, so that the database adds them up: a month of hours, each with all
// models, is thousands of documents, of which a chart shows a few hundred sums.
import type { Document } from 'mongodb';

interface Slot {
  readonly from: number;
  readonly until: number;
}

/** The start of the slot that a field's hour is in. */
export function buildSlotStart(field: string, slots: readonly Slot[]): Document {
  const [first = { from: 0 }, second] = slots;
  if (second === undefined) return { $literal: first.from };
  const length = second.from - first.from;
  const isEven = slots.every(({ from, until }, at) => from === first.from + at * length && until <= from + length);
  if (isEven) return { $subtract: [field, { $mod: [{ $subtract: [field, first.from] }, length] }] };
  return buildSearch(
    field,
    slots.map(({ from }) => from),
  );
}

/** By halves, because each document is asked, and an expression has at most 180 levels. */
function buildSearch(field: string, starts: readonly number[]): Document {
  const middle = Math.floor(starts.length / 2);
  if (middle === 0) return { $literal: starts[0] };
  const [before, after] = [starts.slice(0, middle), starts.slice(middle)];
  return { $cond: [{ $gte: [field, after[0]] }, buildSearch(field, after), buildSearch(field, before)] };
}
