// Which prices are below the cost of a route, against exact fractions.
import { expect } from 'chai';
import fc from 'fast-check';
import { findLosses } from '../../lib/money/loss.ts';
import { derivePrice, NO_MARKUP } from '../../lib/money/markup.ts';
import { type PriceVector, TEXT_MINIMUM } from '../../lib/money/price.ts';
import { longer } from '../../testkit/long.ts';
import { listPrompts, pin, rate, readMembers, sameType } from './vectors.ts';

const RUB = 1_000_000n;

describe('prices below cost', () => {
  const found = (price: PriceVector, cost: PriceVector, rub = 80n * RUB, lengths?: { least: number; most: number }) =>
    findLosses(price, pin(cost, rub), { lengths }).map(({ member, price, cost }) => `${member}: ${price} < ${cost}`);

  const text = { input: 8n * RUB, output: 40n * RUB };
  const cost = { input: 100_000n, output: 500_000n };
  const rows: readonly [name: string, price: PriceVector, cost: PriceVector, losses: readonly string[]][] = [
    ['none at cost', text, cost, []],
    ['an input', { ...text, input: 7_999_999n }, cost, ['input: 7999999 < 8000000']],
    ['an output', { ...text, output: 1n }, cost, ['output: 1 < 40000000']],
    [
      'a cache price',
      { ...text, cacheRead: 799_999n },
      { ...cost, cacheRead: 10_000n },
      ['cacheRead: 799999 < 800000'],
    ],
    ['audio that has no price', text, { ...cost, audio: 200_000n }, ['audio: 8000000 < 16000000']],
    ['no audio at its cost', { ...text, audio: 16n * RUB }, { ...cost, audio: 200_000n }, []],
    [
      'a write that costs more than the input, which has no price',
      text,
      { ...cost, cacheWrite: 125_000n },
      ['cacheWrite: 8000000 < 10000000'],
    ],
    ['a cheap read of a vendor without one', { ...text, cacheRead: RUB }, cost, ['cacheRead: 1000000 < 8000000']],
    ['none of a read that costs nothing', { ...text, cacheRead: 1n }, { ...cost, cacheRead: 0n }, []],
    [
      'a band that the price lacks',
      text,
      { ...cost, bands: [{ above: 1000, input: 200_000n, output: 500_000n }] },
      ['input above 1000 tokens: 8000000 < 16000000'],
    ],
    [
      'a band that is cheaper than the cost',
      { ...text, bands: [{ above: 1000, input: 1n, output: 40n * RUB }] },
      cost,
      ['input above 1000 tokens: 1 < 8000000'],
    ],
    ['images', { request: RUB }, { request: 12_501n }, ['request: 1000000 < 1000080']],
    ['embeddings', { input: 1n }, { input: 1n }, ['input: 1 < 80']],
    ['seconds', { unit: 'second', second: RUB }, { unit: 'second', second: 20_000n }, ['second: 1000000 < 1600000']],
    [
      'a second of videos of unknown lengths, bought at a price for each',
      { unit: 'second', second: RUB },
      { unit: 'request', request: 20_000n },
      ['second, 1 seconds: 1000000 < 1600000'],
    ],
    [
      'one resolution',
      {
        unit: 'second',
        byResolution: new Map([
          ['720p', 8n * RUB],
          ['1080p', 8n * RUB],
        ]),
      },
      {
        unit: 'second',
        byResolution: new Map([
          ['720p', 100_000n],
          ['1080p', 200_000n],
        ]),
      },
      ['second at 1080p: 8000000 < 16000000'],
    ],
    [
      'a resolution that the cost does not know: the dearest counts',
      { unit: 'second', byResolution: new Map([['480p', 8n * RUB]]) },
      {
        unit: 'second',
        byResolution: new Map([
          ['720p', 100_000n],
          ['1080p', 200_000n],
        ]),
      },
      ['second at 480p: 8000000 < 16000000'],
    ],
    [
      'one price for all resolutions: the dearest counts',
      { unit: 'second', second: 8n * RUB },
      {
        unit: 'second',
        byResolution: new Map([
          ['720p', 100_000n],
          ['1080p', 200_000n],
        ]),
      },
      ['second: 8000000 < 16000000'],
    ],
  ];
  for (const [name, price, bought, losses] of rows) {
    it(`are found: ${name}`, () => expect(found(price, bought)).to.deep.equal(losses));
  }

  it('are found between units over the shortest and the longest video', () => {
    const lengths = { least: 4, most: 10 };
    const perRequest: PriceVector = { unit: 'request', request: 79n * RUB };
    const perSecond: PriceVector = { unit: 'second', second: 19n * RUB };
    expect(found(perRequest, { unit: 'second', second: 100_000n }, 80n * RUB, lengths)).to.deep.equal([
      'request: 79000000 < 80000000',
    ]);
    expect(found(perSecond, { unit: 'request', request: 1_000_000n }, 80n * RUB, lengths)).to.deep.equal([
      'second, 4 seconds: 76000000 < 80000000',
    ]);
  });

  it('do not count the minimum price of a call, which only adds', () => {
    expect(found({ input: 1n, output: TEXT_MINIMUM }, { input: 1n, output: 1n })).to.have.length(1);
  });

  it('are exactly the members below the cost, however either is banded', () => {
    fc.assert(
      fc.property(sameType, rate, ([price, other], rub) => {
        if (!price || !other) return;
        const prompts = listPrompts([price, other]);
        const [sold, bought] = [readMembers(price, prompts), readMembers(other, prompts)];
        const below = [...sold].some(([member, each]) => each * RUB < (bought.get(member) as bigint) * rub);
        expect(findLosses(price, pin(other, rub)).length > 0).to.equal(below);
      }),
      { numRuns: longer(100, 1000) },
    );
  });

  it('are none of a price that is derived with a markup of at least one', () => {
    fc.assert(
      fc.property(sameType, rate, fc.bigInt({ min: NO_MARKUP, max: 3n * NO_MARKUP }), (vectors, rub, factor) => {
        const costs = vectors.map((vector) => pin(vector, rub));
        const price = derivePrice(costs, { factor, step: 10_000n }) ?? expect.fail('no price');
        expect(costs.flatMap((each) => findLosses(price, each))).to.deep.equal([]);
      }),
      { numRuns: longer(60, 500) },
    );
  });
});
