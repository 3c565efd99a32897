// Expressions that put hours into the parts of a time, so that the database adds them up: a month of hours, each with all
// models, is thousands of documents, of which a chart shows a few hundred sums.
import type { Document } from 'mongodb';

/** Each is a level of the expression, and documents have at most 180. */
const BRANCHES_MAX = 40;

/** The start of the part that a field's hour is in; the hour itself if there are too many parts, for the caller to add up. */
export function buildSlotStart(field: string, starts: readonly number[]): Document | string {
  const [first = 0, second] = starts;
  if (second === undefined) return { $literal: first };
  const length = second - first;
  const isEven = starts.every((start, at) => start === first + at * length);
  if (isEven) return { $subtract: [field, { $mod: [{ $subtract: [field, first] }, length] }] };
  if (starts.length > BRANCHES_MAX) return field;
  // The last start at or before the hour is asked for first.
  return starts.reduce<Document | string>((rest, start) => ({ $cond: [{ $gte: [field, start] }, start, rest] }), field);
}
