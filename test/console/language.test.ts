// Sums as pages show them, in each language.
import { expect } from 'chai';
import { getFormat } from '../../lib/console/language.ts';

const [en, ru] = [getFormat('en', 'UTC'), getFormat('ru', 'UTC')];
/** What Russian puts between digits and before the sign of the rouble. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('a sum on a page', () => {
  it('has kopecks in lists and every digit in receipts', () => {
    expect([en.rub(1_962_040_000n), plain(ru.rub(1_962_040_000n))]).to.deep.equal(['₽1,962.04', '1 962,04 ₽']);
    expect([en.rubExact(160n), plain(ru.rubExact(5_259_000n))]).to.deep.equal(['₽0.00016', '5,259 ₽']);
  });

  it('has a minus sign instead of a hyphen', () => {
    expect([en.rub(-500_000n), plain(ru.rubExact(-500_000n))]).to.deep.equal(['\u2212₽0.50', '\u22120,50 ₽']);
  });

  it('shows changes with a sign and equally many decimals, and a dash for zero', () => {
    const changes = ru.rubChanges([4_297_500n, -5_259_000n, 0n, 1_000_000_000n]).map(plain);
    expect(changes).to.deep.equal(['+4,2975 ₽', '\u22125,2590 ₽', '—', '+1 000,0000 ₽']);
    expect(en.rubChanges([5_000_000n, 0n])).to.deep.equal(['+₽5.00', '—']);
    expect(en.rubChanges([])).to.deep.equal([]);
  });

  it('appears in a form as it is typed in that language', () => {
    expect([en.rubTyped(12_500_000n), ru.rubTyped(12_500_000n)]).to.deep.equal(['12.50', '12,50']);
  });
});

describe('the formats of time zones', () => {
  it('stay available, however many spellings of zones visitors have sent', () => {
    const name = 'america/argentina/comodrivadavia';
    const spelled = (number: number) =>
      [...name].map((letter, at) => ((number >> at) & 1 ? letter.toUpperCase() : letter)).join('');
    for (let number = 0; number < 1100; number += 1) getFormat('en', spelled(number));
    expect(getFormat('en', 'Asia/Omsk')).to.equal(getFormat('en', 'Asia/Omsk'));
  });
});
