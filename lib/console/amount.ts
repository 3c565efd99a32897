// Parses sums typed into forms.
import { AMOUNT_MAX, type Micro, parseRub } from '../money/money.ts';
import type { Language } from './language.ts';

/** A thousand on an English page, which writes sums like that; others type a decimal comma there. */
const AMBIGUOUS = /^[1-9]\d{0,2},\d{3}$/;

/** Undefined unless it is a sum above zero. Accepts spaces and a decimal comma. */
export function readRub(text: string, language: Language): Micro | undefined {
  const typed = text.replaceAll(/\s/g, '');
  if (language === 'en' && AMBIGUOUS.test(typed)) return undefined;
  const micro = parseRub(typed.replace(',', '.'));
  return micro !== undefined && micro > 0n && micro <= AMOUNT_MAX ? micro : undefined;
}
