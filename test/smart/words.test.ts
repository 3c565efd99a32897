import { expect } from 'chai';
import { Lexicon } from '../../lib/text/smart/lexicon.ts';
import { readTokens } from '../../lib/text/smart/tokens.ts';
import { isTransliterated, toCyrillic } from '../../lib/text/smart/translit.ts';
import { FRAME_WORDS } from '../../lib/text/smart/words-frames.ts';
import { OBJECT_WORDS } from '../../lib/text/smart/words-objects.ts';
import { PROGRAMMING_WORDS } from '../../lib/text/smart/words-programming.ts';
import { SUBJECT_WORDS } from '../../lib/text/smart/words-subjects.ts';
import { TASK_WORDS } from '../../lib/text/smart/words-tasks.ts';

const LISTS: Readonly<Record<string, string>> = {
  ...TASK_WORDS,
  ...OBJECT_WORDS,
  ...PROGRAMMING_WORDS,
  ...SUBJECT_WORDS,
  ...FRAME_WORDS,
};

function read(text: string): string[] {
  return readTokens(text, 0, text.length).map(({ word, quoted }) => (quoted ? `«${word}»` : word));
}

describe('smart router words', () => {
  it('are listed once, in small letters, with letters the reader leaves', () => {
    for (const [concept, list] of Object.entries(LISTS)) {
      const patterns = list.split(/\s+/).filter((pattern) => pattern !== '');
      expect(new Set(patterns).size, concept).to.equal(patterns.length);
      for (const pattern of patterns) {
        expect(pattern, concept).to.match(/^([a-zа-я0-9]+[*+]?)(_([a-zа-я0-9]+[*+]?|\*))*$/);
        for (const word of pattern.split('_')) expect(read(word.replace(/[*+]$/, '')).length, pattern).to.be.at.most(1);
      }
    }
  });

  it('stand in both languages', () => {
    for (const [concept, list] of Object.entries(LISTS)) {
      if (['follow_up'].includes(concept)) continue;
      expect(list, concept).to.match(/(^|\s)[a-z]{2,}/);
      expect(list, concept).to.match(/[а-я]{2,}/);
    }
  });

  it('belong to one table: no concept is defined twice', () => {
    const names = [TASK_WORDS, OBJECT_WORDS, PROGRAMMING_WORDS, SUBJECT_WORDS, FRAME_WORDS].flatMap((table) =>
      Object.keys(table),
    );
    expect(new Set(names).size).to.equal(names.length);
  });

  describe('lexicon', () => {
    const lexicon = new Lexicon(
      { cat: 'cat kitten*', house: 'дом+ big_house', plan: 'plan business_plan the_*_plan' },
      new Set(['kitten*']),
    );
    const find = (text: string, at = 0) =>
      lexicon.findAt(readTokens(text, 0, text.length), at).map((hit) => `${hit.concept}${hit.size}`);
    const rows: readonly (readonly [string, number, readonly string[]])[] = [
      ['cat', 0, ['cat1']],
      ['cats', 0, []],
      ['kittens', 0, ['cat1']],
      ['домом', 0, ['house1']],
      ['домами', 0, []],
      ['big house', 0, ['house2']],
      ['big, house', 0, []],
      ['business plan', 0, ['plan2']],
      ['business plan', 1, ['plan1']],
      ['the secret plan', 0, ['plan3']],
    ];
    for (const [text, at, found] of rows) it(`${text} at ${at}`, () => expect(find(text, at)).to.deep.equal(found));

    it('forgives one wrong, missing, doubled or swapped letter, but not the first or the last', () => {
      for (const word of ['kiteten', 'kittten', 'kitetn', 'katten', 'kiten']) {
        expect(lexicon.findTypo(word), word).to.equal(word === 'kiten' ? undefined : 'cat');
      }
      for (const word of ['mitten', 'kitted', 'cart', 'kltfen'])
        expect(lexicon.findTypo(word), word).to.equal(undefined);
    });
  });

  describe('reader', () => {
    const rows: readonly (readonly [string, readonly string[]])[] = [
      ['Ёлка, ёж!', ['елка', ',', 'еж', '!']],
      ['step-by-step', ['step', 'by', 'step']],
      ['a 10-page paper', ['a', '10', 'page', 'paper']],
      ['12-15', ['12', '-', '15']],
      ['1,200 words; 3.5 or 3,5', ['1200', 'words', ';', '3.5', 'or', '3.5']],
      ['10 000 знаков', ['10000', 'знаков']],
      ['C++ и С# в 1С', ['cpp', 'и', 'csharp', 'в', '1с']],
      ['say "two words" now', ['say', '«two»', '«words»', 'now']],
      ["don't quote 'this one' here", ['don', 't', 'quote', '«this»', '«one»', 'here']],
      ['an unclosed "quote', ['an', 'unclosed', 'quote']],
      ['node.js e.g. tl;dr', ['node', 'js', 'e', 'g', '.', 'tl', 'dr']],
    ];
    for (const [text, words] of rows) it(text, () => expect(read(text)).to.deep.equal(words));
  });

  describe('transliteration', () => {
    const told = (text: string) => isTransliterated(readTokens(text, 0, text.length));

    it('is told from English', () => {
      expect(told('privet kak dela')).to.equal(true);
      expect(told('napishi pismo dlya klienta')).to.equal(true);
      expect(told('write a letter to the client')).to.equal(false);
      expect(told('how do I say kak dela in english')).to.equal(false);
      expect(told('как дела')).to.equal(false);
    });

    it('is turned back', () => {
      const rows = {
        perevedi: 'переведи',
        angliyskiy: 'английский',
        napishi: 'напиши',
        shchi: 'щи',
        obyasni: 'обясни',
        zhizn: 'жизн',
      };
      for (const [latin, cyrillic] of Object.entries(rows)) expect(toCyrillic(latin)).to.equal(cyrillic);
    });
  });
});
