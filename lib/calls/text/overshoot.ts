// How far a text call may be, or is, above its hold: output beyond `max_tokens` from a buffered model, more input than
// held, above all of files, or writing to a cache that nobody asked for.

import { MAX_TOKENS_MAXIMUM } from '../../base/token-limits.ts';
import { type Micro, maxMicro } from '../../money/money.ts';
import {
  findDearestInput,
  findDearestOutput,
  roundPerUnit,
  type TextPrice,
  type Tokens,
  textCost,
} from '../../money/price.ts';
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
  readonly filesExcess?: number | undefined;
}

/** What a call may cost above its hold, for which other calls leave the money; undefined if nothing is expected. */
export function computeExcess(price: TextPrice, { buffered, filesExcess = 0 }: UncertainCall): Micro | undefined {
  // Without a vendor's count, files cost what is held.
  if (buffered) return computeUncappedExcess(price);
  return filesExcess > 0 ? roundPerUnit(BigInt(filesExcess) * findDearestInput(price)) : undefined;
}

/**
 * What an answer without a cap may cost above its hold: as many tokens as the longest one with a cap. One that is even
 * longer counts by what it has used.
 */
export function computeUncappedExcess(price: TextPrice): Micro {
  return textCost({ input: 0n, output: findDearestOutput(price) }, { input: 0, output: MAX_TOKENS_MAXIMUM });
}

export function computeOvershoot({ model, held, meter }: RunningText, reserved: Micro): Micro {
  if (!meter.exceeds(held) && !hasWritten(meter)) return 0n;
  const above = textCost(model.price, meter.used()) - reserved;
  return maxMicro(above, 0n);
}

/** Writing may cost more than the hold has for as many tokens. */
function hasWritten(meter: RunningText['meter']): boolean {
  const { cacheWrite, cacheWrite1h } = meter.promptSoFar();
  return cacheWrite !== undefined || cacheWrite1h !== undefined;
}
