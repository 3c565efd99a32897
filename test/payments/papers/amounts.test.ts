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

  it('spells every number of a group and the name of every group', () => {
    const spell = (roubles: bigint) => spellKopecks(roubles * 100n).replace(/ рубл.*/, '');
    const numbers = [3n, 4n, 5n, 6n, 7n, 8n, 9n, ...Array.from({ length: 10 }, (_, at) => 10n + BigInt(at))];
    expect(numbers.map(spell).join(' ').toLowerCase()).to.equal(
      'три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать пятнадцать ' +
        'шестнадцать семнадцать восемнадцать девятнадцать',
    );
    expect([20n, 30n, 40n, 50n, 60n, 70n, 80n, 90n].map(spell).join(' ').toLowerCase()).to.equal(
      'двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто',
    );
    expect([100n, 200n, 300n, 400n, 500n, 600n, 700n, 800n, 900n].map(spell).join(' ').toLowerCase()).to.equal(
      'сто двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот',
    );
    const groups = [1n, 2n, 3n, 4n, 5n, 9n].map((count) =>
      [1000n, 1_000_000n, 1_000_000_000n, 1_000_000_000_000n].map((group) => spell(count * group)).join(', '),
    );
    expect(groups).to.deep.equal([
      'Одна тысяча, Один миллион, Один миллиард, Один триллион',
      'Две тысячи, Два миллиона, Два миллиарда, Два триллиона',
      'Три тысячи, Три миллиона, Три миллиарда, Три триллиона',
      'Четыре тысячи, Четыре миллиона, Четыре миллиарда, Четыре триллиона',
      'Пять тысяч, Пять миллионов, Пять миллиардов, Пять триллионов',
      'Девять тысяч, Девять миллионов, Девять миллиардов, Девять триллионов',
    ]);
    expect(
      [1n, 2n, 4n, 5n, 11n, 14n, 21n].map((roubles) =>
        spellKopecks(roubles * 100n + roubles).replace(/^.* (?=рубл)/, ''),
      ),
    ).to.deep.equal([
      'рубль 01 копейка',
      'рубля 02 копейки',
      'рубля 04 копейки',
      'рублей 05 копеек',
      'рублей 11 копеек',
      'рублей 14 копеек',
      'рубль 21 копейка',
    ]);
  });

  it('find the tax within a sum, rounded half up', () => {
    expect(computeVat(122_00n, '22')).to.equal(22_00n);
    expect(computeVat(1_000_000n, '22')).to.equal(180_328n);
    expect(computeVat(1_000_000n, '5')).to.equal(47_619n);
    expect(computeVat(1_000_000n, '7')).to.equal(65_421n);
    expect(computeVat(1_000_000n, 'none')).to.equal(undefined);
  });
});
