// Sums as people type them into forms.
import { expect } from 'chai';
import { readRub } from '../../lib/console/amount.ts';

describe('a sum typed into a form', () => {
  for (const [typed, en, ru] of [
    ['1000', 1_000_000_000n, 1_000_000_000n],
    ['1 000,50', 1_000_500_000n, 1_000_500_000n],
    ['1\u00a0000', 1_000_000_000n, 1_000_000_000n],
    ['1500,5', 1_500_500_000n, 1_500_500_000n],
    ['0,125', 125_000n, 125_000n],
    ['1,000', undefined, 1_000_000n],
    ['12,500', undefined, 12_500_000n],
    ['1,500.50', undefined, undefined],
    ['1,000,000', undefined, undefined],
    ['-5', undefined, undefined],
    ['0', undefined, undefined],
  ] as const) {
    it(`${typed} is ${en ?? 'refused'} in English and ${ru ?? 'refused'} in Russian`, () => {
      expect([readRub(typed, 'en'), readRub(typed, 'ru')]).to.deep.equal([en, ru]);
    });
  }
});
