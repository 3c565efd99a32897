// Price lists of customers: which rule sets a price, what it leaves alone, what is refused, and none below cost.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Catalog, chooseCatalog } from '../../lib/catalog/catalog.ts';
import { nameListPrice } from '../../lib/catalog/customer-prices.ts';
import type { StatedPrice } from '../../lib/catalog/markup.ts';
import { ALL, build as buildWith, IMAGE, mistakeOf, TEXT, upstream, VIDEO } from './folder.ts';

const rates = (rub: string) => ({ USD: { rub, from: '2026-11-01' } });
const COST = { currency: 'USD', input: '0.25', output: '1.5' };
const route = (more: object = {}) => ({ routes: [{ upstream: 'one', model: 'm', ...more }] });
const BANDED = {
  ...{ ...TEXT, id: 'text-band', ...route({ cost: { ...COST, cacheRead: '0.1' } }) },
  price: { input: '40', cacheRead: '10', output: '200', bands: [{ above: 1000, input: '80', output: '400' }] },
};
const MODELS = [
  { ...TEXT, aliases: ['text-alias'], ...route({ cost: COST }) },
  BANDED,
  { ...TEXT, id: 'vector', type: 'embedding', ...route(), price: { input: '3' } },
  { ...IMAGE, ...route({ cost: { currency: 'USD', request: '0.1' } }) },
  { ...VIDEO, ...route({ cost: { currency: 'RUB', second: { '720p': '6', '1080p': '10' } } }) },
];

type Before = ReadonlyMap<string, StatedPrice>;

describe('price lists of customers', () => {
  const EMBEDS = { ...ALL, embed: () => undefined } as unknown as typeof ALL;
  const content = (list: object, more: object = {}) => ({
    ...{ upstreams: { one: upstream() }, models: MODELS, rates: rates('80'), priceLists: { partner: list } },
    ...more,
  });
  const build = (list: object, more: object = {}, pricesBefore: Before = new Map()) =>
    buildWith(content(list, more), { one: EMBEDS }, { pricesBefore });
  const partner = (list: object, more?: object, before?: Before): Catalog =>
    chooseCatalog(build(list, more, before), { priceList: 'partner' });
  const mistake = (list: object, more?: object, before?: Before) =>
    mistakeOf(() => build(list, more, before))
      .replaceAll(/\S*models\.json: /g, '')
      .replace('Bad catalog: ', '');
  const priceOf = ({ byName }: Catalog, name: string) => byName.get(name)?.price;

  it('take the exact name before the longest prefix before the list, and apply only one of them', () => {
    const list = {
      factor: '0.5',
      loss: true,
      models: { 'text-*': { factor: '0.9' }, 't*': { factor: '0.1' }, 'text-1': { input: '35' } },
    };
    const catalog = partner(list);
    // What an exact entry does not name is the model's, without any factor.
    expect(priceOf(catalog, 'text-1')).to.deep.equal({ input: 35_000_000n, output: 240_500_000n });
    expect(priceOf(catalog, 'text-band')).to.deep.include({ input: 36_000_000n, output: 180_000_000n });
    expect(priceOf(catalog, 'vector')).to.deep.equal({ input: 1_500_000n });
    expect(priceOf(catalog, 'text-alias')).to.equal(priceOf(catalog, 'text-1'));
  });

  it('multiply every part of a price of every type, rounded up to millionths or to `round`', () => {
    const catalog = partner({ factor: '0.9', loss: true });
    expect(priceOf(catalog, 'text-band')).to.deep.equal({
      ...{ input: 36_000_000n, cacheRead: 9_000_000n, output: 180_000_000n },
      bands: [{ above: 1000, input: 72_000_000n, output: 360_000_000n }],
    });
    expect(priceOf(catalog, 'image-1')).to.deep.equal({ request: 11_250_000n });
    expect(priceOf(catalog, 'video-1')).to.deep.equal({
      unit: 'second',
      byResolution: new Map([
        ['720p', 7_200_000n],
        ['1080p', 13_500_000n],
      ]),
    });
    expect(priceOf(partner({ factor: '0.333333', loss: true }), 'vector')).to.deep.equal({ input: 999_999n });
    expect(priceOf(partner({ factor: '0.333333', round: '0.5', loss: true }), 'vector')).to.deep.equal({
      input: 1_000_000n,
    });
    expect(priceOf(partner({ factor: '0.000001', loss: true }), 'vector'), 'never zero').to.deep.equal({ input: 3n });
  });

  it('take a markup on the cost, not on the price', () => {
    const catalog = partner({ markup: '1.10', models: { 'text-band': { markup: '1.2', round: '1' } } });
    // 0.25 dollars at 80 roubles, times 1.10.
    expect(priceOf(catalog, 'text-1')).to.deep.equal({ input: 22_000_000n, output: 132_000_000n });
    expect(priceOf(catalog, 'text-band')).to.deep.equal({
      ...{ input: 24_000_000n, cacheRead: 10_000_000n, output: 144_000_000n },
    });
    expect(priceOf(catalog, 'image-1')).to.deep.equal({ request: 8_800_000n });
  });

  it('leave list prices where a markup has no cost, with a warning; for a model that is named it is an error', () => {
    const catalog = build({ markup: '1.1' });
    expect(priceOf(chooseCatalog(catalog, { priceList: 'partner' }), 'vector')).to.deep.equal({ input: 3_000_000n });
    expect(catalog.warnings).to.deep.equal([
      'priceLists.partner: its markup has no cost to be on, so list prices apply to vector',
    ]);
    expect(build({ models: { 'vec*': { markup: '1.1' } } }).warnings, 'named by a beginning').to.deep.equal(
      catalog.warnings,
    );
    expect(mistake({ models: { vector: { markup: '1.1' } } })).to.equal(
      'priceLists.partner: models.vector: a markup needs costs of its routes, all in the same unit: write "factor", or prices',
    );
  });

  it('replace bands and resolutions that the model has', () => {
    const models = {
      'text-band': { audio: '70', cacheRead: '9', bands: [{ above: 1000, audio: '90', output: '390' }] },
      'video-1': { second: { '1080p': '14' } },
    };
    const catalog = partner({ models });
    expect(priceOf(catalog, 'text-band')).to.deep.equal({
      ...{ input: 40_000_000n, audio: 70_000_000n, cacheRead: 9_000_000n, output: 200_000_000n },
      bands: [{ above: 1000, input: 80_000_000n, audio: 90_000_000n, output: 390_000_000n }],
    });
    const video = (at720: bigint, at1080: bigint) => ({
      unit: 'second',
      byResolution: new Map([
        ['720p', at720],
        ['1080p', at1080],
      ]),
    });
    expect(priceOf(catalog, 'video-1')).to.deep.equal(video(8_000_000n, 14_000_000n));
    const flat = partner({ models: { 'video-1': { second: '12' } } });
    expect(priceOf(flat, 'video-1')).to.deep.equal(video(12_000_000n, 12_000_000n));
  });

  it('reach smart, the models that see and the defaults, and nothing of the catalog itself', () => {
    const more = {
      smart: { lite: 'text-1', standard: 'text-1', heavy: 'text-band' },
      models: [...MODELS, { ...TEXT, id: 'eye', vision: true, price: { input: '50', output: '500' }, ...route() }],
      vision: ['eye'],
      defaults: { image: ['image-1'] },
    };
    const catalog = build({ factor: '0.9' }, more);
    const own = chooseCatalog(catalog, { priceList: 'partner' });
    expect(own.smart?.models.lite).to.equal(own.byName.get('text-1'));
    expect(own.smart?.usable.heavy).to.deep.equal([own.byName.get('text-band')]);
    expect(own.vision).to.deep.equal([own.byName.get('eye')]);
    expect(own.defaults.image?.price).to.deep.equal({ request: 11_250_000n });
    expect(priceOf(catalog, 'text-1')).to.deep.equal({ input: 40_000_000n, output: 240_500_000n });
    expect(catalog.models.some(({ list }) => list !== undefined)).to.equal(false);
    for (const priceList of [undefined, 'gone', '__proto__'])
      expect(chooseCatalog(catalog, priceList === undefined ? {} : { priceList })).to.equal(catalog);
  });

  it('are kept with the prices of a call, with a version that follows their prices and the list price', () => {
    const [one, same, other] = ['0.9', '0.90', '0.91'].map((factor) => partner({ factor }).byName.get('text-1')?.list);
    expect(one).to.deep.include({ name: 'partner', prices: { input: '40000000', output: '240500000' } });
    expect(one?.version).to.match(/^[0-9a-f]{8}$/);
    expect(same).to.deep.equal(one);
    expect(other?.version).not.to.equal(one?.version);
    expect(partner({ factor: '0.9' }).byName.get('text-1')).to.include({
      prices: `{"input":"36000000","output":"216450000","list":${JSON.stringify(one)}}`,
    });
  });

  for (const [name, list, says] of [
    ['a model that is unknown', { models: { nobody: { factor: '1' } } }, 'models.nobody: unknown model nobody'],
    [
      'a model named twice',
      { models: { 'text-1': { factor: '1' }, 'text-alias': { factor: '1' } } },
      'names the model',
    ],
    ['smart', { models: { smart: { factor: '1' } } }, 'models.smart: a call pays the price of the model'],
    ['a price of zero', { models: { 'text-1': { input: '0' } } }, 'must be a decimal string in RUB above zero'],
    ['seven decimals', { models: { 'text-1': { input: '1.0000001' } } }, 'with at most 6 decimals'],
    ['a factor of zero', { factor: '0' }, 'must be a decimal string above zero'],
    ['both factors', { factor: '1', markup: '1' }, 'conflict'],
    ['a factor beside prices', { models: { 'text-1': { factor: '1', input: '1' } } }, 'conflict'],
    ['a rounding of nothing', { models: { 'text-1': { input: '1', round: '1' } } }, '"round", but neither'],
    ['an empty list', {}, 'must contain at least one of'],
    ['a star within a name', { models: { 'te*t': { factor: '1' } } }, 'te*t is not allowed'],
    [
      'another type of price',
      { models: { 'image-1': { input: '1' } } },
      'input is not part of the price of a model of',
    ],
    ['the unit that the model lacks', { models: { 'video-1': { request: '9' } } }, 'request is not part of the price'],
    [
      'a band',
      { models: { 'text-1': { bands: [{ above: 9, input: '50' }] } } },
      'no prices for prompts above 9 tokens',
    ],
    ['a resolution', { models: { 'video-1': { second: { '480p': '9' } } } }, 'second: the model has no price for 480p'],
  ] as const) {
    it(`refuse ${name}`, () => expect(mistake(list)).to.contain(says));
  }

  it('refuse a result above all prices', () => {
    const models = [{ ...TEXT, price: { input: '1000001', output: '1' } }];
    expect(mistake({ models: { 'text-*': { factor: '1000' } } }, { models })).to.equal(
      'priceLists.partner: models.text-*: model text-1: the result is above 1000000000.00 RUB, the most that a price may be',
    );
  });

  it('refuse a bad name, and a list that two files define', () => {
    for (const name of ['Partner', 'none', 'a b', '']) {
      const priceLists = { [name]: { factor: '1' } };
      expect(mistake({}, { priceLists }), name).to.match(/priceLists.* is not allowed/);
    }
  });

  it('work as their guide prints them', () => {
    const guide = readFileSync(new URL('../../docs/price-lists.md', import.meta.url), 'utf8');
    const { priceLists } = JSON.parse(/```json\n(.*?)```/s.exec(guide)?.[1] ?? '');
    const models = ['gpt-x', 'gpt-y'].map((id) => ({ ...TEXT, id, ...route({ cost: COST }) }));
    const catalog = partner({}, { priceLists, models: [...models, IMAGE] });
    expect(priceOf(catalog, 'gpt-x')).to.deep.equal({ input: 35_000_000n, output: 210_000_000n });
    expect(priceOf(catalog, 'gpt-y')).to.deep.equal({ input: 21_000_000n, output: 126_000_000n });
    expect(priceOf(catalog, 'image-1')).to.deep.equal({ request: 11_250_000n });
  });

  it('warn of a beginning that no model has', () => {
    expect(build({ models: { 'gpt-*': { factor: '1' } } }).warnings).to.deep.equal([
      'priceLists.partner: models.gpt-*: no model begins so',
    ]);
    expect(build({ models: { 'text-*': { factor: '1' } } }).warnings).to.deep.equal([]);
  });

  describe('below cost', () => {
    it('are an error, which names list, model, price, route and cost', () => {
      expect(mistake({ models: { 'text-1': { input: '19' } } })).to.equal(
        'priceLists.partner: model text-1: price.input is 19.00 RUB, below the cost over one (m), 20.00 RUB: ' +
          'raise the price, or write in the list "loss": true',
      );
      expect(mistake({ markup: '0.99' })).to.contain('model text-band: price.input is 19.80 RUB, below the cost');
      expect(mistake({ models: { 'video-1': { second: '7' } } })).to.contain('price.second at 1080p is 7.00 RUB');
      expect(mistake({ models: { 'image-1': { request: '7' } } })).to.contain('price.request is 7.00 RUB');
    });

    it('are allowed by the list, by its entry, and by the model', () => {
      const entry = { input: '19' };
      for (const list of [
        { loss: true, models: { 'text-1': entry } },
        { models: { 'text-1': { ...entry, loss: true } } },
      ])
        expect(priceOf(partner(list), 'text-1')).to.deep.include({ input: 19_000_000n });
      const lossy = MODELS.map((model) => (model.id === 'text-1' ? { ...model, loss: true } : model));
      expect(build({ models: { 'text-1': entry } }, { models: lossy }).losses).to.deep.equal([]);
      expect(mistake({ loss: true, models: { 'text-1': { ...entry, loss: false } } })).to.contain('below the cost');
    });

    it('cover the answers to images by other models', () => {
      const eye = {
        ...TEXT,
        id: 'eye',
        vision: true,
        ...route({ cost: { currency: 'RUB', input: '39', output: '190' } }),
      };
      const others = MODELS.map((model) => (model.id === 'text-band' ? { ...model, loss: 'vision' } : model));
      const more = { models: [...others, { ...eye, price: { input: '50', output: '500' } }], vision: ['eye'] };
      expect(mistake({ models: { 'text-1': { input: '38' } } }, more)).to.contain(
        'price.input is 38.00 RUB, below the cost of an answer to images by eye over one (m), 39.00 RUB: ' +
          'raise the price, or write in the list "loss": true',
      );
    });

    it('stay as they were when a rate moves, with a notice that names the list; an edit is an error', () => {
      const list = { models: { 'text-1': { input: '21' } } };
      const { prices } = build(list);
      const moved = build(list, { rates: rates('85') }, prices);
      expect(priceOf(chooseCatalog(moved, { priceList: 'partner' }), 'text-1')).to.deep.include({ input: 21_000_000n });
      expect(moved.losses).to.deep.equal([
        {
          ...{ model: 'text-1', list: 'partner', upstream: 'one', route: 'm', member: 'input', outcome: 'kept' },
          ...{ price: 21_000_000n, cost: 21_250_000n },
        },
      ]);
      expect(moved.warnings).to.deep.equal([
        'model text-1 in priceLists.partner: the price stays as it was: price.input is 21.00 RUB, ' +
          'below the cost over one (m), 21.25 RUB',
      ]);
      expect(moved.prices.get(nameListPrice('partner', 'text-1'))?.price).to.deep.include({ input: 21_000_000n });
      const edited = { models: { 'text-1': { input: '21.1' } } };
      expect(mistake(edited, { rates: rates('85') }, prices)).to.contain('price.input is 21.10 RUB, below the cost');
      const cheaper = MODELS.map((model) =>
        model.id === 'text-1' ? { ...model, price: { input: '22', output: '240' } } : model,
      );
      const tenth = { models: { 'text-1': { factor: '0.92' } } };
      const before = build({ models: { 'text-1': { factor: '0.92' } } }).prices;
      expect(mistake(tenth, { models: cheaper, rates: rates('81') }, before)).to.contain('price.input is 20.24 RUB');
    });

    it('are an error after any edit of a rule, whatever the price was before', () => {
      const one = (rule: object) => ({ models: { 'text-1': rule } });
      for (const [rule, edited] of [
        [{ markup: '1.1' }, { markup: '0.9' }],
        [
          { markup: '1.1', round: '0.01' },
          { markup: '0.99', round: '0.01' },
        ],
        [
          { markup: '0.96', round: '5' },
          { markup: '0.96', round: '0.1' },
        ],
        [{ factor: '0.92' }, { factor: '0.4' }],
        [
          { factor: '0.495', round: '1' },
          { factor: '0.495', round: '0.1' },
        ],
        [{ factor: '0.5' }, { factor: '0.49', round: '0.1' }],
        [{ input: '20' }, { input: '19' }],
        [{ input: '20' }, { factor: '0.4' }],
      ] as const) {
        const { prices } = build(one(rule));
        expect(mistake(one(edited), {}, prices), JSON.stringify(edited)).to.contain('below the cost');
      }
    });

    it('are raised where the model says so', () => {
      const raising = MODELS.map((model) => (model.id === 'text-1' ? { ...model, onLoss: 'raise' } : model));
      const catalog = build({ models: { 'text-1': { input: '19' } } }, { models: raising });
      expect(priceOf(chooseCatalog(catalog, { priceList: 'partner' }), 'text-1')).to.deep.include({
        input: 20_000_000n,
      });
      expect(catalog.losses.map(({ list, outcome }) => [list, outcome])).to.deep.equal([['partner', 'raised']]);
    });
  });
});
