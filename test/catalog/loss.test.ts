// Prices below cost: refused unless the model allows them, kept or raised if a cost or a rate moved.
import { expect } from 'chai';
import type { Catalog } from '../../lib/catalog/catalog.ts';
import type { StatedPrice } from '../../lib/catalog/markup.ts';
import { ALL, build as buildWith, catalogOf, IMAGE, mistakeOf, TEXT, upstream, VIDEO } from './folder.ts';

type Prices = ReadonlyMap<string, StatedPrice>;

const rates = (rub: string) => ({ USD: { rub, from: '2026-11-01' } });
/** At 80 roubles exactly what the model of these tests is sold for, but half a rouble. */
const COST = { currency: 'USD', input: '0.5', output: '3' };

describe('catalog prices below cost', () => {
  const build = (content: object, pricesBefore: Prices = new Map()): Catalog =>
    buildWith({ rates: rates('80'), ...content }, { one: ALL, two: ALL }, { pricesBefore });
  const model = (more: object = {}, cost: unknown = COST) => ({
    ...TEXT,
    routes: [{ upstream: 'one', model: 'their-1', cost }],
    ...more,
  });
  const of = (entry: object, rub = '80') => catalogOf({ models: [entry], rates: rates(rub) });
  const mistake = (content: object, before?: Prices) =>
    mistakeOf(() => build(content, before)).replaceAll(/\S*models\.json: /g, '');
  const priceOf = ({ models }: Catalog, at = 0) => models[at]?.price;

  const SOLD = { input: 40_000_000n, output: 240_500_000n };

  it('are none at cost', () => {
    const catalog = build(of(model()));
    expect([priceOf(catalog), catalog.losses, catalog.warnings]).to.deep.equal([SOLD, [], []]);
  });

  it('are an error at first, which names model, price, route, cost and what to write', () => {
    expect(mistake(of(model(), '80.000001'))).to.equal(
      'Bad catalog: model text-1: price.input is 40.00 RUB, below the cost over one (their-1), 40.000001 RUB: ' +
        'raise the price, or write "onLoss": "raise" or "loss": true',
    );
    expect(mistake(of(model(), '81'))).to.contain('below the cost over one (their-1), 40.50 RUB (and 1 more): raise');
  });

  it('are none of audio at a model that takes none', () => {
    expect(build(of(model({}, { ...COST, audio: '1' }))).losses).to.deep.equal([]);
    expect(
      build(of(model({ audio: true, price: { ...TEXT.price, audio: '80' } }, { ...COST, audio: '1' }))).losses,
    ).to.deep.equal([]);
  });

  it('are an error of any route that can be used', () => {
    const dear = { upstream: 'two', model: 'dear', cost: { ...COST, input: '0.6' } };
    const cheap = { upstream: 'one', model: 'their-1', cost: COST };
    const upstreams = { one: upstream(), two: upstream(), off: upstream() };
    const entry = { ...TEXT, routes: [cheap, dear] };
    expect(mistake({ ...of(entry), upstreams })).to.contain(
      'price.input is 40.00 RUB, below the cost over two (dear), 48.00',
    );
    const off = { ...TEXT, routes: [cheap, { ...dear, upstream: 'off' }] };
    expect(build({ ...of(off), upstreams }).losses).to.deep.equal([]);
  });

  for (const [name, entry, says] of [
    [
      'a cache price',
      model({ price: { ...TEXT.price, cacheRead: '1' } }),
      'price.cacheRead is 1.00 RUB, below the cost over one (their-1), 40.00 RUB',
    ],
    [
      'a write without a price',
      model({}, { ...COST, cacheWrite: '0.625' }),
      'price.cacheWrite is 40.00 RUB, below the cost over one (their-1), 50.00 RUB',
    ],
    [
      'audio of a model that takes it, without a price',
      model({ audio: true }, { ...COST, audio: '1' }),
      'price.audio is 40.00 RUB, below the cost over one (their-1), 80.00 RUB',
    ],
    [
      'a band',
      model({}, { ...COST, bands: [{ above: 1000, input: '1', output: '3' }] }),
      'price.input above 1000 tokens is 40.00 RUB, below the cost over one (their-1), 80.00 RUB',
    ],
    [
      'an image',
      model({ ...IMAGE, routes: [{ upstream: 'one', model: 'i', cost: { currency: 'USD', request: '0.2' } }] }),
      'price.request is 12.50 RUB, below the cost over one (i), 16.00 RUB',
    ],
    [
      'a resolution',
      {
        ...VIDEO,
        routes: [{ upstream: 'one', model: 'v', cost: { currency: 'USD', second: { '720p': '0.1', '1080p': '0.2' } } }],
      },
      'price.second at 1080p is 15.00 RUB, below the cost over one (v), 16.00 RUB',
    ],
    [
      'the shortest video of a vendor that charges by the piece',
      {
        ...VIDEO,
        seconds: [5, 10],
        routes: [{ upstream: 'one', model: 'v', cost: { currency: 'RUB', request: '50' } }],
      },
      'price.second at 720p, 5 seconds is 40.00 RUB, below the cost over one (v), 50.00 RUB',
    ],
  ] as const) {
    it(`are found in ${name}`, () => expect(mistake(of(entry))).to.contain(says));
  }

  it('are allowed by `loss`', () => {
    const catalog = build(of(model({ loss: true }), '100'));
    expect([priceOf(catalog), catalog.losses, catalog.warnings]).to.deep.equal([SOLD, [], []]);
    expect(mistake(of(model({ loss: false }), '100'))).to.contain('below the cost');
  });

  it('are raised to the cost by `onLoss`, also at first, to a whole kopeck', () => {
    const catalog = build(of(model({ onLoss: 'raise' }), '80.0001'));
    expect(priceOf(catalog)).to.deep.equal({ input: 40_010_000n, output: 240_500_000n });
    expect(catalog.models[0]).to.include({ prices: '{"input":"40010000","output":"240500000"}' });
    expect(catalog.losses).to.deep.equal([
      {
        ...{ model: 'text-1', upstream: 'one', route: 'their-1', member: 'input', outcome: 'raised' },
        ...{ price: 40_000_000n, cost: 40_000_050n },
      },
    ]);
    expect(catalog.warnings).to.deep.equal([]);
  });

  it('cannot be raised from seconds to a cost by the piece', () => {
    const cost = { currency: 'RUB', request: '900' };
    const video = { ...VIDEO, onLoss: 'raise', routes: [{ upstream: 'one', model: 'v', cost }] };
    expect(mistake(of(video))).to.contain('below the cost over one (v), 900.00 RUB');
  });

  describe('after a cost or a rate has moved', () => {
    const pricesBefore = () => build(of(model())).prices;

    it('stay as they were, with a warning', () => {
      const catalog = build(of(model(), '81'), pricesBefore());
      expect(priceOf(catalog)).to.deep.equal(SOLD);
      expect(catalog.losses.map(({ member, outcome }) => `${member} ${outcome}`)).to.deep.equal([
        'input kept',
        'output kept',
      ]);
      expect(catalog.warnings[0]).to.equal(
        'model text-1: the price stays as it was: price.input is 40.00 RUB, below the cost over one (their-1), 40.50 RUB',
      );
      const again = build(of(model(), '82'), catalog.prices);
      expect([priceOf(again), again.losses.length]).to.deep.equal([SOLD, 2]);
      expect(build(of(model()), again.prices).losses).to.deep.equal([]);
    });

    it('stay where a derived price moves below the cost of an answer to images', () => {
      const eye = { ...model({ id: 'eye', vision: true, price: { markup: '2' } }, { ...COST, output: '1' }) };
      const cheap = (input: string) => model({ price: { markup: '2' } }, { ...COST, input, output: '1' });
      const content = (input: string) => ({ ...of(cheap(input)), models: [cheap(input), eye], vision: ['eye'] });
      const first = build(content('0.3'));
      expect(priceOf(first)).to.deep.equal({ input: 48_000_000n, output: 160_000_000n });
      const moved = build(content('0.2'), first.prices);
      expect(priceOf(moved)).to.deep.equal({ input: 48_000_000n, output: 160_000_000n });
      expect(moved.losses).to.deep.equal([
        {
          ...{ model: 'text-1', upstream: 'one', route: 'their-1', vision: 'eye', member: 'input', outcome: 'kept' },
          ...{ price: 32_000_000n, cost: 40_000_000n },
        },
      ]);
    });

    it('are raised by `onLoss`', () => {
      const prices = build(of(model({ onLoss: 'raise' }))).prices;
      const raised = build(of(model({ onLoss: 'raise' }), '81'), prices);
      expect(priceOf(raised)).to.deep.equal({ input: 40_500_000n, output: 243_000_000n });
      expect(priceOf(build(of(model({ onLoss: 'raise' })), raised.prices))).to.deep.equal(SOLD);
    });

    it('are an error all the same if the price was edited', () => {
      const edited = model({ price: { ...TEXT.price, input: '39' } });
      expect(mistake(of(edited), pricesBefore())).to.contain('price.input is 39.00 RUB, below the cost');
      expect(mistake(of(model({ price: { markup: '0.9' } })), pricesBefore())).to.contain('below the cost');
      expect(mistake(of(model({ id: 'new' }), '81'), pricesBefore())).to.contain('model new: price.input');
    });
  });

  describe('of answers to images', () => {
    const eye = model(
      { id: 'eye', vision: true, price: { input: '80', output: '800' } },
      { ...COST, input: '1', output: '10' },
    );
    const content = (more: object, others: object = {}) =>
      catalogOf({ models: [model(more), eye], vision: ['eye'], ...others });

    it('are an error for a model that does not see', () => {
      expect(mistake(content({}))).to.equal(
        'Bad catalog: model text-1: price.input is 40.00 RUB, below the cost of an answer to images by eye over ' +
          'one (their-1), 80.00 RUB (and 1 more): raise the price, or write "onLoss": "raise" or "loss": "vision"',
      );
    });

    for (const [name, more, others] of [
      ['a model that sees', { vision: true }, {}],
      ['a model that allows it', { loss: 'vision' }, {}],
      ['a model that allows any loss', { loss: true }, {}],
      ['a catalog that lists no model for them', {}, { vision: [] }],
      [
        'a model that has no usable route',
        { routes: [{ upstream: 'off', model: 'x' }] },
        { upstreams: { one: upstream(), off: upstream() } },
      ],
    ] as const) {
      it(`are none for ${name}`, () => expect(build(content(more, others)).losses).to.deep.equal([]));
    }

    it('that are allowed allow no loss of the model itself', () => {
      expect(mistake({ ...content({ loss: 'vision' }), rates: rates('81') })).to.contain(
        'price.input is 40.00 RUB, below the cost over one',
      );
    });

    it('raise the price by `onLoss`', () => {
      expect(priceOf(build(content({ onLoss: 'raise' })))).to.deep.equal({ input: 80_000_000n, output: 800_000_000n });
    });
  });

  for (const [name, more, says] of [
    ['a loss in words', { loss: 'yes' }, /models\[0\]\.loss must be one of/],
    ['another way out', { onLoss: 'ignore' }, /models\[0\]\.onLoss must be \[raise\]/],
  ] as const) {
    it(`are refused with ${name}`, () => expect(mistake(of(model(more)))).to.match(says));
  }

  it('of images are not those of vision', () => {
    expect(mistake(of({ ...IMAGE, loss: 'vision' }))).to.match(/models\[0\]\.loss must be a boolean/);
  });
});
