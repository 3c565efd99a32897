// Expressions that put hours into the parts of a time, so that the database adds them up: a month of hours, each with all
// models, is thousands of documents, of which a chart shows a few hundred sums.
import type { Document } from 'mongodb';

/** The start of the part that a field's hour is in: the last one at or before it. */
export function buildSlotStart(field: string, starts: readonly number[]): Document {
  const [first = 0, second] = starts;
  if (second === undefined) return { $literal: first };
  const length = second - first;
  const isEven = starts.every((start, at) => start === first + at * length);
  if (isEven) return { $subtract: [field, { $mod: [{ $subtract: [field, first] }, length] }] };
  return buildSearch(field, starts);
}

/** By halves, because each document is asked, and an expression has at most 180 levels. */
function buildSearch(field: string, starts: readonly number[]): Document {
  const middle = Math.floor(starts.length / 2);
  if (middle === 0) return { $literal: starts[0] };
  const [before, after] = [starts.slice(0, middle), starts.slice(middle)];
  return { $cond: [{ $gte: [field, after[0]] }, buildSearch(field, after), buildSearch(field, before)] };
}
