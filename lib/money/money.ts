// Money as bigint micro-roubles: 1 RUB = 1 000 000. Doubles appear only in replies.

/** An amount in micro-roubles. */
export type Micro = bigint;

export const MICRO_PER_RUB = 1_000_000n;
export const KOPECK = MICRO_PER_RUB / 100n;

/** The most that one operation may move: a billion roubles, well within int64. */
export const AMOUNT_MAX: Micro = 1_000_000_000n * MICRO_PER_RUB;

const DECIMAL = /^(-?)(\d{1,12})(?:\.(\d{1,6}))?$/;

/** Reads a decimal string such as `12.5`; undefined if it is not one with at most 6 decimals. */
export function parseRub(text: string): Micro | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '0', fraction = ''] = match;
  const micro = BigInt(whole) * MICRO_PER_RUB + BigInt(fraction.padEnd(6, '0'));
  return sign ? -micro : micro;
}

/** The number in RUB for a JSON reply. */
export function toRub(micro: Micro): number {
  return Number(micro) / 1e6;
}

/** An exact decimal string in RUB with at least two decimals, for people: `999.50`. */
export function formatRub(micro: Micro): string {
  const sign = micro < 0n ? '-' : '';
  const abs = absMicro(micro);
  const fraction = (abs % MICRO_PER_RUB)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${sign}${abs / MICRO_PER_RUB}.${fraction}`;
}

/** The part of an amount taken back that the balance does not cover; the balance goes below zero by that part. */
export function computeShortfall(taken: Micro, avail: Micro): Micro {
  return maxMicro(taken - maxMicro(avail, 0n), 0n);
}

/** Sorts the highest first. */
export function compareMicro(one: Micro, other: Micro): number {
  return one === other ? 0 : one > other ? -1 : 1;
}

export function minMicro(first: Micro, ...others: readonly Micro[]): Micro {
  // biome-ignore lint/complexity/useMathMinMax: it takes no bigint
  return others.reduce((least, one) => (one < least ? one : least), first);
}

export function maxMicro(first: Micro, ...others: readonly Micro[]): Micro {
  // biome-ignore lint/complexity/useMathMinMax: it takes no bigint
  return others.reduce((most, one) => (one > most ? one : most), first);
}

export function absMicro(amount: Micro): Micro {
  return amount < 0n ? -amount : amount;
}
