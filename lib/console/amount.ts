// Sums as people type them into forms.
import { AMOUNT_MAX, type Micro, parseRub } from '../money/money.ts';

/** Above zero; undefined for anything else. Spaces and a decimal comma are accepted. */
export function readRub(text: string): Micro | undefined {
  const micro = parseRub(text.replaceAll(/\s/g, '').replace(',', '.'));
  return micro !== undefined && micro > 0n && micro <= AMOUNT_MAX ? micro : undefined;
}
