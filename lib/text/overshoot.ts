// How far a running text call is above its hold: output beyond `max_tokens` of a buffered model, or more input than was
// held for.
import type { Micro } from '../money/money.ts';
import { type TextPrice, type Tokens, textCost } from '../money/price.ts';

export interface RunningText {
  readonly price: TextPrice;
  /** The tokens that its hold is made for. */
  readonly held: Tokens;
  readonly used: Tokens;
}

export function overshootOf({ price, held, used }: RunningText, reserved: Micro): Micro {
  if (used.input <= held.input && used.output <= held.output) return 0n;
  const above = textCost(price, used) - reserved;
  return above > 0n ? above : 0n;
}
