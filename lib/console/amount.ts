// Parses sums and other decimal numbers typed into forms.
import { AMOUNT_MAX, type Micro, parseRub } from '../money/money.ts';
import type { Language } from './language.ts';

/** A thousand on an English page, which writes sums like that; others type a decimal comma there. */
const AMBIGUOUS = /^[1-9]\d{0,2},\d{3}$/;
/** With its thousands apart, as English pages write sums. */
const GROUPED = /^[1-9]\d{0,2}(?:,\d{3}\.\d+|(?:,\d{3}){2,}(?:\.\d+)?)$/;
/** The currency, as pages write it or people do. */
const ROUBLES = /^(?:₽|rub)|(?:₽|rub|руб\.?|р\.?)$/iu;

/** Undefined unless it is a sum above zero. */
export function readRub(text: string, language: Language): Micro | undefined {
  const micro = readDecimal(text.replaceAll(/\s/g, '').replace(ROUBLES, ''), language);
  return micro !== undefined && micro > 0n && micro <= AMOUNT_MAX ? micro : undefined;
}

/** In millionths. Accepts spaces and a decimal comma; undefined for what may mean two numbers. */
export function readDecimal(text: string, language: Language): Micro | undefined {
  const typed = text.replaceAll(/\s/g, '');
  if (language === 'ru') return parseRub(typed.replace(',', '.'));
  if (AMBIGUOUS.test(typed)) return undefined;
  return parseRub(GROUPED.test(typed) ? typed.replaceAll(',', '') : typed.replace(',', '.'));
}
