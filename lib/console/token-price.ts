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
      cacheWrite: (price: string) => `запись в кэш на 5 мин ${price}`,
      cacheWrite1h: (price: string) => `запись в кэш на 1 ч ${price}`,
      output: (price: string) => `выход ${price}`,
    },
    perMillion: (rates: string) => `${rates} за 1 млн токенов`,
    above: (tokens: string, rates: string) => `запросы длиннее ${tokens} токенов: ${rates}`,
  },
});

/** Prices of audio and the cache only where the model has them. */
export function describeTextPrice(visit: Pick<OwnerVisit, 'language' | 'format'>, price: TextPrice): readonly string[] {
  const words = WORDS[visit.language];
  const { format } = visit;
  const list = (rates: TokenRates) =>
    TOKEN_RATES.flatMap((kind) => {
      const rate = rates[kind];
      return rate === undefined ? [] : [words.rates[kind](format.rubExact(rate))];
    }).join(', ');
  const bands = price.bands?.map((band) => words.above(format.number(band.above), list(band))) ?? [];
  return [words.perMillion(list(price)), ...bands];
}
