// Parses sums typed into forms.
import { AMOUNT_MAX, type Micro, parseRub } from '../money/money.ts';

/** Undefined unless it is a sum above zero. Accepts spaces and a decimal comma. */
export function readRub(text: string): Micro | undefined {
  const micro = parseRub(text.replaceAll(/\s/g, '').replace(',', '.'));
  return micro !== undefined && micro > 0n && micro <= AMOUNT_MAX ? micro : undefined;
}
