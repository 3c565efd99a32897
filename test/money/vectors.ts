// Random price vectors of each model type, and what they charge for a usage as exact fractions.
import fc from 'fast-check';
import type { PinnedCost } from '../../lib/money/cost.ts';
import { type PriceVector, type TextPrice, TOKEN_RATES, type VideoPrice } from '../../lib/money/price.ts';

const LABELS = ['480p', '720p', '1080p'] as const;

export const micro = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 100_000_000_000n }));
const rates = fc.record(
  { input: micro, audio: micro, cacheRead: micro, cacheWrite: micro, cacheWrite1h: micro, output: micro },
  { requiredKeys: ['input', 'output'] },
);
export const text: fc.Arbitrary<TextPrice> = fc
  .tuple(rates, fc.array(fc.tuple(fc.integer({ min: 1, max: 1000 }), rates), { maxLength: 3 }))
  .map(([own, listed]) => {
    const limits = [...new Map(listed)].sort(([one], [other]) => one - other);
    return limits.length > 0 ? { ...own, bands: limits.map(([above, prices]) => ({ above, ...prices })) } : own;
  });
export const perSecond: fc.Arbitrary<VideoPrice> = fc.oneof(
  micro.map((second) => ({ unit: 'second' as const, second })),
  fc.tuple(micro, micro, micro).map((each) => ({
    unit: 'second' as const,
    byResolution: new Map(LABELS.map((label, at) => [label, each[at] as bigint])),
  })),
);

/** Vectors of one model. */
export function vectorsOf<T extends PriceVector>(vector: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> {
  return fc.array(vector, { minLength: 1, maxLength: 4 });
}

export const sameType: fc.Arbitrary<readonly PriceVector[]> = fc.oneof(
  vectorsOf<PriceVector>(text),
  vectorsOf<PriceVector>(micro.map((input) => ({ input }))),
  vectorsOf<PriceVector>(micro.map((request) => ({ request }))),
  vectorsOf<PriceVector>(perSecond),
  vectorsOf<PriceVector>(micro.map((request) => ({ unit: 'request' as const, request }))),
);

export const rate = fc.bigInt({ min: 1n, max: 1_000_000_000n });

export function pin(prices: PriceVector, rub: bigint): PinnedCost {
  return { currency: 'USD', prices, rate: { rub, from: '2026-11-26' }, stored: '' };
}

/** Every price of a vector that one call may meet, by what it is for: the lengths of prompts around each band. */
export function readMembers(vector: PriceVector, prompts: readonly number[]): ReadonlyMap<string, bigint> {
  if ('unit' in vector) {
    if (vector.unit === 'request') return new Map([['request', vector.request]]);
    const second = (label: string) => ('second' in vector ? vector.second : (vector.byResolution.get(label) as bigint));
    return new Map(LABELS.map((label) => [label, second(label)]));
  }
  if ('request' in vector) return new Map([['request', vector.request]]);
  if (!('output' in vector)) return new Map([['input', vector.input]]);
  return new Map(
    prompts.flatMap((prompt) => {
      let at: TextPrice = vector;
      for (const band of vector.bands ?? []) if (prompt > band.above) at = band;
      return TOKEN_RATES.map((kind) => [`${kind} ${prompt}`, at[kind] ?? at.input] as const);
    }),
  );
}

/** The lengths of prompts at which any of the vectors may change. */
export function listPrompts(vectors: readonly PriceVector[]): readonly number[] {
  const limits = vectors.flatMap((vector) => ('bands' in vector ? (vector.bands ?? []).map(({ above }) => above) : []));
  return [0, ...limits.flatMap((above) => [above, above + 1])];
}
