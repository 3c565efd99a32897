// The prices that a charge keeps, as JSON of decimal micro-roubles: its cost can be computed again from them.
import type { Micro } from './money.ts';
import { type EmbeddingPrice, type ImagePrice, type TextPrice, TOKEN_RATES, type TokenRates } from './price.ts';

/** The list that set the prices of a call, as a member `list` of the stored prices. */
export interface StoredList {
  readonly name: string;
  /** Changes with any price of the list. */
  readonly version: string;
  /** The list price, as `serializeCost` stores it. */
  readonly prices: Readonly<Record<string, unknown>>;
}

/** `list`: the price list that set the prices, if any. */
export function serializePrice(price: TextPrice | EmbeddingPrice | ImagePrice, list?: StoredList): string {
  return JSON.stringify(list ? { ...price, list } : price, (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
}

/** Reads the stored prices of a text call, parsed from JSON; undefined if they are not such prices. */
export function readTextPrice(stored: Readonly<Record<string, unknown>>): TextPrice | undefined {
  const { bands, ...own } = stored;
  const rates = readRates(own);
  if (!rates || bands === undefined) return rates;
  if (!Array.isArray(bands)) return undefined;
  const read = bands.flatMap((band) => {
    const { above, ...prices } = (band ?? {}) as Record<string, unknown>;
    const found = Number.isSafeInteger(above) ? readRates(prices) : undefined;
    return found ? [{ above: above as number, ...found }] : [];
  });
  return read.length === bands.length ? { ...rates, bands: read } : undefined;
}

function readRates(stored: Readonly<Record<string, unknown>>): TokenRates | undefined {
  const rates: { -readonly [Kind in keyof TokenRates]?: Micro } = {};
  for (const kind of TOKEN_RATES) {
    const value = stored[kind];
    if (value === undefined) continue;
    if (!isAmount(value)) return undefined;
    rates[kind] = BigInt(value);
  }
  const { input, output } = rates;
  return input === undefined || output === undefined ? undefined : { ...rates, input, output };
}

/** A decimal number of micro-roubles. */
export function isAmount(value: unknown): value is string {
  return typeof value === 'string' && /^\d+$/.test(value);
}
