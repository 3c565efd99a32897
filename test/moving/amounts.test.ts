// Quotas and ratios as micro-roubles: exact, with one rounding.
import { expect } from 'chai';
import {
  createExchange,
  type Decimal,
  dollarsToMicro,
  formatDecimal,
  parseDecimal,
  priceUnits,
  quotaToMicro,
} from '../../lib/moving/amounts.ts';

const RATE = 81_400_000n;
const exchange = createExchange(RATE, undefined);
const decimal = (text: string) => parseDecimal(text) as Decimal;

describe('amounts of another gateway', () => {
  for (const [text, wanted] of [
    ['1.50', '1.5'],
    ['-0.075', '-0.075'],
    ['1e-7', '0.0000001'],
    ['2.5E3', '2500'],
    ['0.9000000000000000222', '0.9'],
    ['+7', '7'],
    ['', undefined],
    ['abc', undefined],
    ['1,5', undefined],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => {
      const found = parseDecimal(text);
      expect(found && formatDecimal(found)).to.equal(wanted);
    });
  }

  it('makes quota roubles, rounded half away from zero', () => {
    expect(quotaToMicro(500_000n, exchange)).to.equal(RATE);
    expect(quotaToMicro(1n, exchange)).to.equal(163n);
    expect(quotaToMicro(5n, exchange)).to.equal(814n);
    const half = createExchange(250_000n, undefined);
    expect([1n, -1n, 3n].map((quota) => quotaToMicro(quota, half))).to.deep.equal([1n, -1n, 2n]);
    const huge = 9_007_199_254_740_993n;
    expect(quotaToMicro(huge, exchange)).to.equal((huge * RATE + 250_000n) / 500_000n);
  });

  it('follows another quota of a dollar, of prices too', () => {
    const stated = createExchange(RATE, '1000000.5');
    expect(quotaToMicro(2_000_001n, stated)).to.equal(2n * RATE);
    expect(priceUnits(1_000_000n, decimal('1.25'), stated)).to.equal(101_749_949n);
    expect(priceUnits(2_000_001n, decimal('-0.5'), stated)).to.equal(-RATE);
    expect(priceUnits(1_000_000n, decimal('1.25'), exchange)).to.equal(203_500_000n);
    expect(priceUnits(1_000_000n, decimal('0.0000001'), exchange)).to.equal(16n);
    expect(dollarsToMicro(decimal('0.04'), exchange)).to.equal(3_256_000n);
    for (const bad of ['0', '-1', 'x']) expect(() => createExchange(RATE, bad)).to.throw('QuotaPerUnit');
  });
});
