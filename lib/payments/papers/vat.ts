// The value-added tax that a seller states on papers: none, or a rate that the sum includes.

/** Rates of 2026: 22 % in general; 5 % and 7 % of sellers under the simplified system who pay it. */
export const VAT_RATES = ['none', '5', '7', '22'] as const;
export type VatRate = (typeof VAT_RATES)[number];

export function isVatRate(text: string): text is VatRate {
  return VAT_RATES.some((rate) => rate === text);
}

/** The tax within a sum, in kopecks, rounded half up; undefined without tax. */
export function computeVat(kopecks: bigint, rate: VatRate): bigint | undefined {
  if (rate === 'none') return undefined;
  const percent = BigInt(rate);
  const whole = 100n + percent;
  return (2n * kopecks * percent + whole) / (2n * whole);
}
