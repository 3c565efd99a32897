// Exact money of another gateway: its quota and ratios, which are decimal numbers, in micro-roubles.
import { OperatorError } from '../base/operator-error.ts';
import type { Micro } from '../money/money.ts';

/** `units` / 10^`scale`, exactly. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** Decimals that a binary number always keeps. */
const DOUBLE_DIGITS = 17;

const DECIMAL = /^([-+]?)(\d+)(?:\.(\d*))?(?:e([-+]?\d{1,3}))?$/i;

/** A number as JSON or a database writes it; undefined if it is none. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text.trim());
  if (!match) return undefined;
  // Some programs print the whole binary fraction of a number: 0.9 as 0.9000000000000000222.
  if ((match[3] ?? '').length > DOUBLE_DIGITS) return parseDecimal(String(Number(text)));
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const units = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale };
}

export function multiply(...factors: readonly Decimal[]): Decimal {
  return factors.reduce((one, other) => ({ units: one.units * other.units, scale: one.scale + other.scale }));
}

/** Rounds to a whole number, half away from zero; the divisor is above zero. */
function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n;
  const rounded = (2n * (isNegative ? -dividend : dividend) + divisor) / (2n * divisor);
  return isNegative ? -rounded : rounded;
}

/** How a store's money becomes roubles. */
export interface Exchange {
  /** What a dollar is worth. */
  readonly rate: Micro;
  /** The quota of a dollar. */
  readonly perDollar: Decimal;
}

/** What a dollar buys unless the store says otherwise. */
const QUOTA_PER_DOLLAR: Decimal = { units: 500_000n, scale: 0 };

/** `stated`: the option of the store, if it has one. */
export function createExchange(rate: Micro, stated: string | undefined): Exchange {
  const perDollar = stated === undefined ? QUOTA_PER_DOLLAR : parseDecimal(stated);
  if (!perDollar || perDollar.units <= 0n)
    throw new OperatorError(`QuotaPerUnit is not a number above zero: ${stated}`);
  return { rate, perDollar };
}

/** One rounding, half away from zero. */
export function quotaToMicro(quota: bigint, { rate, perDollar }: Exchange): Micro {
  return divideRounded(quota * rate * 10n ** BigInt(perDollar.scale), perDollar.units);
}

/** The price of a number of units that cost `ratio` of quota each; one rounding. */
export function priceUnits(units: bigint, ratio: Decimal, exchange: Exchange): Micro {
  const { rate, perDollar } = exchange;
  const top = units * ratio.units * rate * 10n ** BigInt(perDollar.scale);
  return divideRounded(top, perDollar.units * 10n ** BigInt(ratio.scale));
}

/** An amount in dollars; one rounding. */
export function dollarsToMicro({ units, scale }: Decimal, { rate }: Exchange): Micro {
  return divideRounded(units * rate, 10n ** BigInt(scale));
}

/** The shortest text of a decimal: `1.5`. */
export function formatDecimal({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
