// Sums as people type them into forms.
import { expect } from 'chai';
import { readDecimal, readRub } from '../../lib/console/amount.ts';

describe('a sum typed into a form', () => {
  for (const [typed, en, ru] of [
    ['1000', 1_000_000_000n, 1_000_000_000n],
    ['1 000,50', 1_000_500_000n, 1_000_500_000n],
    ['1\u00a0000', 1_000_000_000n, 1_000_000_000n],
    ['1500,5', 1_500_500_000n, 1_500_500_000n],
    ['0,125', 125_000n, 125_000n],
    ['1,000', undefined, 1_000_000n],
    ['12,500', undefined, 12_500_000n],
    ['1,500.50', 1_500_500_000n, undefined],
    ['1,000,000', 1_000_000_000_000n, undefined],
    ['1,5000.50', undefined, undefined],
    ['1\u00a0000,50\u00a0₽', 1_000_500_000n, 1_000_500_000n],
    ['₽1,000.50', 1_000_500_000n, undefined],
    ['500 руб.', 500_000_000n, 500_000_000n],
    ['500 р', 500_000_000n, 500_000_000n],
    ['RUB 500', 500_000_000n, 500_000_000n],
    ['500 rub', 500_000_000n, 500_000_000n],
    ['500 ₽ 5', undefined, undefined],
    ['₽', undefined, undefined],
    ['1 000 000 000,01', undefined, undefined],
    ['-5', undefined, undefined],
    ['0', undefined, undefined],
  ] as const) {
    it(`${typed} is ${en ?? 'refused'} in English and ${ru ?? 'refused'} in Russian`, () => {
      expect([readRub(typed, 'en'), readRub(typed, 'ru')]).to.deep.equal([en, ru]);
    });
  }
});

describe('another decimal number typed into a form', () => {
  it('may be zero or below it, and has no currency', () => {
    expect(['0', '-1,5', '1 000,5', '5 ₽'].map((typed) => readDecimal(typed, 'ru'))).to.deep.equal([
      0n,
      -1_500_000n,
      1_000_500_000n,
      undefined,
    ]);
  });

  it('is refused on an English page if it may be a thousand or one', () => {
    expect([readDecimal('1,500', 'en'), readDecimal('1,500', 'ru')]).to.deep.equal([undefined, 1_500_000n]);
  });
});
