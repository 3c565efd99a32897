// What reports add up of the usage of calls.
import { TOKEN_NAMES } from './token-usage.ts';

/** The name of each sum in a stored `Usage`, in the order of a report. Reasoning is part of the output. */
export const UNIT_NAMES = {
  tokensInput: TOKEN_NAMES.input,
  tokensAudio: TOKEN_NAMES.audio,
  tokensCacheRead: TOKEN_NAMES.cacheRead,
  tokensCacheWrite: TOKEN_NAMES.cacheWrite,
  tokensCacheWrite1h: TOKEN_NAMES.cacheWrite1h,
  tokensOutput: TOKEN_NAMES.output,
  tokensReasoning: TOKEN_NAMES.reasoning,
  images: 'images',
  seconds: 'seconds',
} as const;

/** The name of a sum in code and in documents. */
export type UnitCount = keyof typeof UNIT_NAMES;

/** The name of a sum in a stored `Usage`, in reports and in tables. */
export type UsageUnit = (typeof UNIT_NAMES)[UnitCount];

export const UNIT_COUNTS = Object.keys(UNIT_NAMES) as readonly UnitCount[];

export const USAGE_UNITS: readonly UsageUnit[] = Object.values(UNIT_NAMES);

/** The most of a unit that one call of a service may state, so that sums of millions of calls stay exact. */
export const UNITS_MAX = 1_000_000_000;

/** A count for each name. */
export function mapUnits<Name extends UnitCount | UsageUnit>(
  names: readonly Name[],
  count: (name: Name) => number,
): Record<Name, number> {
  const counts = {} as Record<Name, number>;
  for (const name of names) counts[name] = count(name);
  return counts;
}
