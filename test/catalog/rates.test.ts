// Exchange rates and the costs of routes, as catalog files have them.
import { expect } from 'chai';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { listCatalogFiles, readCatalogFiles } from '../../lib/catalog/files.ts';
import { findNextRateStart, findRatesInForce } from '../../lib/catalog/rates.ts';
import { ALL, type CatalogFolder, catalogOf, IMAGE, makeFolder, mistakeOf, TEXT, upstream, VIDEO } from './folder.ts';

const NOON = Date.parse('2026-11-26T12:00:00Z');
const USD = { rub: '81.4', from: '2026-11-26' };

describe('catalog rates and costs', () => {
  let folder: CatalogFolder;
  beforeEach(() => {
    folder = makeFolder();
  });
  afterEach(() => folder.remove());

  const build = (content: object, now = NOON) => {
    folder.write(content);
    const open = { provider: ALL, origin: undefined };
    return buildCatalog(readCatalogFiles(listCatalogFiles(folder.catalog), ['*']), new Map([['one', open]]), { now });
  };
  const mistake = (content: object, now?: number) => mistakeOf(() => build(content, now));
  const costOf = (cost: unknown, model: object = TEXT, rates: object = { USD }) =>
    catalogOf({ rates, models: [{ ...model, routes: [{ upstream: 'one', model: 'm', cost }] }] });
  const pinned = (content: object) => build(content).models[0]?.routes[0]?.cost;

  describe('rates', () => {
    it('are those of a file of their own', () => {
      folder.write({ rates: { USD, CNY: { rub: '11.25', from: '2026-11-01' } } }, 'rates.json');
      expect([...build(catalogOf()).rates]).to.deep.equal([
        ['RUB', { rub: 1_000_000n, from: '1992-01-01' }],
        ['USD', { rub: 81_400_000n, from: '2026-11-26' }],
        ['CNY', { rub: 11_250_000n, from: '2026-11-01' }],
      ]);
    });

    it('of RUB are 1 without any file', () => {
      expect([...build(catalogOf()).rates.keys()]).to.deep.equal(['RUB']);
    });

    it('are a millionth to a million roubles', () => {
      for (const rub of ['0.000001', '1000000']) {
        expect(build(catalogOf({ rates: { USD: { ...USD, rub } } })).rates.has('USD'), rub).to.equal(true);
      }
      for (const rub of ['0', '1000000.000001']) {
        expect(mistake(catalogOf({ rates: { USD: { ...USD, rub } } })), rub).to.match(
          /must be a decimal string in RUB/,
        );
      }
    });

    it('change next when the first of any currency does', () => {
      const at = (from: string) => ({ rub: '1', from });
      const rates = { USD: [at('2026-11-01'), at('2026-12-09')], EUR: at('2026-12-02'), CNY: at('2026-12-05') };
      expect(findNextRateStart(rates, NOON)).to.equal(Date.parse('2026-12-02T00:00:00+03:00'));
      expect(findNextRateStart(rates, Date.parse('2026-12-05T00:00:00+03:00'))).to.equal(
        Date.parse('2026-12-09T00:00:00+03:00'),
      );
      expect(findNextRateStart(rates, Date.parse('2026-12-09T00:00:00+03:00'))).to.equal(undefined);
    });

    it('take effect at midnight in Moscow, in any order of the list', () => {
      const entry = {
        USD: [{ rub: '90', from: '2026-12-01' }, USD, { rub: '80', from: '2026-01-01' }],
      };
      const midnight = Date.parse('2026-11-30T21:00:00Z');
      const rateAt = (now: number) => findRatesInForce(entry, now).get('USD')?.rub;
      expect(rateAt(NOON)).to.equal(81_400_000n);
      expect(rateAt(midnight - 1)).to.equal(81_400_000n);
      expect(rateAt(midnight)).to.equal(90_000_000n);
      expect(rateAt(Date.parse('2025-12-31'))).to.equal(undefined);
      expect(findNextRateStart(entry, NOON)).to.equal(midnight);
      expect(findNextRateStart(entry, midnight)).to.equal(undefined);
      expect(findNextRateStart({}, NOON)).to.equal(undefined);
    });

    const bad: readonly [name: string, rates: unknown, says: RegExp][] = [
      ['a number', { USD: { ...USD, rub: 81.4 } }, /rates\.USD\.rub must be a/],
      ['zero', { USD: { ...USD, rub: '0' } }, /rates\.USD\.rub must be a decimal string in RUB above zero/],
      ['a negative one', { USD: { ...USD, rub: '-81' } }, /rates\.USD\.rub must be a decimal string/],
      ['a comma', { USD: { ...USD, rub: '81,4' } }, /rates\.USD\.rub must be a decimal string/],
      ['seven decimals', { USD: { ...USD, rub: '81.4000001' } }, /rates\.USD\.rub .*at most 6 decimals/],
      ['a rate beyond any currency', { USD: { ...USD, rub: '1000001' } }, /rates\.USD\.rub/],
      ['one without a day', { USD: { rub: '81' } }, /rates\.USD\.from is required/],
      ['one without a rate', { USD: { from: '2026-11-26' } }, /rates\.USD\.rub is required/],
      ['a day that does not exist', { USD: { ...USD, from: '2026-02-30' } }, /rates\.USD\.from must be a day such as/],
      ['a moment', { USD: { ...USD, from: '2026-11-26T10:00:00Z' } }, /rates\.USD\.from must be a day/],
      ['an empty list', { USD: [] }, /rates\.USD must contain at least 1/],
      ['two of one day', { USD: [USD, { ...USD, rub: '82' }] }, /rates\.USD\[1\]\.from is the day of another rate/],
      ['a bad one in a list', { USD: [USD, { rub: 'x', from: '2026-12-01' }] }, /rates\.USD\[1\]\.rub must be/],
      ['a bare decimal', { USD: '81.4' }, /rates\.USD must be/],
      ['one for RUB', { RUB: { ...USD, rub: '1' } }, /rates\.RUB is not a currency with a rate/],
      ['small letters', { usd: USD }, /rates\.usd is not a currency with a rate/],
      ['a name that is no currency', { DOLLAR: USD }, /rates\.DOLLAR is not a currency/],
    ];
    for (const [name, rates, says] of bad) {
      it(`are refused: ${name}`, () => expect(mistake(catalogOf({ rates }))).to.match(says));
    }

    it('are refused if two files have one of the same day', () => {
      folder.write({ rates: { USD } }, 'rates.json');
      expect(mistake(catalogOf({ rates: { USD } }))).to.match(/rates\.json: rates\.USD is defined twice/);
    });

    it('are joined from several files', () => {
      folder.write({ rates: { USD: { rub: '70', from: '2026-11-20' } } }, 'rates.json');
      const rateAt = (day: string) => build(catalogOf({ rates: { USD } }), Date.parse(day)).rates.get('USD')?.rub;
      expect([rateAt('2026-11-25'), rateAt('2026-11-27')]).to.deep.equal([70_000_000n, 81_400_000n]);
    });
  });

  describe('costs', () => {
    it('are the vector of their model, at the rate in force', () => {
      const rate = { rub: 81_400_000n, from: '2026-11-26' };
      const band = { above: 200_000, input: '0.3', output: '1.2' };
      expect(
        pinned(costOf({ currency: 'USD', input: '0.15', output: '0.6', cacheRead: '0', bands: [band] })),
      ).to.deep.equal({
        currency: 'USD',
        prices: {
          input: 150_000n,
          cacheRead: 0n,
          output: 600_000n,
          bands: [{ above: 200_000, input: 300_000n, output: 1_200_000n }],
        },
        rate,
        stored:
          '{"input":"150000","cacheRead":"0","output":"600000","bands":[{"above":200000,"input":"300000","output":"1200000"}]}',
      });
      const image = { currency: 'USD', prices: { request: 40_000n }, rate, stored: '{"request":"40000"}' };
      expect(pinned(costOf({ currency: 'USD', request: '0.04' }, IMAGE))).to.deep.equal(image);
      const second = { currency: 'RUB', second: { '720p': '8', '1080p': '15' } };
      expect(pinned(costOf(second, VIDEO, {}))).to.deep.equal({
        currency: 'RUB',
        prices: {
          unit: 'second',
          byResolution: new Map([
            ['720p', 8_000_000n],
            ['1080p', 15_000_000n],
          ]),
        },
        rate: { rub: 1_000_000n, from: '1992-01-01' },
        stored: '{"unit":"second","second":{"720p":"8000000","1080p":"15000000"}}',
      });
    });

    it('are unknown without one, and with one that is only compared', () => {
      expect(pinned(catalogOf({ models: [TEXT] }))).to.equal(undefined);
      expect(pinned(costOf('12'))).to.equal(undefined);
    });

    it('of several currencies are compared in roubles by `order: price`', () => {
      const costs = [
        { currency: 'USD', input: '1', output: '5' },
        { currency: 'RUB', input: '100', output: '300' },
        undefined,
        { currency: 'CNY', input: '2', output: '10' },
      ];
      const routes = costs.map((cost, at) => ({ upstream: 'one', model: `${at}`, ...(cost && { cost }) }));
      const rates = { USD, CNY: { rub: '11', from: '2026-11-01' } };
      const { models } = build(
        catalogOf({ rates, models: [{ ...TEXT, price: { input: '900', output: '900' }, routes, order: 'price' }] }),
      );
      expect(models[0]?.routes.map(({ model, rank }) => `${model}:${rank}`).join(' ')).to.equal('3:0 1:1 0:2 2:3');
    });

    it('of videos are compared by a second, of the dearest resolution, or by a video', () => {
      const ranked = (costs: readonly object[], price: object) => {
        const routes = costs.map((cost, at) => ({
          upstream: 'one',
          model: `${at}`,
          cost: { currency: 'RUB', ...cost },
        }));
        const { models } = build(catalogOf({ models: [{ ...VIDEO, price, routes, order: 'price' }] }));
        return models[0]?.routes.map(({ model }) => model).join(' ');
      };
      const bySecond = [{ second: '3' }, { second: { '720p': '1', '1080p': '4' } }, { second: '2' }];
      expect(ranked(bySecond, { second: { '720p': '50', '1080p': '50' } })).to.equal('2 0 1');
      expect(ranked([{ request: '30' }, { request: '20' }], { request: '50' })).to.equal('1 0');
    });

    it('are those of a list of their own, for routes that state none', () => {
      const usd = (input: string) => ({ currency: 'USD', input, output: '0.5' });
      folder.write({ costs: { one: { m: usd('0.1'), unused: usd('9') }, unknown: { m: usd('9') } } }, 'costs.json');
      const route = (model: string, cost?: object) => ({ upstream: 'one', model, ...(cost && { cost }) });
      const routes = [route('m'), route('other'), route('m', usd('0.2')), route('toString')];
      const { models } = build(catalogOf({ rates: { USD }, models: [{ ...TEXT, routes }] }));
      const inputs = models[0]?.routes.map(({ cost }) => cost && (cost.prices as { input: bigint }).input);
      expect(inputs).to.deep.equal([100_000n, undefined, 200_000n, undefined]);
    });

    it('of a list are refused if two files have the same, or if the model is of another type', () => {
      const costs = { one: { 'their-1': { currency: 'USD', input: '0.1', output: '0.5' } } };
      folder.write({ costs }, 'costs.json');
      expect(mistake(catalogOf({ costs, rates: { USD } }))).to.match(
        /models\.json: costs\.one\.their-1 is defined twice/,
      );
      expect(mistake(catalogOf({ rates: { USD }, models: [IMAGE] }))).to.match(
        /costs\.json: costs\.one\.their-1: is not the cost of a model of type image, as image-1 is$/,
      );
    });

    it('of a list need the prices of some type', () => {
      const costs = (cost: unknown) => catalogOf({ costs: { one: { m: cost } } });
      expect(mistake(costs({ currency: 'USD' }))).to.match(/costs\.one\.m\.input is required/);
      expect(mistake(costs({ currency: 'USD', output: '1' }))).to.match(/costs\.one\.m\.input is required/);
      expect(mistake(costs({ input: '1' }))).to.match(/costs\.one\.m\.currency is required/);
      expect(mistake(costs('12'))).to.match(/costs\.one\.m/);
    });

    const bad: readonly [name: string, content: object, says: RegExp][] = [
      [
        'a currency without a rate',
        costOf({ currency: 'EUR', input: '1', output: '1' }),
        /models\.json: model text-1: routes\[0\]\.cost: EUR has no rate: add "rates"/,
      ],
      [
        'a currency whose first rate is still to come',
        costOf({ currency: 'USD', input: '1', output: '1' }, TEXT, { USD: { rub: '90', from: '2026-12-01' } }),
        /routes\[0\]\.cost: USD has no rate yet: the first one is from 2026-12-01/,
      ],
      ['no currency', costOf({ input: '1', output: '1' }), /routes\[0\]\.cost\.currency is required/],
      [
        'an unknown currency',
        costOf({ currency: 'dollar', input: '1', output: '1' }),
        /routes\[0\]\.cost\.currency .*three capital letters/,
      ],
      ['no output', costOf({ currency: 'USD', input: '1' }), /routes\[0\]\.cost\.output is required/],
      [
        'a negative price',
        costOf({ currency: 'USD', input: '-1', output: '1' }),
        /routes\[0\]\.cost\.input must be a decimal string of zero or more/,
      ],
      [
        'seven decimals',
        costOf({ currency: 'USD', input: '0.0000001', output: '1' }),
        /routes\[0\]\.cost\.input .*at most 6 decimals/,
      ],
      ['a number', costOf({ currency: 'USD', input: 1, output: '1' }), /routes\[0\]\.cost\.input must be a string/],
      [
        'the vector of another type',
        costOf({ currency: 'USD', request: '1' }),
        /routes\[0\]\.cost\.request is not allowed/,
      ],
      [
        'descending bands',
        costOf({
          currency: 'USD',
          input: '1',
          output: '1',
          bands: [
            { above: 2, input: '1', output: '1' },
            { above: 1, input: '1', output: '1' },
          ],
        }),
        /cost\.bands must be in ascending order/,
      ],
      ['two units of a video', costOf({ currency: 'USD', second: '1', request: '1' }, VIDEO), /routes\[0\]\.cost/],
    ];
    for (const [name, content, says] of bad) it(`are refused: ${name}`, () => expect(mistake(content)).to.match(says));

    it('of a route that is switched off need a rate too', () => {
      const routes = [{ upstream: 'off', model: 'm', cost: { currency: 'EUR', input: '1', output: '1' } }];
      const content = { upstreams: { one: upstream(), off: upstream() }, models: [{ ...TEXT, routes }] };
      expect(mistake(content)).to.match(/EUR has no rate/);
    });
  });
});
