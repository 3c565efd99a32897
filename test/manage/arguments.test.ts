// Command-line arguments: every amount is read exactly or refused.
import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidInputError } from '../../lib/base/operator-error.ts';
import { readAmount, readCount, readId, readPayment, readText, readTime } from '../../lib/manage/arguments.ts';
import { AMOUNT_MAX, formatRub, parseRub } from '../../lib/money/money.ts';

function refusalOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}

describe('cli arguments', () => {
  it('reads every amount that is shown to people', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -AMOUNT_MAX, max: AMOUNT_MAX }), (micro) => {
        fc.pre(micro !== 0n);
        expect(readAmount(formatRub(micro))).to.equal(micro);
      }),
    );
    expect([readAmount('-5'), readAmount('0.000001'), readAmount('007')]).to.deep.equal([-5_000_000n, 1n, 7_000_000n]);
  });

  const refused: [amount: string, line: RegExp][] = [
    ['0', /zero/],
    ['-0', /zero/],
    ['0.000000', /zero/],
    ['1.1234567', /6 decimals/],
    ['-1.1234560', /6 decimals/],
    ['1000000000.000001', /largest amount is 1000000000\.00 RUB/],
    ['-1000000000.000001', /largest amount/],
    ['9'.repeat(400), /largest amount/],
  ];
  for (const text of '1e3,-1e3,0x10,1 000,+5,.5,-.5,5.,,-,NaN,Infinity,١٢,５, 5,5 ,1.2.3,--5,5\n'.split(',')) {
    refused.push([text, /plain digits/]);
  }
  refused.push(['1,5', /plain digits/]);
  for (const [text, line] of refused) {
    it(`refuses the amount ${JSON.stringify(text.slice(0, 30))}`, () => {
      expect(refusalOf(() => readAmount(text))).to.match(line);
      expect(refusalOf(() => readPayment(text))).to.match(line);
    });
  }

  it('accepts the same amounts as the ledger', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^-?\d{0,14}(\.\d{0,8})?$/), (text) => {
        const micro = parseRub(text);
        const wanted = micro && micro <= AMOUNT_MAX && micro >= -AMOUNT_MAX;
        if (wanted) expect(readAmount(text)).to.equal(micro);
        else refusalOf(() => readAmount(text));
      }),
    );
  });

  it('refuses negative payments', () => {
    expect(refusalOf(() => readPayment('-5'))).to.match(/above zero/);
    expect(readPayment('5')).to.equal(5_000_000n);
  });

  it('reads short one-line texts', () => {
    expect(readText('  paid in full ')).to.equal('paid in full');
    expect(refusalOf(() => readText(' \t'))).to.match(/empty/);
    for (const unfit of ['a\nb', 'a\u2028b', '\u202e00.0001 BUR', 'a\u2066b'])
      expect(refusalOf(() => readText(unfit))).to.match(/control characters/);
    expect(refusalOf(() => readText('x'.repeat(201)))).to.match(/more than 200/);
    for (const unreadable of ['pay 😀'.slice(0, -1), '\ud800', 'a\udbffb', '\ufffd\ufffd'])
      expect(refusalOf(() => readText(unreadable))).to.match(/could not be read/);
    for (const text of ['оплата 😀', '👩\u200d👧', 'שלום\u200f!']) expect(readText(text)).to.equal(text);
  });

  it('reads ids without invisible characters', () => {
    expect(readId(' inv-7 ')).to.equal('inv-7');
    for (const sign of ['\u200b', '\u00ad', '\u200f'])
      expect(refusalOf(() => readId(`inv-7${sign}`))).to.match(/an invisible character/);
    expect(refusalOf(() => readText('\u200b'))).to.match(/nothing that can be seen/);
  });

  it('reads days of the calendar, and times on them', () => {
    expect(readTime('2028-02-29')).to.equal(Date.UTC(2028, 1, 29));
    expect(readTime('2028-02-29T02:30+03:00')).to.equal(Date.UTC(2028, 1, 28, 23, 30));
    for (const day of ['2026-02-30', '2026-02-29', '2026-04-31', '2026-13-01', '2026-00-10', '2026-11-00'])
      for (const text of [day, `${day}T12:00Z`, `${day}T00:00:00+03:00`])
        expect(
          refusalOf(() => readTime(text)),
          text,
        ).to.match(/such as 2026-01-31/);
  });

  it('reads whole numbers from 1 up', () => {
    expect(readCount('25')).to.equal(25);
    for (const text of ['0', '-1', '1.5', '1e3', '', 'x', '9'.repeat(20)]) {
      expect(refusalOf(() => readCount(text))).to.match(/whole number/i);
    }
  });
});
