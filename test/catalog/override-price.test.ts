// Parts of a price that take the place of a model's own, for each shape of a price.
import { expect } from 'chai';
import type { ModelType } from '../../lib/catalog/model.ts';
import { overridePrice } from '../../lib/catalog/override-price.ts';
import type { PriceVector } from '../../lib/money/price.ts';

const RUB = 1_000_000n;
const TEXT = { input: RUB, cacheRead: RUB, output: 2n * RUB } as const;
const BANDED = { ...TEXT, bands: [{ above: 1000, input: 3n * RUB, output: 4n * RUB }] } as const;
const SECOND = { unit: 'second', second: RUB } as const;
const BY_RESOLUTION = {
  unit: 'second',
  byResolution: new Map([
    ['720p', RUB],
    ['1080p', 2n * RUB],
  ]),
} as const;

type Case = readonly [type: ModelType, price: PriceVector, part: Parameters<typeof overridePrice>[2], made: unknown];

const MADE: readonly Case[] = [
  ['text', TEXT, { output: '5' }, { ...TEXT, output: 5n * RUB }],
  ['text', TEXT, { audio: '0.5', cacheRead: '0' }, { ...TEXT, audio: RUB / 2n, cacheRead: 0n }],
  ['text', BANDED, { input: '2' }, { ...BANDED, input: 2n * RUB }],
  [
    'text',
    BANDED,
    { bands: [{ above: 1000, output: '9' }] },
    { ...TEXT, bands: [{ above: 1000, input: 3n * RUB, output: 9n * RUB }] },
  ],
  ['embedding', { input: RUB }, { input: '2' }, { input: 2n * RUB }],
  ['image', { request: RUB }, { request: '2' }, { request: 2n * RUB }],
  ['image', { request: RUB }, {}, { request: RUB }],
  ['video', { unit: 'request', request: RUB }, { request: '2' }, { unit: 'request', request: 2n * RUB }],
  ['video', SECOND, { second: '2' }, { ...SECOND, second: 2n * RUB }],
  ['video', SECOND, {}, SECOND],
  [
    'video',
    BY_RESOLUTION,
    { second: { '720p': '7' } },
    {
      unit: 'second',
      byResolution: new Map([
        ['720p', 7n * RUB],
        ['1080p', 2n * RUB],
      ]),
    },
  ],
  [
    'video',
    BY_RESOLUTION,
    { second: '7' },
    {
      unit: 'second',
      byResolution: new Map([
        ['720p', 7n * RUB],
        ['1080p', 7n * RUB],
      ]),
    },
  ],
];

const REFUSED: readonly (readonly [...Case])[] = [
  ['text', TEXT, { request: '1' }, /^request is not part .* of type text, which has input, .*output, bands$/],
  ['embedding', { input: RUB }, { output: '1' }, /^output is not part .* which has input$/],
  ['image', { request: RUB }, { input: '1' }, /^input is not part .* which has request$/],
  ['video', { unit: 'request', request: RUB }, { second: '1' }, /^second is not part .* which has request$/],
  ['video', SECOND, { request: '1' }, /^request is not part .* which has second$/],
  ['text', TEXT, { bands: [{ above: 1000, input: '1' }] }, /no prices for prompts above 1000 tokens/],
  ['text', BANDED, { bands: [{ above: 999, input: '1' }] }, /no prices for prompts above 999 tokens/],
  ['video', SECOND, { second: { '720p': '1' } }, /one price for all resolutions/],
  ['video', BY_RESOLUTION, { second: { '480p': '1' } }, /no price for 480p/],
];

describe('a price with parts of another', () => {
  for (const [type, price, part, made] of MADE) {
    const text = JSON.stringify(part);
    it(`is ${type} with ${text}`, () => expect(overridePrice(type, price, part)).to.deep.equal(made));
  }

  for (const [type, price, part, refusal] of REFUSED) {
    const text = JSON.stringify(part);
    it(`is not ${type} with ${text}`, () => expect(overridePrice(type, price, part)).to.match(refusal as RegExp));
  }
});
