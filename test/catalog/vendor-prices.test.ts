// What is read of a public price list, amount by amount.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readVendorPrices } from '../../lib/catalog/vendor-prices.ts';
import { AMOUNT_MAX } from '../../lib/money/money.ts';

/** No price is above it, in the currency of the list. */
const GREATEST = `${AMOUNT_MAX / 1_000_000n}`;

describe('a public price list', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-price-list-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function read(format: string, list: unknown) {
    const file = join(folder, 'list.json');
    writeFileSync(file, JSON.stringify(list));
    return readVendorPrices(format, file);
  }
  /** A model of a vendor that the format does not name, found by its own address. */
  const readCost = (cost: unknown, more: object = {}) =>
    read('models-dev', { own: { api: 'https://a.example/v1', models: { m: { cost } }, ...more } }).find(
      'a.example',
      'm',
    );
  const readPricing = (pricing: unknown, host = 'openrouter.ai', id = 'm') =>
    read('openrouter', { data: [{ id: 'other', pricing: {} }, null, { id: 'm', pricing }] }).find(host, id);

  for (const [value, amount] of [
    [0, '0'],
    [1, '1'],
    [100, '100'],
    [0.15, '0.15'],
    [10.5, '10.5'],
    ['2.50', '2.5'],
    [0.000001, '0.000001'],
    [0.0000011, '0.000002'],
    [0.0000019, '0.000002'],
    [1e-9, '0.000001'],
    ['1.5e+3', '1500'],
    ['1.25e-1', '0.125'],
    [GREATEST, GREATEST],
    [`00.${'0'.repeat(21)}1`, '0.000001'],
  ] as const) {
    it(`reads ${value} as ${amount}`, () => {
      expect(readCost({ input: value, output: 1 })).to.deep.equal({ input: amount, output: '1' });
    });
  }

  for (const [value, amount] of [
    ['0', '0'],
    ['0.000001', '1'],
    ['0.00000015', '0.15'],
    ['0.000000000001', '0.000001'],
    ['0.0000000000011', '0.000002'],
    ['0.0000000000001', '0.000001'],
    [0.00001, '10'],
    [1.5e-7, '0.15'],
    ['2', '2000000'],
  ] as const) {
    it(`reads ${value} per token as ${amount}`, () => {
      expect(readPricing({ prompt: '0', completion: value })).to.deep.equal({ input: '0', output: amount });
    });
  }

  const bad = ['', '-1', '.5', '1.', '1e5', '1,5', ' 1', '1 ', 'x1', true, [1], {}, `${GREATEST}.000001`];
  for (const value of [...bad, '1e+41', `0.${'0'.repeat(22)}1`, `1e-${'9'.repeat(9)}`]) {
    it(`takes ${JSON.stringify(value)} for no price`, () => {
      for (const [field, cost] of Object.entries({
        input: { input: value, output: 1 },
        output: { input: 1, output: value },
        cache_read: { input: 1, output: 1, cache_read: value },
        cache_write: { input: 1, output: 1, cache_write: value },
      })) {
        expect(() => readCost(cost), field).to.throw(`own m: cost.${field} is not a price; it is not the list of`);
      }
    });
  }

  it('states the prices of the cache where the list does', () => {
    const both = { input: '1', output: '2' };
    for (const [more, found] of [
      [{ cache_read: 0 }, { cacheRead: '0' }],
      [{ cache_write: 3 }, { cacheWrite: '3' }],
      [{ cache_read: null, cache_write: null }, {}],
    ]) {
      expect(readCost({ input: 1, output: 2, ...more })).to.deep.equal({ ...both, ...found });
    }
    for (const [more, found] of [
      [{ input_cache_read: '0.0000001' }, { cacheRead: '0.1' }],
      [{ input_cache_write: '0.000003' }, { cacheWrite: '3' }],
      [{ input_cache_read: '-1', input_cache_write: null }, {}],
    ]) {
      expect(readPricing({ prompt: '0.000001', completion: '0.000002', ...more })).to.deep.equal({ ...both, ...found });
    }
  });

  it('has no prices of a model that does not state both', () => {
    for (const pricing of [{}, { prompt: '1' }, { completion: '1' }, { prompt: '-1', completion: '1' }, 'free', null]) {
      expect(readPricing(pricing), JSON.stringify(pricing)).to.equal(undefined);
    }
    for (const cost of [undefined, null, 'free', []]) expect(readCost(cost), `${cost}`).to.equal(undefined);
    for (const cost of [{ input: 1 }, { output: 1 }]) {
      expect(() => readCost(cost)).to.throw(`cost.${'input' in cost ? 'output' : 'input'} is not a price`);
    }
  });

  it('has bands by the length of the context, sorted, and passes over tiers of another kind', () => {
    const rates = { input: 3, output: 4 };
    const tiers = [
      { tier: { size: 200_000 }, ...rates, cache_read: 1 },
      { tier: { type: 'context', size: 1 }, ...rates },
      { tier: { type: 'context', size: 0 }, ...rates },
      { tier: { type: 'context', size: 1.5 }, ...rates },
      { tier: { type: 'context', size: '9' }, ...rates },
      { tier: { type: 'time', size: 9 }, ...rates },
      { tier: 9, ...rates },
      null,
    ];
    const [input, output] = ['3', '4'];
    expect(readCost({ input: 1, output: 2, tiers })).to.deep.equal({
      input: '1',
      output: '2',
      bands: [
        { above: 1, input, output },
        { above: 200_000, input, output, cacheRead: '1' },
      ],
    });
    expect(readCost({ input: 1, output: 2, tiers: tiers.slice(1) })?.bands).to.deep.equal([
      { above: 1, input, output },
    ]);
    expect(readCost({ input: 1, output: 2, tiers: tiers.slice(2) })).to.deep.equal({ input: '1', output: '2' });
    expect(readCost({ input: 1, output: 2, tiers: 'none' })).to.deep.equal({ input: '1', output: '2' });
  });

  it('reads a price of audio, where zero means that there is none', () => {
    const rates = { input: '1', output: '2' };
    expect(readCost({ input: 1, output: 2, input_audio: 7, output_audio: 9 })).to.deep.equal({ ...rates, audio: '7' });
    expect(readCost({ input: 1, output: 2, input_audio: 0 })).to.deep.equal(rates);
    const pricing = { prompt: '0.000001', completion: '0.000002' };
    expect(readPricing({ ...pricing, audio: '0.000007' })).to.deep.equal({ ...rates, audio: '7' });
    expect(readPricing({ ...pricing, audio: '0' })).to.deep.equal(rates);
    expect(() => readCost({ input: 1, output: 2, input_audio: 'free' })).to.throw('cost.input_audio is not a price');
    expect(() => readPricing({ ...pricing, audio: 'free' })).to.throw('pricing.audio is not a price');
  });

  it('finds a vendor that the format names by that name only, any other by its address', () => {
    const of = (input: number) => ({ models: { m: { cost: { input, output: 1 } } } });
    const list = read('models-dev', {
      imitator: { api: 'https://api.openai.com/v1', ...of(1) },
      nowhere: { api: 'none', ...of(2) },
      odd: { api: 7, ...of(3) },
      empty: { api: 'https://b.example' },
      listless: 'text',
      openai: of(4),
      other: { api: 'https://c.example:8443/v1', ...of(5) },
    });
    expect(list.find('api.openai.com', 'm')?.input).to.equal('4');
    expect(list.find('c.example', 'm')?.input).to.equal('5');
    for (const [host, model] of [
      ['b.example', 'm'],
      ['none', 'm'],
      ['d.example', 'm'],
      ['toString', 'm'],
      ['api.openai.com', 'n'],
      ['api.openai.com', 'toString'],
    ] as const) {
      expect(list.find(host, model), `${host} ${model}`).to.equal(undefined);
    }
    expect(readPricing({ prompt: '0', completion: '0' }, 'a.example')).to.equal(undefined);
    expect(readPricing({ prompt: '0', completion: '0' }, 'openrouter.ai', 'n')).to.equal(undefined);
  });

  it('has at least one model with what it costs', () => {
    for (const list of [{}, { a: 1 }, { a: {} }, { a: { models: [] } }]) {
      expect(() => read('models-dev', list), JSON.stringify(list)).to.throw('no vendor in it has models');
    }
    for (const list of [null, 'text', []]) {
      expect(() => read('models-dev', list), JSON.stringify(list)).to.throw('has no vendors');
    }
    for (const list of [null, [], {}, { data: {} }, { data: [] }, { data: [null, 1, { id: 'm' }] }]) {
      expect(() => read('openrouter', list), JSON.stringify(list)).to.throw('has no list of models with their pricing');
    }
  });
});
