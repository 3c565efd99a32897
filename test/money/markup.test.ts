// Prices derived from costs, against exact fractions.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  derivePrice,
  findDearestMember,
  findDearestPrices,
  markUp,
  NO_MARKUP,
  scalePrices,
} from '../../lib/money/markup.ts';
import { findDearest, type PriceVector } from '../../lib/money/price.ts';
import { longer } from '../../testkit/long.ts';
import { listPrompts, micro, pin, rate, readMembers, sameType } from './vectors.ts';

const KOPECK = 10_000n;
const USD = 80_000_000n;

describe('derived prices', () => {
  const markup = { factor: 1_500_000n, step: KOPECK };
  const band = { above: 1000, input: 200_000n, output: 600_000n };
  const rows: readonly [name: string, costs: readonly PriceVector[], price: PriceVector | undefined][] = [
    [
      'a cost times rate times markup',
      [{ input: 100_000n, output: 500_000n }],
      { input: 12_000_000n, output: 60_000_000n },
    ],
    [
      'cache prices too',
      [{ input: 100_000n, cacheRead: 10_000n, output: 500_000n }],
      { input: 12_000_000n, cacheRead: 1_200_000n, output: 60_000_000n },
    ],
    ['up to the step', [{ input: 1n }], { input: KOPECK }],
    [
      'at least a step where the vendor charges nothing',
      [{ input: 100_000n, cacheRead: 0n, output: 500_000n }],
      { input: 12_000_000n, cacheRead: KOPECK, output: 60_000_000n },
    ],
    [
      'the dearest route, member by member',
      [
        { input: 100_000n, output: 500_000n },
        { input: 50_000n, output: 600_000n },
      ],
      { input: 12_000_000n, output: 72_000_000n },
    ],
    [
      'a cache price that another route lacks: there it is the input price',
      [
        { input: 100_000n, cacheRead: 10_000n, output: 1n },
        { input: 50_000n, output: 1n },
      ],
      { input: 12_000_000n, cacheRead: 6_000_000n, output: KOPECK },
    ],
    [
      'a band of one route',
      [
        { input: 100_000n, output: 500_000n, bands: [band] },
        { input: 150_000n, output: 100_000n },
      ],
      { input: 18_000_000n, output: 60_000_000n, bands: [{ above: 1000, input: 24_000_000n, output: 72_000_000n }] },
    ],
    [
      'bands that begin one token apart',
      [
        { input: 100_000n, output: 100_000n, bands: [band] },
        { input: 100_000n, output: 100_000n, bands: [{ above: 1001, input: 300_000n, output: 300_000n }] },
      ],
      {
        input: 12_000_000n,
        output: 12_000_000n,
        bands: [
          { above: 1000, input: 24_000_000n, output: 72_000_000n },
          { above: 1001, input: 36_000_000n, output: 72_000_000n },
        ],
      },
    ],
    ['images', [{ request: 40_000n }, { request: 39_800n }], { request: 4_800_000n }],
    ['a video of any length', [{ unit: 'request', request: 1_000_000n }], { unit: 'request', request: 120_000_000n }],
    [
      'seconds',
      [
        { unit: 'second', second: 70_000n },
        { unit: 'second', second: 80_000n },
      ],
      { unit: 'second', second: 9_600_000n },
    ],
    [
      'seconds by resolution, also beside one price for all',
      [
        {
          unit: 'second',
          byResolution: new Map([
            ['720p', 80_000n],
            ['1080p', 140_000n],
          ]),
        },
        { unit: 'second', second: 100_000n },
      ],
      {
        unit: 'second',
        byResolution: new Map([
          ['720p', 12_000_000n],
          ['1080p', 16_800_000n],
        ]),
      },
    ],
    ['nothing without a cost', [], undefined],
    [
      'nothing from two units',
      [
        { unit: 'second', second: 1n },
        { unit: 'request', request: 1n },
      ],
      undefined,
    ],
  ];
  for (const [name, costs, price] of rows) {
    it(`are ${name}`, () => {
      const pinned = costs.map((cost) => pin(cost, USD));
      for (const each of [pinned, pinned.toReversed()]) expect(derivePrice(each, markup)).to.deep.equal(price);
    });
  }

  for (const [name, prices, dearest] of [
    ['the input', { input: 3n, output: 2n }, 3n],
    ['the output', { input: 2n, cacheRead: 1n, output: 3n }, 3n],
    ['a band', { input: 2n, output: 3n, bands: [{ above: 1000, input: 4n, output: 5n }] }, 5n],
    ['the input of embeddings', { input: 7n }, 7n],
    ['an image', { request: 6n }, 6n],
    ['a second', { unit: 'second', second: 8n }, 8n],
    [
      'a resolution',
      {
        unit: 'second',
        byResolution: new Map([
          ['720p', 9n],
          ['1080p', 4n],
        ]),
      },
      9n,
    ],
    ['nothing', { input: 0n, output: 0n }, 0n],
  ] as readonly [string, PriceVector, bigint][]) {
    it(`are as dear as their dearest member: ${name}`, () => expect(findDearestMember(prices)).to.equal(dearest));
  }

  const step = fc.constantFrom(1n, KOPECK, 1_000_000n, 7n);
  const factor = fc.bigInt({ min: 1n, max: 10_000_000n });

  it('are the smallest multiple of the step that covers every route', () => {
    fc.assert(
      fc.property(sameType, rate, factor, step, (vectors, rub, times, each) => {
        const derived = derivePrice(
          vectors.map((vector) => pin(vector, rub)),
          { factor: times, step: each },
        );
        const prompts = listPrompts(vectors);
        const sold = readMembers(derived ?? expect.fail('no price'), prompts);
        const bought = vectors.map((vector) => readMembers(vector, prompts));
        for (const [member, price] of sold) {
          // As fractions over 10^12: rate and markup are in millionths.
          const marked = bought.map((cost) => (cost.get(member) as bigint) * rub * times);
          const dearest = findDearest(marked);
          expect(price % each, member).to.equal(0n);
          expect(price * 10n ** 12n >= dearest, `${member} covers`).to.equal(true);
          expect(price === each || (price - each) * 10n ** 12n < dearest, `${member} is the smallest`).to.equal(true);
        }
      }),
      { numRuns: longer(60, 500) },
    );
  });

  it('by a factor of another price are the smallest multiple of the step that is not below it', () => {
    fc.assert(
      fc.property(sameType, factor, step, ([price], times, each) => {
        const prompts = listPrompts(price ? [price] : []);
        const scaled = readMembers(scalePrices(price as PriceVector, { factor: times, step: each }), prompts);
        for (const [member, before] of readMembers(price as PriceVector, prompts)) {
          const after = scaled.get(member) as bigint;
          const exact = before * times;
          expect(after % each, member).to.equal(0n);
          expect(after * NO_MARKUP >= exact, `${member} covers`).to.equal(true);
          expect(after === each || (after - each) * NO_MARKUP < exact, `${member} is the smallest`).to.equal(true);
        }
      }),
      { numRuns: longer(60, 500) },
    );
  });

  it('are the same whatever the order of the routes', () => {
    fc.assert(
      fc.property(sameType, rate, (vectors, rub) => {
        const prompts = listPrompts(vectors);
        const read = (list: readonly PriceVector[]) =>
          readMembers(
            derivePrice(
              list.map((each) => pin(each, rub)),
              markup,
            ) ?? expect.fail('no price'),
            prompts,
          );
        expect(read([...vectors].reverse())).to.deep.equal(read(vectors));
      }),
    );
  });

  it('without a markup are the cost in roubles, rounded up', () => {
    fc.assert(
      fc.property(micro, rate, (request, rub) => {
        const { request: price } = markUp(pin({ request }, rub), { factor: NO_MARKUP, step: 1n }) as {
          request: bigint;
        };
        const exact = request * rub;
        expect(price === 1n || (price - 1n) * 1_000_000n < exact).to.equal(true);
        expect(price * 1_000_000n >= exact).to.equal(true);
      }),
    );
  });

  it('of two units have no dearest one', () => {
    expect(findDearestPrices({ unit: 'request', request: 1n }, { unit: 'second', second: 1n })).to.equal(undefined);
  });
});
