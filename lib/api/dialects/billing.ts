// The text billing block of every dialect, in RUB.
import { toRub } from '../../money/money.ts';
import type { BillingPart } from '../../stream/part.ts';

interface TextBilling {
  readonly charged_rub: number;
  readonly reserved_rub: number;
  readonly balance_rub: number;
  readonly unit: '1M_tokens';
  readonly rub_per_mtok_in: number;
  readonly rub_per_mtok_out: number;
  /** Repeats the input price, for older clients. */
  readonly rub_per_mtok: number;
  /** Only if such tokens were billed. */
  readonly rub_per_mtok_audio?: number;
  readonly rub_per_mtok_cache_read?: number;
  readonly rub_per_mtok_cache_write?: number;
  readonly rub_per_mtok_cache_write_1h?: number;
}

export function billingBlock(part: BillingPart): TextBilling {
  return {
    charged_rub: toRub(part.charged),
    reserved_rub: toRub(part.reserved),
    balance_rub: toRub(part.balance),
    unit: '1M_tokens',
    rub_per_mtok_in: toRub(part.priceInput),
    rub_per_mtok_out: toRub(part.priceOutput),
    rub_per_mtok: toRub(part.priceInput),
    ...(part.priceAudio !== undefined && { rub_per_mtok_audio: toRub(part.priceAudio) }),
    ...(part.priceCacheRead !== undefined && { rub_per_mtok_cache_read: toRub(part.priceCacheRead) }),
    ...(part.priceCacheWrite !== undefined && { rub_per_mtok_cache_write: toRub(part.priceCacheWrite) }),
    ...(part.priceCacheWrite1h !== undefined && { rub_per_mtok_cache_write_1h: toRub(part.priceCacheWrite1h) }),
  };
}
