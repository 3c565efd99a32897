import { expect } from 'chai';
import fc from 'fast-check';
import { Pieces } from '../../../lib/calls/text/pieces.ts';
import { longer } from '../../../testkit/long.ts';

const ALPHABET = { first: 'a', last: 'd', smallBits: 0x20 };

/** Cuts the longest piece off again and again. */
function simpleCount(word: string, { first, inner }: { first: string; inner: string }, afterSpace: boolean): number {
  let [rest, count, list] = [word.toLowerCase(), 0, afterSpace ? first : inner];
  while (rest !== '') {
    const [longest = ''] = list
      .split(' ')
      .filter((piece) => piece !== '' && rest.startsWith(piece))
      .sort((one, other) => other.length - one.length);
    // A space that no piece starts with counts, too.
    count += longest === '' && list === first && count === 0 && afterSpace ? 2 : 1;
    rest = rest.slice(longest.length || 1);
    list = inner;
  }
  return count;
}

function counted(pieces: Pieces, word: string, afterSpace: boolean, before = ''): readonly [number, number] {
  const units = Uint16Array.from(`${before}${word}.`, (letter) => letter.charCodeAt(0));
  return [pieces.count(units, before.length, afterSpace), pieces.end];
}

describe('pieces of words', () => {
  it('are the longest at each place, after a space by a list of their own', () => {
    const pieces = new Pieces(ALPHABET, { first: 'ab', inner: 'a b bc abcd' });
    expect(counted(pieces, 'abc', true)).to.deep.equal([2, 3]);
    expect(counted(pieces, 'abcd', false)).to.deep.equal([1, 4]);
    expect(counted(pieces, 'abc', false)).to.deep.equal([2, 3]);
    expect(counted(pieces, 'ABC', false)[0], 'one capital at most').to.equal(1);
    expect(counted(pieces, 'Abcd', false, '..')).to.deep.equal([1, 6]);
    expect(counted(pieces, 'd', false)[0], 'a letter that is no piece').to.equal(1);
    expect(counted(pieces, 'da', true)[0], 'a space that is in no piece').to.equal(3);
  });

  it('are as many as a simple search finds, however often it is asked', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 1, maxLength: 8 });
    const list = fc.array(
      word.map((piece) => piece.slice(0, 4)),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(list, list, fc.array(fc.tuple(word, fc.boolean()), { maxLength: 8 }), (first, inner, words) => {
        const lists = { first: first.join(' '), inner: inner.join(' ') };
        const pieces = new Pieces(ALPHABET, lists);
        for (const [each, afterSpace] of [...words, ...words])
          expect(counted(pieces, each, afterSpace)).to.deep.equal([simpleCount(each, lists, afterSpace), each.length]);
      }),
      { numRuns: longer(60, 300) },
    );
  });
});
