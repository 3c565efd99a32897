// What customers pay for models beside what their vendors charge, for an operator.
import type { Catalog } from '../../catalog/catalog.ts';
import { describeSold } from '../../catalog/loss.ts';
import type { Model } from '../../catalog/model.ts';
import { pairMembers } from '../../money/loss.ts';
import { derivePrice, NO_MARKUP } from '../../money/markup.ts';
import type { PriceVector } from '../../money/price.ts';
import { table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { describeTextPrice } from '../token-price.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Prices',
    model: 'Model',
    cost: 'Cost',
    price: 'Customers pay',
    margin: 'Above cost',
    unknown: 'unknown',
    off: 'not sold',
    request: (price: string) => `${price} each`,
    second: (price: string, label: string) => `${price} per second${label}`,
    tokens: (price: string) => `${price} per 1M tokens`,
  },
  ru: {
    title: 'Цены',
    model: 'Модель',
    cost: 'Закупка',
    price: 'Клиент платит',
    margin: 'Наценка',
    unknown: 'неизвестна',
    off: 'не продаётся',
    request: (price: string) => `${price} за штуку`,
    second: (price: string, label: string) => `${price} за секунду${label}`,
    tokens: (price: string) => `${price} за 1\u00a0млн токенов`,
  },
});

/** Of the models with these ids. */
export function priceTable(visit: UserVisit, catalog: Catalog, ids: readonly string[]): Html {
  const words = WORDS[visit.language];
  const columns = [words.model, ...priceColumns(visit.language)].map((title) => ({ title }));
  const rows = ids.flatMap((id) => {
    const model = catalog.byName.get(id);
    return model ? [[html`<code>${id}</code>`, ...priceCells(visit, model)]] : [];
  });
  return table(words.title, columns, rows);
}

/** The titles of `priceCells`. */
export function priceColumns(language: UserVisit['language']): readonly string[] {
  const { cost, price, margin } = WORDS[language];
  return [cost, price, margin];
}

/** Cost, price and margin. */
export function priceCells(visit: UserVisit, model: Model): readonly string[] {
  const words = WORDS[visit.language];
  const cost = findCost(model);
  const margin = cost && findMargin(model, cost);
  return [
    cost ? describePrice(visit, cost) : words.unknown,
    model.off ? `${describePrice(visit, model.price)} (${words.off})` : describePrice(visit, model.price),
    margin === undefined ? words.unknown : visit.format.percent(margin),
  ];
}

/** In RUB, of the dearest route, which markups count from; of those whose cost is known. */
function findCost({ routes }: Model): PriceVector | undefined {
  const costs = routes.flatMap(({ cost }) => cost ?? []);
  return derivePrice(costs, { factor: NO_MARKUP, step: 1n });
}

export function describePrice(visit: Pick<UserVisit, 'language' | 'format'>, price: PriceVector): string {
  const words = WORDS[visit.language];
  const rub = visit.format.rubExact;
  if ('unit' in price) {
    if ('request' in price) return words.request(rub(price.request));
    if ('second' in price) return words.second(rub(price.second), '');
    return [...price.byResolution].map(([label, each]) => words.second(rub(each), ` (${label})`)).join(', ');
  }
  if ('request' in price) return words.request(rub(price.request));
  return 'output' in price ? describeTextPrice(visit, price).join('; ') : words.tokens(rub(price.input));
}

/** The smallest share that a price is above its cost; undefined if nothing can be compared. */
function findMargin(model: Model, cost: PriceVector): number | undefined {
  const pairs = pairMembers(model.price, cost, describeSold(model));
  const shares = pairs.flatMap(({ price, cost: bought }) =>
    bought === 0n ? [] : [Number(price - bought) / Number(bought)],
  );
  return shares.length === 0 ? undefined : Math.min(...shares);
}
