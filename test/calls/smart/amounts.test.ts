import { expect } from 'chai';
import { readAskedWords } from '../../../lib/calls/smart/amounts.ts';
import { findHits } from '../../../lib/calls/smart/lexicon.ts';
import { readTokens } from '../../../lib/calls/smart/tokens.ts';

function asked(text: string): number {
  const tokens = readTokens(text);
  return readAskedWords({ tokens, hits: findHits(tokens) });
}

const NUMERALS: readonly (readonly [number, string])[] = [
  [1, 'one один одну одно одной одним'],
  [2, 'two два две двух'],
  [3, 'three три трех'],
  [4, 'four четыре'],
  [5, 'five пять пяти'],
  [6, 'six'],
  [7, 'seven'],
  [8, 'eight'],
  [10, 'ten десять'],
  [100, 'hundred сто'],
  [1000, 'thousand тысячу'],
];

describe('amounts in a request', () => {
  it('are read from words and digits, including thousands', () => {
    for (const [value, numerals] of [...NUMERALS, [12, '12'] as const]) {
      for (const numeral of numerals.split(' ')) {
        expect(asked(`write ${numeral} words`), numeral).to.equal(value);
        expect(asked(`write ${numeral} k words`), numeral).to.equal(value * 1000);
      }
    }
    expect(asked('write a few words')).to.equal(0);
  });

  it('count by their unit if it is near, and the largest of several wins', () => {
    for (const [text, words] of [
      ['two pages', 700],
      ['in 2024 write 300 words', 300],
      ['два листа', 700],
      ['650 characters', 100],
      ['3 абзаца', 270],
      ['2 sections', 300],
      ['2 главы', 2400],
      ['five sentences', 90],
      ['8 строк', 64],
      ['10 words in 2 sentences', 36],
      ['2 sentences of 10 words', 36],
      ['a talk of 10 minutes', 1300],
      ['10 minutes', 0],
      ['2 a b words', 2],
      ['2 a b c words', 0],
      ['2 by 9 words', 9],
    ] as const) {
      expect(Math.round(asked(text)), text).to.equal(words);
    }
  });
});
