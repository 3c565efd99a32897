// Untrusted token counts in replies.

import type { CountNames, TokenCounts } from '../contract/format.ts';
import type { JsonObject } from '../contract/request.ts';
import { fieldsOf } from './fields.ts';

/** A count from 0 on, also as text. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= 0) || number > Number.MAX_SAFE_INTEGER) return undefined;
  return Math.ceil(number);
}

/** A plausible count, also as text; zero is what servers send before counting, so it means absent. */
export function tokenCountOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !(number > 0) || number > Number.MAX_SAFE_INTEGER) return undefined;
  return Math.ceil(number);
}

/** The sum of what is there; undefined if nothing is. */
export function addCounts(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0);
}

/** An object's counts with these names, added up. */
export function namedCountsOf(value: unknown, { input, output }: CountNames): TokenCounts {
  const fields = fieldsOf(value);
  return countsOf(sumNamed(fields, input), sumNamed(fields, output));
}

export function countsOf(input: number | undefined, output: number | undefined): TokenCounts {
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
}

function sumNamed(fields: JsonObject, names: readonly string[]): number | undefined {
  return names.map((name) => tokenCountOf(fields[name])).reduce(addCounts, undefined);
}
