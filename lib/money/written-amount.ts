// Amounts in RUB as people read them in a text, from the exact decimals that the ledger and the faults give.
const MINUS = '\u2212';
const MARKS = { en: [',', '.'], ru: ['\u00a0', ','] } as const;

/** `1500.50` as `1,500.50` or `1 500,50`. */
export function writeAmount(amount: string, language: keyof typeof MARKS): string {
  const [thousands, point] = MARKS[language];
  const [whole = '', ...decimals] = amount.split('.');
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, thousands), ...decimals].join(point).replace('-', MINUS);
}
