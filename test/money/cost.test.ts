// What a vendor charges for a call, against exact fractions.
import { expect } from 'chai';
import fc from 'fast-check';
import { computeCost, convertToRub, readCost, serializeCost } from '../../lib/money/cost.ts';
import type { PriceVector, TextPrice, Tokens } from '../../lib/money/price.ts';
import { nameTokens } from '../../lib/money/token-usage.ts';
import { longer } from '../../testkit/long.ts';

/** A fraction of integers, the denominator above zero. */
interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const MILLION = 1_000_000n;

function add(...all: readonly Fraction[]): Fraction {
  return all.reduce(
    (sum, { over, under }) => ({ over: sum.over * under + over * sum.under, under: sum.under * under }),
    { over: 0n, under: 1n },
  );
}

/** The nearest integer, half up, by comparing distances instead of adding a half. */
function round({ over, under }: Fraction): bigint {
  const floor = over / under;
  return 2n * (over - floor * under) >= under ? floor + 1n : floor;
}

const micro = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 100_000_000_000n }));
const rates = fc.record(
  { input: micro, cacheRead: micro, cacheWrite: micro, cacheWrite1h: micro, output: micro },
  { requiredKeys: ['input', 'output'] },
);
const text: fc.Arbitrary<TextPrice> = fc
  .tuple(rates, fc.array(fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), rates), { maxLength: 3 }))
  .map(([own, listed]) => {
    const limits = [...new Map(listed)].sort(([one], [other]) => one - other);
    return limits.length > 0 ? { ...own, bands: limits.map(([above, prices]) => ({ above, ...prices })) } : own;
  });
const count = fc.oneof(fc.nat(100), fc.nat(1_000_000));
const tokens: fc.Arbitrary<Tokens> = fc.record(
  { input: count, cacheRead: count, cacheWrite: count, cacheWrite1h: count, output: count, reasoning: count },
  { requiredKeys: ['input', 'output'] },
);
const video: fc.Arbitrary<PriceVector> = fc.oneof(
  micro.map((second) => ({ unit: 'second' as const, second })),
  micro.map((request) => ({ unit: 'request' as const, request })),
  fc
    .array(fc.tuple(fc.constantFrom('480p', '720p', '1080p', '2k'), micro), { minLength: 1 })
    .map((labels) => ({ unit: 'second' as const, byResolution: new Map(labels) })),
);
const vector: fc.Arbitrary<PriceVector> = fc.oneof(
  text,
  micro.map((input) => ({ input })),
  micro.map((request) => ({ request })),
  video,
);

function costExactly(price: TextPrice, used: Tokens): Fraction {
  const { input, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output } = used;
  const prompt = input + cacheRead + cacheWrite + cacheWrite1h;
  const exceeded = (price.bands ?? []).filter(({ above }) => above < prompt);
  const at = exceeded.length > 0 ? (exceeded.at(-1) as TextPrice) : price;
  const part = (used: number, each: bigint) => ({ over: BigInt(used) * each, under: MILLION });
  return add(
    part(input, at.input),
    part(cacheRead, at.cacheRead ?? at.input),
    part(cacheWrite, at.cacheWrite ?? at.input),
    part(cacheWrite1h, at.cacheWrite1h ?? at.input),
    part(output, at.output),
  );
}

describe('what a vendor charges', () => {
  const TEXT: TextPrice = { input: 150_000n, cacheRead: 15_000n, output: 600_000n };
  const BANDED: TextPrice = { ...TEXT, bands: [{ above: 1000, input: 300_000n, output: 900_000n }] };
  const SECONDS: PriceVector = {
    unit: 'second',
    byResolution: new Map([
      ['720p', 100_000n],
      ['1080p', 150_000n],
    ]),
  };
  const rows: readonly [name: string, prices: PriceVector, usage: object, micro: bigint | undefined][] = [
    ['tokens of text', TEXT, { tokens_input: 1000, tokens_cache_read: 1000, tokens_output: 10 }, 171n],
    ['no minimum', TEXT, { tokens_input: 10, tokens_output: 0 }, 2n],
    ['less than half a micro-unit', TEXT, { tokens_input: 3, tokens_output: 0 }, 0n],
    ['nothing at all', TEXT, { tokens_input: 0, tokens_output: 0 }, 0n],
    ['a prompt at the limit of a band', BANDED, { tokens_input: 1000, tokens_output: 0 }, 150n],
    ['a prompt above it', BANDED, { tokens_input: 1000, tokens_cache_read: 1, tokens_output: 0 }, 300n],
    ['text with notes about its route', TEXT, { tokens_input: 1000, tokens_output: 0, answered_by: 'x' }, 150n],
    ['text without counts', TEXT, {}, undefined],
    ['text with a broken count', TEXT, { tokens_input: -1, tokens_output: 0 }, undefined],
    ['embeddings', { input: 20_000n }, { tokens_input: 125 }, 3n],
    ['embeddings without counts', { input: 20_000n }, {}, undefined],
    ['images', { request: 40_000n }, { images: 2 }, 80_000n],
    ['images without a count', { request: 40_000n }, {}, undefined],
    ['seconds', { unit: 'second', second: 70_000n }, { seconds: 5, resolution: '720p' }, 350_000n],
    ['seconds by resolution', SECONDS, { seconds: 5, resolution: '1080p' }, 750_000n],
    ['a resolution without a cost', SECONDS, { seconds: 5, resolution: '4k' }, undefined],
    ['a video without a resolution', SECONDS, { seconds: 5 }, undefined],
    ['a video without a length', SECONDS, { resolution: '720p' }, undefined],
    ['a video of any length', { unit: 'request', request: 280_000n }, { seconds: 6 }, 280_000n],
  ];
  for (const [name, prices, usage, wanted] of rows) {
    it(`is known for ${name}`, () => {
      expect(computeCost({ prices }, usage as Record<string, number | string>)).to.equal(wanted);
    });
  }

  it('is exact but for one rounding, half up', () => {
    fc.assert(
      fc.property(text, tokens, (prices, used) => {
        expect(computeCost({ prices }, nameTokens(used))).to.equal(round(costExactly(prices, used)));
      }),
      { numRuns: longer(100, 1000) },
    );
  });

  it('is exact for embeddings, images and seconds', () => {
    fc.assert(
      fc.property(micro, count, (each, used) => {
        const exact = { over: BigInt(used) * each, under: 1n };
        const perUnit = { ...exact, under: MILLION };
        expect(computeCost({ prices: { input: each } }, { tokens_input: used })).to.equal(round(perUnit));
        expect(computeCost({ prices: { request: each } }, { images: used })).to.equal(round(exact));
        const seconds: PriceVector = { unit: 'second', second: each };
        expect(computeCost({ prices: seconds }, { seconds: used })).to.equal(round(exact));
      }),
    );
  });

  it('is converted to roubles with one rounding, half up', () => {
    expect(convertToRub(1n, 81_400_000n)).to.equal(81n);
    expect(convertToRub(1n, 81_500_000n)).to.equal(82n);
    expect(convertToRub(171n, 1_000_000n)).to.equal(171n);
    const most = 2n ** 62n;
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: most }), fc.bigInt({ min: 1n, max: most }), (amount, rate) => {
        expect(convertToRub(amount, rate)).to.equal(round({ over: amount * rate, under: MILLION }));
      }),
    );
  });

  it('can be computed again from the stored prices', () => {
    fc.assert(
      fc.property(vector, (prices) => {
        expect(readCost(JSON.parse(serializeCost(prices)))).to.deep.equal(prices);
      }),
    );
  });

  for (const stored of [
    {},
    { input: 1 },
    { input: '-1' },
    { input: '1', output: '0.5' },
    { output: '1' },
    { request: 'free' },
    { unit: 'request' },
    { unit: 'second', second: {} },
    { unit: 'second', second: null },
    { unit: 'second', second: '1.5' },
    { unit: 'second', second: { '720p': '1', '1080p': 2 } },
  ]) {
    it(`is not read from ${JSON.stringify(stored)}`, () => expect(readCost(stored)).to.equal(undefined));
  }
});
