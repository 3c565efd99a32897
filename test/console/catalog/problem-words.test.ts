// Mistakes of a catalog that forms usually lead to, in the page's language: each as the catalog itself reports it.
import { expect } from 'chai';
import { describeProblem, describeWarning } from '../../../lib/console/catalog/problem-words.ts';
import { build, catalogOf, mistakeOf, TEXT } from '../../catalog/folder.ts';

describe('why a catalog does not load', () => {
  const problemOf = (...models: readonly object[]) =>
    mistakeOf(() => build(catalogOf({ models, rates: { USD: { rub: '80', from: '2026-11-01' } } })));
  const sold = (more: object, cost?: object) => ({
    ...TEXT,
    ...more,
    routes: [{ upstream: 'one', model: 'their-1', ...(cost && { cost }) }],
  });
  const say = (problem: string) => describeProblem('ru', problem);

  it('is a price below the cost, a missing rate, a name of another model', () => {
    const below = sold({ price: { input: '40.5', output: '240' } }, { currency: 'USD', input: '1', output: '8' });
    expect(say(problemOf(below))).to.deep.equal([
      'text-1, вход: цена 40,50\u00a0₽ ниже закупочной (80,00\u00a0₽). Поднимите её.',
    ]);
    expect(say(problemOf(sold({}, { currency: 'EUR', input: '1', output: '1' })))).to.deep.equal([
      'Курс EUR не задан: задайте его на странице каталога.',
    ]);
    expect(say(problemOf(sold({}), sold({ id: 'other', aliases: ['text-1', 'smart'] })))).to.deep.equal([
      'Название text-1 занято другой моделью, возможно недоступной сейчас. Выберите другое.',
      'Название smart принадлежит модели smart.',
    ]);
    expect(describeProblem('en', problemOf(below))).to.deep.equal([
      'text-1, input: the price of 40.50 RUB is below the cost of 80.00 RUB. Raise it.',
    ]);
  });

  it('is a price of long prompts below the cost, which is named', () => {
    const bands = [{ above: 200000, input: '60', output: '240' }];
    const cost = { currency: 'RUB', input: '30', cacheRead: '3', output: '200', bands };
    expect(say(problemOf(sold({ price: { input: '40', output: '240' } }, cost)))).to.deep.equal([
      'text-1, вход для запросов длиннее 200000 токенов: цена 40,00\u00a0₽ ниже закупочной (60,00\u00a0₽). Поднимите её.',
    ]);
  });

  it('is a price below the cost of the model that answers to images in its place', () => {
    const cost = { currency: 'RUB', input: '90', output: '90' };
    const problem = mistakeOf(() =>
      build(
        catalogOf({
          models: [sold({}), { ...sold({ id: 'sees', price: { input: '90', output: '240' }, vision: true }, cost) }],
          vision: ['sees'],
        }),
      ),
    );
    expect(describeProblem('en', problem)).to.deep.equal([
      'text-1, input: the price of 40.00 RUB is below the cost of 90.00 RUB. Raise it. This is the cost of sees, which answers calls with images in its place. You can allow that on the page of the model, if it was added on pages and not in a file.',
    ]);
  });

  it('is a price below the cost on a price list, which is named', () => {
    const models = [sold({}, { currency: 'RUB', input: '30', output: '200' })];
    const problem = mistakeOf(() => build(catalogOf({ models, priceLists: { partner: { factor: '0.5' } } })));
    expect(say(problem)).to.deep.equal([
      'text-1, вход, в прайс-листе partner: цена 20,00\u00a0₽ ниже закупочной (30,00\u00a0₽). Уменьшите скидку или поднимите цену модели.',
    ]);
  });

  it('is left to the words of the catalog if any of it is something else', () => {
    expect(say(`${problemOf(sold({}), sold({}))}; models[3] is strange`)).to.equal(undefined);
  });
});

describe('what a catalog warns of', () => {
  it('is said in the language of the page, as the catalog itself warns', () => {
    const models = (usd: string) => ({
      models: [
        {
          ...TEXT,
          price: { input: '40', output: '240' },
          routes: [{ upstream: 'one', model: 'their-1', cost: { currency: 'USD', input: '0.4', output: '1' } }],
        },
      ],
      rates: { USD: { rub: usd, from: '2026-11-01' } },
      priceLists: { partner: { factor: '0.9' } },
    });
    const before = build(catalogOf(models('80')));
    const moved = build(catalogOf(models('120')), undefined, { pricesBefore: before.prices });
    expect(moved.warnings.map((warning) => describeWarning('ru', warning))).to.deep.equal([
      'text-1, вход: цена 40,00\u00a0₽ осталась прежней, она ниже закупочной (48,00\u00a0₽). Поднимите её.',
      'text-1, вход, в прайс-листе partner: цена 36,00\u00a0₽ осталась прежней, она ниже закупочной (48,00\u00a0₽). Уменьшите скидку или поднимите цену модели.',
    ]);
  });

  it('is that another model answers for a tier of smart', () => {
    const models = [TEXT, { ...TEXT, id: 'text-2', routes: [] }];
    const smart = { lite: ['text-1'], standard: ['text-1'], heavy: ['text-2'] };
    const { warnings } = build(catalogOf({ models, smart }));
    expect(warnings.map((warning) => describeWarning('ru', warning))).to.deep.equal([
      'Ни одна модель smart уровня heavy сейчас не доступна, вместо неё отвечает text-1.',
    ]);
  });

  it('stays as the catalog writes it if it is a rarer warning', () => {
    expect(describeWarning('ru', 'overrides.x: there is no model of this id')).to.equal(
      'overrides.x: there is no model of this id',
    );
  });
});
