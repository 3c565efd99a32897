// How far a text call may be, or is, above its hold: output beyond `max_tokens` from a buffered model, more input than
// held, above all of files, or audio and writing to a cache that nobody expected.

import { MAX_TOKENS_MAXIMUM } from '../../base/token-limits.ts';
import { type Micro, maxMicro } from '../../money/money.ts';
import { findDearestRate, listRates, roundPerUnit, type TextPrice, type Tokens, textCost } from '../../money/price.ts';
import type { Meter } from '../../stream/meter.ts';

interface RunningText {
  readonly model: { readonly price: TextPrice };
  /** The tokens that its hold covers. */
  readonly held: Tokens;
  readonly meter: Pick<Meter, 'exceeds' | 'promptSoFar' | 'used'>;
}

interface UncertainCall {
  /** Its output has no cap. */
  readonly buffered: boolean;
  readonly documentsExcess?: number | undefined;
  readonly audioExcess?: number | undefined;
}

/** What a call may cost above its hold, for which other calls leave the money; undefined if nothing is expected. */
export function computeExcess(price: TextPrice, call: UncertainCall): Micro | undefined {
  const { buffered, documentsExcess = 0, audioExcess = 0 } = call;
  // Without a vendor's count, files cost what is held.
  if (buffered) return computeUncappedExcess(price);
  if (documentsExcess + audioExcess === 0) return undefined;
  const rates = listRates(price);
  const documents = BigInt(documentsExcess) * findDearestRate(rates, ['input']);
  return roundPerUnit(documents + BigInt(audioExcess) * findDearestRate(rates, ['input', 'audio']));
}

/**
 * What an answer without a cap may cost above its hold: as many tokens as the longest one with a cap. One that is even
 * longer counts by what it has used.
 */
export function computeUncappedExcess(price: TextPrice): Micro {
  return textCost(
    { input: 0n, output: findDearestRate(listRates(price), ['output']) },
    { input: 0, output: MAX_TOKENS_MAXIMUM },
  );
}

export function computeOvershoot({ model, held, meter }: RunningText, reserved: Micro): Micro {
  if (!meter.exceeds(held) && !hasDearTokens(meter)) return 0n;
  const above = textCost(model.price, meter.used()) - reserved;
  return maxMicro(above, 0n);
}

/** Audio and writing may cost more than the hold has for as many tokens. */
function hasDearTokens(meter: RunningText['meter']): boolean {
  const { audio, cacheWrite, cacheWrite1h } = meter.promptSoFar();
  return (audio ?? cacheWrite ?? cacheWrite1h) !== undefined;
}
