// Reading and writing amounts: exact, and back again.
import { expect } from 'chai';
import fc from 'fast-check';
import { AMOUNT_MAX, formatRub, parseRub, toRub } from '../../lib/money/money.ts';

describe('money', () => {
  const read: readonly [text: string, micro: bigint | undefined][] = [
    ['0', 0n],
    ['-0', 0n],
    ['1', 1_000_000n],
    ['12.5', 12_500_000n],
    ['0.000001', 1n],
    ['0.1', 100_000n],
    ['-3.141592', -3_141_592n],
    ['007.70', 7_700_000n],
    ['999999999999.999999', 999_999_999_999_999_999n],
    ['1000000000000', undefined],
    ['0.0000001', undefined],
    ['1.', undefined],
    ['.5', undefined],
    ['', undefined],
    [' 1', undefined],
    ['1 ', undefined],
    ['1\n', undefined],
    ['+1', undefined],
    ['--1', undefined],
    ['1,5', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['1_000', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['１', undefined],
  ];
  for (const [text, micro] of read) {
    it(`reads ${JSON.stringify(text)} as ${micro}`, () => {
      expect(parseRub(text)).to.equal(micro);
    });
  }

  const written: readonly [micro: bigint, text: string][] = [
    [0n, '0.00'],
    [1n, '0.000001'],
    [10n, '0.00001'],
    [500_000n, '0.50'],
    [999_500_000n, '999.50'],
    [1_000_000n, '1.00'],
    [1_234_567n, '1.234567'],
    [1_230_000n, '1.23'],
    [1_203_000n, '1.203'],
    [-1n, '-0.000001'],
    [-2_500_000n, '-2.50'],
    [AMOUNT_MAX, '1000000000.00'],
  ];
  for (const [micro, text] of written) {
    it(`writes ${micro} as ${text}`, () => {
      expect(formatRub(micro)).to.equal(text);
    });
  }

  it('parses whatever it formats', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -AMOUNT_MAX * 900n, max: AMOUNT_MAX * 900n }), (micro) => {
        expect(parseRub(formatRub(micro))).to.equal(micro);
      }),
    );
  });

  it('converts to a double that has the same value to six decimals', () => {
    expect([toRub(1n), toRub(999_500_000n), toRub(-500_000n), toRub(0n)]).to.deep.equal([0.000001, 999.5, -0.5, 0]);
    fc.assert(
      fc.property(fc.bigInt({ min: -AMOUNT_MAX, max: AMOUNT_MAX }), (micro) => {
        const text = JSON.stringify(toRub(micro));
        expect(text).to.match(/^-?\d+(\.\d{1,6})?$/);
        expect(parseRub(text)).to.equal(micro);
      }),
    );
  });
});
