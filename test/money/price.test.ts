// The cost and the hold of a text call: one half-up rounding, the minimum price, the minimum of held output tokens.
import { expect } from 'chai';
import fc from 'fast-check';
import { parseRub } from '../../lib/money/money.ts';
import { embeddingCost, TEXT_MINIMUM, type TextPrice, textCost, textHold } from '../../lib/money/price.ts';

function price(input: string, output: string): TextPrice {
  return { input: parseRub(input) ?? 0n, output: parseRub(output) ?? 0n };
}

describe('prices', () => {
  describe('the cost of embeddings', () => {
    for (const [name, input, tokens, micro] of [
      ['tokens at the input price', '2.5', 1_000_000, 2_500_000n],
      ['half a micro-rouble goes up', '2.500001', 500_000, 1_250_001n],
      ['nothing costs the minimum', '2.5', 0, 500_000n],
      ['just below the minimum', '1', 499_999, 500_000n],
      ['just above the minimum', '1', 500_001, 500_001n],
    ] as const) {
      it(name, () => {
        expect(embeddingCost({ input: parseRub(input) ?? 0n }, tokens)).to.equal(micro);
      });
    }
  });

  describe('the cost of a text call', () => {
    const rows: readonly [name: string, price: TextPrice, input: number, output: number, micro: bigint][] = [
      ['input and output at their own price', price('40', '240'), 100_000, 20_000, 8_800_000n],
      ['a million of each', price('40', '240'), 1_000_000, 1_000_000, 280_000_000n],
      ['nothing costs the minimum', price('40', '240'), 0, 0, 500_000n],
      ['a short call costs the minimum', price('40', '240'), 100, 200, 500_000n],
      ['just below the minimum', price('1', '1'), 499_999, 0, 500_000n],
      ['exactly the minimum', price('1', '1'), 500_000, 0, 500_000n],
      ['just above the minimum', price('1', '1'), 500_001, 0, 500_001n],
      ['half a micro-rouble goes up', price('1.000001', '1'), 500_000, 0, 500_001n],
      ['less than half goes down', price('1.000001', '1'), 600_000 - 200_000, 100_000, 500_000n],
      ['one rounding for the sum, not one for each side', price('1.000001', '1.000001'), 500_000, 500_000, 1_000_001n],
      ['the most a price can be', price('999999.999999', '999999.999999'), 1, 1, 2_000_000n],
    ];
    for (const [name, tariff, input, output, micro] of rows) {
      it(name, () => {
        expect(textCost(tariff, { input, output })).to.equal(micro);
      });
    }

    it('is never below the minimum, grows with the tokens, and is at most half a micro-rouble off', () => {
      const micro = fc.bigInt({ min: 1n, max: 100_000_000_000n });
      const count = fc.integer({ min: 0, max: 10_000_000 });
      fc.assert(
        fc.property(micro, micro, count, count, (input, output, tokensIn, tokensOut) => {
          const cost = textCost({ input, output }, { input: tokensIn, output: tokensOut });
          const exact = BigInt(tokensIn) * input + BigInt(tokensOut) * output;
          expect(cost >= TEXT_MINIMUM).to.equal(true);
          if (cost > TEXT_MINIMUM) {
            const off = cost * 1_000_000n - exact;
            expect(off > -500_000n && off <= 500_000n, `${off}`).to.equal(true);
          }
          const more = textCost({ input, output }, { input: tokensIn + 1, output: tokensOut });
          expect(more >= cost).to.equal(true);
        }),
      );
    });
  });

  describe('the hold of a text call', () => {
    const rows: readonly [name: string, input: number, maxTokens: number, micro: bigint][] = [
      ['the default of 8192 tokens', 1000, 8192, 2_006_080n],
      ['the maximum of 32768 tokens', 1000, 32_768, 7_904_320n],
      ['counts at least 512 tokens', 100_000, 1, 4_122_880n],
      ['counts 512 tokens as they are', 100_000, 512, 4_122_880n],
      ['counts 513 tokens as they are', 100_000, 513, 4_123_120n],
      ['holds at least the minimum charge', 1, 1, 500_000n],
    ];
    for (const [name, input, maxTokens, micro] of rows) {
      it(name, () => {
        expect(textHold(price('40', '240'), { input, inputMost: input, maxTokens })).to.equal(micro);
      });
    }

    it('covers every cost within its number of tokens', () => {
      const tokens = fc.record({ input: fc.nat(200_000), maxTokens: fc.integer({ min: 1, max: 32_768 }) });
      fc.assert(
        fc.property(tokens, fc.double({ min: 0, max: 1, noNaN: true }), ({ input, maxTokens }, share) => {
          const tariff = price('37.123457', '241.999999');
          const cost = textCost(tariff, { input, output: Math.floor(maxTokens * share) });
          expect(cost <= textHold(tariff, { input, inputMost: input, maxTokens })).to.equal(true);
        }),
      );
    });
  });
});
