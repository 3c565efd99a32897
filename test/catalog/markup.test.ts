// Prices that follow from costs, rates and a markup, as catalog files have them.
import { expect } from 'chai';
import type { Model } from '../../lib/catalog/model.ts';
import { ALL, build as buildWith, catalogOf, IMAGE, mistakeOf, TEXT, upstream, VIDEO } from './folder.ts';

const RATES = { USD: { rub: '80', from: '2026-11-01' }, CNY: { rub: '11', from: '2026-11-01' } };
const COST = { currency: 'USD', input: '0.1', output: '0.5' };
const PRICING = { markup: '1.5', round: '0.01' };

const EMBEDDING = { id: 'embedding-1', type: 'embedding', provider: 'Someone' };

describe('catalog prices that follow from costs', () => {
  const build = (content: object) => buildWith({ rates: RATES, ...content }, { one: ALL, two: ALL });
  const route = (cost?: unknown, on = 'one') => ({ upstream: on, model: 'm', ...(cost ? { cost } : {}) });
  const model = (of: object, price: unknown, ...costs: readonly unknown[]) => {
    const { price: _, ...rest } = of as typeof TEXT;
    return { ...rest, routes: costs.map((cost) => route(cost)), ...(price ? { price } : {}) };
  };
  const priced = (entry: object, more: object = {}): Model['price'] =>
    build(catalogOf({ models: [entry], ...more })).models[0]?.price ?? expect.fail('no model');
  const mistake = (entry: object, more: object = {}) => mistakeOf(() => build(catalogOf({ models: [entry], ...more })));

  it('are derived by the markup of the model', () => {
    const { models } = build(catalogOf({ models: [model(TEXT, { markup: '1.5' }, COST)] }));
    expect(models[0]).to.deep.include({ price: { input: 12_000_000n, output: 60_000_000n } });
    expect(models[0]).to.include({ prices: '{"input":"12000000","output":"60000000"}' });
  });

  it('are derived by the markup of the catalog if the model has no price', () => {
    expect(priced(model(TEXT, undefined, COST), { pricing: PRICING })).to.deep.equal({
      input: 12_000_000n,
      output: 60_000_000n,
    });
  });

  it('take from the catalog what the model leaves out', () => {
    const pricing = { markup: '1.5', round: '5' };
    expect(priced(model(TEXT, { markup: '2' }, COST), { pricing })).to.deep.equal({
      input: 20_000_000n,
      output: 80_000_000n,
    });
    expect(priced(model(TEXT, { round: '0.7' }, COST), { pricing })).to.deep.equal({
      input: 12_600_000n,
      output: 60_200_000n,
    });
  });

  it('leave written prices as they are', () => {
    expect(priced(model(TEXT, { input: '99', output: '999' }, COST), { pricing: PRICING })).to.deep.equal({
      input: 99_000_000n,
      output: 999_000_000n,
    });
  });

  it('are rounded up to a kopeck by default', () => {
    const cost = { currency: 'USD', input: '0.000001', output: '0.123457' };
    expect(priced(model(TEXT, { markup: '1.3' }, cost))).to.deep.equal({ input: 10_000n, output: 12_840_000n });
  });

  it('follow prices of audio and the cache, and bands', () => {
    const band = { above: 200_000, input: '0.2', output: '0.75' };
    const cost = { ...COST, audio: '0.5', cacheRead: '0', cacheWrite: '0.125', cacheWrite1h: '0.2', bands: [band] };
    expect(priced(model(TEXT, { markup: '1.5' }, cost))).to.deep.equal({
      input: 12_000_000n,
      output: 60_000_000n,
      audio: 60_000_000n,
      cacheRead: 10_000n,
      cacheWrite: 15_000_000n,
      cacheWrite1h: 24_000_000n,
      bands: [{ above: 200_000, input: 24_000_000n, output: 90_000_000n }],
    });
  });

  it('are derived for every type', () => {
    const pricing = PRICING;
    const all = [
      model(EMBEDDING, undefined, { currency: 'USD', input: '0.02' }),
      model(IMAGE, undefined, { currency: 'USD', request: '0.04' }),
      model(VIDEO, undefined, { currency: 'CNY', second: { '720p': '1', '1080p': '2' } }),
      model({ ...VIDEO, id: 'v2' }, undefined, { currency: 'RUB', request: '10' }),
    ];
    const vectorizer = { ...ALL, embed: () => undefined } as unknown as typeof ALL;
    const { models } = buildWith({ ...catalogOf({ models: all }), rates: RATES, pricing }, { one: vectorizer });
    expect(models.map(({ price }) => price)).to.deep.equal([
      { input: 2_400_000n },
      { request: 4_800_000n },
      {
        unit: 'second',
        byResolution: new Map([
          ['720p', 16_500_000n],
          ['1080p', 33_000_000n],
        ]),
      },
      { unit: 'request', request: 15_000_000n },
    ]);
  });

  it('are those of the dearest route that can be used, in any currency', () => {
    const routes = [
      route(COST),
      route({ currency: 'CNY', input: '1', output: '2' }, 'two'),
      route({ currency: 'USD', input: '9', output: '9' }, 'off'),
      route(undefined, 'two'),
    ];
    const upstreams = { one: upstream(), two: upstream(), off: upstream() };
    const entry = { ...TEXT, routes, price: { markup: '1.5' } };
    expect(priced(entry, { upstreams })).to.deep.equal({ input: 16_500_000n, output: 60_000_000n });
  });

  it('of a model without a usable route are those of all its routes', () => {
    const entry = { ...TEXT, routes: [route(COST, 'off')], price: { markup: '1.5' } };
    const { models } = build({ upstreams: { one: upstream(), off: upstream() }, models: [entry] });
    expect(models[0]).to.deep.include({ routes: [], price: { input: 12_000_000n, output: 60_000_000n } });
  });

  const bad: readonly [name: string, entry: object, says: RegExp, more?: object][] = [
    ['none', model(TEXT, undefined, COST), /models\.json: model text-1: price is required: write one, or a "markup"/],
    ['none for an image', model(IMAGE, undefined), /model image-1: price is required/],
    ['a step without a markup', model(TEXT, { round: '1' }, COST), /model text-1: price is required/],
    [
      'no cost on any route',
      model(TEXT, { markup: '1.5' }, undefined),
      /price: none of its routes has a cost to derive/,
    ],
    ['a cost that is only compared', model(TEXT, { markup: '1.5' }, '12'), /none of its routes has a cost/],
    [
      'a markup of zero',
      model(TEXT, { markup: '0' }, COST),
      /models\[0\]\.price\.markup must be a decimal string above zero/,
    ],
    ['a negative markup', model(TEXT, { markup: '-1.5' }, COST), /price\.markup must be a decimal string above zero/],
    ['a markup that is a number', model(TEXT, { markup: 1.5 }, COST), /price\.markup must be a string/],
    ['a markup of percent', model(TEXT, { markup: '30%' }, COST), /price\.markup must be a decimal string/],
    ['a markup of seven decimals', model(TEXT, { markup: '1.0000001' }, COST), /price\.markup .*at most 6 decimals/],
    [
      'a result above all prices',
      model(TEXT, { markup: '1000' }, { ...COST, output: '1000000' }),
      /price: the result is above 1000000000\.00 RUB/,
    ],
    ['a markup of thousands', model(TEXT, { markup: '1001' }, COST), /price\.markup .*at most 1000/],
    [
      'a step of zero',
      model(TEXT, { markup: '1.5', round: '0' }, COST),
      /price\.round must be a decimal string in RUB above zero/,
    ],
    ['both kinds of price', model(TEXT, { markup: '1.5', input: '1' }, COST), /price\.input is not allowed/],
    [
      'a markup below cost',
      model(TEXT, { markup: '0.9' }, COST),
      /price\.input is 7\.20 RUB, below the cost over one \(m\), 8\.00 RUB/,
    ],
    [
      'two units of videos',
      model(VIDEO, { markup: '1.5' }, { currency: 'USD', second: '1' }, { currency: 'USD', request: '1' }),
      /price: some of its routes cost per second and others per request: write a price/,
    ],
    [
      'a catalog without a markup',
      model(TEXT, undefined, COST),
      /pricing\.markup is required/,
      { pricing: { round: '1' } },
    ],
    [
      'a bad markup of the catalog',
      model(TEXT, undefined, COST),
      /pricing\.markup must be/,
      { pricing: { markup: '-1' } },
    ],
  ];
  for (const [name, entry, says, more] of bad) {
    it(`are refused: ${name}`, () => expect(mistake(entry, more)).to.match(says));
  }
});
