// Untrusted token counts in replies.

import type { CountNames, TokenCounts } from '../contract/format.ts';
import { readFields } from './fields.ts';

/** A count from 0 on, also as text. */
export function readCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= 0) || number > Number.MAX_SAFE_INTEGER) return undefined;
  return Math.ceil(number);
}

/** The first count above zero, else zero if any is there: of several names, servers fill one. */
export function findCount(...values: readonly unknown[]): number | undefined {
  let found: number | undefined;
  for (const value of values) {
    const count = readCount(value);
    if (count !== undefined && count > 0) return count;
    found ??= count;
  }
  return found;
}

/** An object's counts with these names, those of a kind added up. */
export function sumNamedCounts(value: unknown, names: CountNames): TokenCounts {
  const fields = readFields(value);
  const counts: { -readonly [Name in keyof TokenCounts]: number } = {};
  for (const kind of KINDS) {
    const found = (names[kind] ?? []).map((name) => readCount(fields[name])).filter((count) => count !== undefined);
    if (found.length > 0) counts[kind] = found.reduce((sum, count) => sum + count, 0);
  }
  return counts;
}

const KINDS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;
