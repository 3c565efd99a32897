// The prices of a text model as text, one line for its own prices and one for each band.
import { type TextPrice, TOKEN_RATES, type TokenRates } from '../money/price.ts';
import { defineWords } from './language.ts';
import type { OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    rates: {
      input: (price: string) => `${price} input`,
      audio: (price: string) => `${price} audio`,
      cacheRead: (price: string) => `${price} read from cache`,
      cacheWrite: (price: string) => `${price} written to cache for 5 min`,
      cacheWrite1h: (price: string) => `${price} written to cache for 1 h`,
      output: (price: string) => `${price} output`,
    },
    perMillion: (rates: string) => `${rates} per 1M tokens`,
    above: (tokens: string, rates: string) => `prompts longer than ${tokens} tokens: ${rates}`,
  },
  ru: {
    rates: {
      input: (price: string) => `вход ${price}`,
      audio: (price: string) => `аудио ${price}`,
      cacheRead: (price: string) => `чтение из кэша ${price}`,
      cacheWrite: (price: string) => `запись в кэш на 5\u00a0мин ${price}`,
      cacheWrite1h: (price: string) => `запись в кэш на 1\u00a0ч ${price}`,
      output: (price: string) => `выход ${price}`,
    },
    perMillion: (rates: string) => `${rates} за 1\u00a0млн токенов`,
    above: (tokens: string, rates: string) => `запросы длиннее ${tokens} токенов: ${rates}`,
  },
});

/** Prices of audio and the cache only where the model has them. */
export function describeTextPrice(visit: Pick<OwnerVisit, 'language' | 'format'>, price: TextPrice): readonly string[] {
  return [listRates(visit, price, TOKEN_RATES), ...listBands(visit, price)];
}

/** What stands beside the prices of input and output: those of audio and the cache, and of long prompts. */
export function describeMorePrices(
  visit: Pick<OwnerVisit, 'language' | 'format'>,
  price: TextPrice,
): readonly string[] {
  const kinds = TOKEN_RATES.filter((kind) => kind !== 'input' && kind !== 'output' && price[kind] !== undefined);
  return [...(kinds.length === 0 ? [] : [listRates(visit, price, kinds)]), ...listBands(visit, price)];
}

function listRates(
  visit: Pick<OwnerVisit, 'language' | 'format'>,
  rates: TokenRates,
  kinds: readonly (keyof TokenRates)[],
) {
  return WORDS[visit.language].perMillion(joinRates(visit, rates, kinds));
}

function listBands(visit: Pick<OwnerVisit, 'language' | 'format'>, { bands = [] }: TextPrice): readonly string[] {
  const { above } = WORDS[visit.language];
  return bands.map((band) => above(visit.format.number(band.above), joinRates(visit, band, TOKEN_RATES)));
}

function joinRates(
  { language, format }: Pick<OwnerVisit, 'language' | 'format'>,
  rates: TokenRates,
  kinds: readonly (keyof TokenRates)[],
): string {
  const names = WORDS[language].rates;
  return kinds
    .flatMap((kind) => {
      const rate = rates[kind];
      return rate === undefined ? [] : [names[kind](format.rubExact(rate))];
    })
    .join(', ');
}
