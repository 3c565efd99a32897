// The available models with their prices, and a price calculator.

import { isFault } from '../../base/faults.ts';
import { computeHold } from '../../calls/text/hold.ts';
import { type Catalog, chooseCatalog } from '../../catalog/catalog.ts';
import { listModels, type ModelListing } from '../../catalog/listing.ts';
import { findModel } from '../../catalog/lookup.ts';
import type { Model } from '../../catalog/model.ts';
import type { Micro } from '../../money/money.ts';
import { embeddingCost, TEXT_MINIMUM, textCost } from '../../money/price.ts';
import { TOKENS_PER_IMAGE } from '../../stream/image-tokens.ts';
import { definitionList, field, select, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { describeMorePrices } from '../token-price.ts';
import type { OwnerVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Models',
    caption: 'Models and prices',
    model: 'Model',
    type: 'Type',
    provider: 'Developer',
    input: 'Input / 1M',
    output: 'Output / 1M',
    price: 'Other prices',
    types: { text: 'text', embedding: 'embeddings', image: 'image', video: 'video' },
    least: (minimum: string) =>
      `A call to a text or embedding model costs at least ${minimum}, however few tokens it uses.`,
    minimum: 'minimum per call',
    smart: 'the price of the model it picks',
    request: (price: string) => `${price} each`,
    second: (price: string) => `${price} per second`,
    calculator: 'What would it cost?',
    characters: 'Characters in the request',
    cached: 'Of these, read from the cache',
    answer: 'Characters in the answer',
    max: 'Answer limit (max_tokens)',
    seconds: 'Seconds of video',
    images: 'Images',
    button: 'Calculate',
    held: 'Held',
    cost: 'Estimated cost',
    hint: 'An estimate: 4 characters per token, 1,000 tokens per attached image. You are charged for the actual tokens.',
    aliases: (names: string) => `also ${names}`,
  },
  ru: {
    title: 'Модели',
    caption: 'Модели и цены',
    model: 'Модель',
    type: 'Тип',
    provider: 'Разработчик',
    input: 'Вход / 1\u00a0млн',
    output: 'Выход / 1\u00a0млн',
    price: 'Другие цены',
    types: { text: 'текст', embedding: 'эмбеддинги', image: 'картинка', video: 'видео' },
    least: (minimum: string) =>
      `Запрос к текстовой модели или к модели эмбеддингов стоит не меньше ${minimum}, даже если токенов мало.`,
    minimum: 'минимум за запрос',
    smart: 'по цене модели, которую выберет smart',
    request: (price: string) => `${price} за штуку`,
    second: (price: string) => `${price} за секунду`,
    calculator: 'Сколько это стоит?',
    characters: 'Символов в запросе',
    cached: 'Из них прочитано из кэша',
    answer: 'Символов в ответе',
    max: 'Лимит ответа (max_tokens)',
    seconds: 'Секунд видео',
    images: 'Картинок',
    button: 'Посчитать',
    held: 'Резерв на время запроса',
    cost: 'Примерная стоимость',
    hint: 'Оценка: 4 символа на токен, 1000 токенов на картинку в запросе. Спишем за фактическое число токенов.',
    aliases: (names: string) => `также ${names}`,
  },
});

export const models = page({
  path: '/account/models',
  who: 'account',
  get(visit) {
    const words = WORDS[visit.language];
    const listed = listModels(chooseOwnCatalog(visit));
    const columns = [
      { title: words.model, narrow: 'main' as const },
      ...[words.type, words.provider].map((title) => ({ title })),
      ...[words.input, words.output].map((title) => ({ title, number: true, narrow: 'named' as const })),
      { title: words.price },
    ];
    const rows = listed.map((model) => [
      html`<code>${model.id}</code>${model.aliases.length > 0 && html` <span class="hint">${words.aliases(model.aliases.join(', '))}</span>`}`,
      words.types[model.type],
      model.provider,
      ...priceCells(visit, model),
    ]);
    const least =
      listed.some(({ type }) => type === 'text' || type === 'embedding') && words.least(visit.format.rub(TEXT_MINIMUM));
    const body = html`${least && html`<p>${least}</p>`}${table(words.caption, columns, rows)}${calculator(visit, listed)}`;
    return { title: words.title, body };
  },
});

/** At the prices of the account. */
function chooseOwnCatalog({ services, account }: OwnerVisit): Catalog {
  return chooseCatalog(services.catalog(), account);
}

/** Of input and output tokens, and the others. */
function priceCells(visit: OwnerVisit, model: ModelListing): readonly [string, string, string] {
  const words = WORDS[visit.language];
  const found = chooseOwnCatalog(visit).byName.get(model.id);
  if (!found) return ['', '', words.smart];
  const { format } = visit;
  switch (found.type) {
    case 'text': {
      const { price } = found;
      return [format.rubExact(price.input), format.rubExact(price.output), describeMorePrices(visit, price).join('; ')];
    }
    case 'embedding':
      return [format.rubExact(found.price.input), '', ''];
    case 'image':
      return ['', '', words.request(format.rubExact(found.price.request))];
    case 'video':
      return ['', '', videoPrice(visit, found.price)];
  }
}

type VideoPrice = Extract<Model, { type: 'video' }>['price'];

function videoPrice({ language, format }: OwnerVisit, price: VideoPrice): string {
  const words = WORDS[language];
  if ('request' in price) return words.request(format.rubExact(price.request));
  if ('second' in price) return words.second(format.rubExact(price.second));
  return words.second(
    [...price.byResolution].map(([label, micro]) => `${label}: ${format.rubExact(micro)}`).join(', '),
  );
}

const COUNT_MAX = 100_000_000;

function calculator(visit: OwnerVisit, listed: readonly ModelListing[]): Html {
  const words = WORDS[visit.language];
  const { query, path, format } = visit;
  const number = (name: string, otherwise: number) => {
    const text = query.get(name) ?? '';
    return /^\d{1,9}$/.test(text) ? Math.min(Number(text), COUNT_MAX) : otherwise;
  };
  const values = {
    characters: number('characters', 4000),
    cached: number('cached', 0),
    answer: number('answer', 2000),
    max: number('max', 8192),
    seconds: number('seconds', 5),
    images: number('images', 0),
  };
  const priced = listed.filter(({ price_rub }) => price_rub !== null).map(({ id }) => id);
  const chosen = query.get('model') ?? priced[0];
  const cost = chosen === undefined ? undefined : estimateCost(findNamedModel(visit, chosen), values);
  const account = query.get('account');
  const input = (name: keyof typeof values) =>
    field({
      name,
      label: words[name],
      type: 'number',
      value: String(values[name]),
      inputmode: 'numeric',
      optional: true,
    });
  return html`<h2 id="calculator">${words.calculator}</h2>
<form method="get" action="${path}#calculator" class="filter">
${account !== null && html`<input type="hidden" name="account" value="${account}">`}
${select(
  { name: 'model', label: words.model, chosen },
  priced.map((id) => [id, id]),
)}
${input('characters')}${hasCachePrice(visit) && input('cached')}${input('answer')}${input('max')}${input('images')}${input('seconds')}
<p><button>${words.button}</button></p></form>
${
  cost &&
  definitionList([
    [words.held, format.rub(cost.held)],
    [
      words.cost,
      html`<strong class="big">${format.rub(cost.cost)}</strong>${cost.isMinimum && html` <span class="hint">${words.minimum}</span>`}`,
    ],
  ])
}
<p class="hint">${words.hint}</p>`;
}

function findNamedModel(visit: OwnerVisit, name: string): Model | undefined {
  const catalog = chooseOwnCatalog(visit);
  const type = catalog.byName.get(name)?.type;
  try {
    return type && findModel(catalog, name, type);
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/** Whether a model charges less, or more, for what is read from a cache. */
function hasCachePrice(visit: OwnerVisit): boolean {
  return chooseOwnCatalog(visit).models.some((model) => {
    return model.type === 'text' && [model.price, ...(model.price.bands ?? [])].some(({ cacheRead }) => cacheRead);
  });
}

interface CalculatorValues {
  readonly characters: number;
  /** The part of the request that is read from a cache. */
  readonly cached: number;
  readonly answer: number;
  readonly max: number;
  readonly seconds: number;
  /** Attached to a text call, or generated by an image model: then at least one. */
  readonly images: number;
}

interface Estimate {
  readonly held: Micro;
  readonly cost: Micro;
  /** The tokens alone would cost less than the minimum. */
  readonly isMinimum: boolean;
}

const TOKEN_CHARACTERS = 4;

function estimateCost(model: Model | undefined, values: CalculatorValues): Estimate | undefined {
  if (!model) return undefined;
  if (model.type === 'text') {
    const toTokens = (characters: number) => Math.ceil(characters / TOKEN_CHARACTERS);
    const tokensHeld = toTokens(values.characters) + values.images * TOKENS_PER_IMAGE;
    const cacheRead = Math.min(toTokens(values.cached), toTokens(values.characters));
    const cost = textCost(model.price, { input: tokensHeld - cacheRead, cacheRead, output: toTokens(values.answer) });
    const held = computeHold(model, { tokensHeld, maxTokens: values.max });
    return { held, cost, isMinimum: cost === TEXT_MINIMUM };
  }
  if (model.type === 'embedding') {
    const cost = embeddingCost(model.price, Math.ceil(values.characters / TOKEN_CHARACTERS));
    return { held: cost, cost, isMinimum: cost === TEXT_MINIMUM };
  }
  const images = BigInt(Math.max(1, values.images));
  const price = model.type === 'image' ? model.price.request * images : videoCost(model.price, values.seconds);
  return { held: price, cost: price, isMinimum: false };
}

function videoCost(price: VideoPrice, seconds: number): Micro {
  if ('request' in price) return price.request;
  const perSecond = 'second' in price ? price.second : ([...price.byResolution.values()].at(-1) ?? 0n);
  return perSecond * BigInt(seconds);
}
