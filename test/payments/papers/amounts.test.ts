import { expect } from 'chai';
import { spellKopecks } from '../../../lib/payments/papers/amount-words.ts';
import { computeVat } from '../../../lib/payments/papers/vat.ts';

describe('sums on papers', () => {
  const WORDS: readonly (readonly [bigint, string])[] = [
    [0n, 'Ноль рублей 00 копеек'],
    [1n, 'Ноль рублей 01 копейка'],
    [100n, 'Один рубль 00 копеек'],
    [204n, 'Два рубля 04 копейки'],
    [1150n, 'Одиннадцать рублей 50 копеек'],
    [2121n, 'Двадцать один рубль 21 копейка'],
    [11_213n, 'Сто двенадцать рублей 13 копеек'],
    [100_000n, 'Одна тысяча рублей 00 копеек'],
    [250_222n, 'Две тысячи пятьсот два рубля 22 копейки'],
    [1_101_100n, 'Одиннадцать тысяч одиннадцать рублей 00 копеек'],
    [12_100_000n, 'Сто двадцать одна тысяча рублей 00 копеек'],
    [100_000_000n, 'Один миллион рублей 00 копеек'],
    [300_200_110n, 'Три миллиона две тысячи один рубль 10 копеек'],
    [1_200_000_000_500n, 'Двенадцать миллиардов пять рублей 00 копеек'],
  ];
  for (const [kopecks, words] of WORDS)
    it(`spells ${kopecks} kopecks`, () => {
      expect(spellKopecks(kopecks)).to.equal(words);
    });

  it('find the tax within a sum, rounded half up', () => {
    expect(computeVat(122_00n, '22')).to.equal(22_00n);
    expect(computeVat(1_000_000n, '22')).to.equal(180_328n);
    expect(computeVat(1_000_000n, '5')).to.equal(47_619n);
    expect(computeVat(1_000_000n, '7')).to.equal(65_421n);
    expect(computeVat(1_000_000n, 'none')).to.equal(undefined);
  });
});
