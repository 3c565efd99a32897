// Russian typed in Latin letters: told from English by its small words, and turned back so that Russian stems match.
import type { Token } from './tokens.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const ENGLISH = words(
  'the a an is are was were of to in on for and or with from that this it you me my your we our be not have has do ' +
    'does did how what why when who which where can could will would please i he she they at by as if but so all any ' +
    'some there their its about into than then also just more most other such only own same too very hi hello hey ' +
    'write make give tell translate fix code use list text thanks thank ok',
);

const RUSSIAN = words(
  'chto kak dlya oni eto etot etu eti kto gde kogda pochemu zachem skolko kakoy kakaya kakie kakoi kakoj kotoryy kotoraya ' +
    'kotoroe kotorie kotorye mne menya tebya nado nuzhno nuzhen nuzhna mozhno privet spasibo pozhaluysta pozhaluista ' +
    'pojaluista dobriy den zdravstvuyte zdravstvuite napishi sdelay sdelai perevedi ispravi obyasni rasskazhi rasskaji ' +
    'pomogi podskazhi sostav sostavi pridumay pridumai nazovi reshi kratko prosto ochen tolko zdes ego takoe takoy lyudi ' +
    'chem chego kakuyu kakoe kakim sdelat napisat ili esli chtoby chtobi mozhesh mozhete hochu xochu nuzhny raz stol slovo ' +
    'slov tekst pismo russkiy angliyskiy stihotvorenie rasskaz yazyk funkciyu funktsiyu programmu kod zadachu stolica',
);

const LOOKED_AT = 24;

/** True when the words are Latin letters but Russian. */
export function isTransliterated(tokens: readonly Token[]): boolean {
  let english = 0;
  let russian = 0;
  for (let index = 0; index < Math.min(tokens.length, LOOKED_AT); index++) {
    const { kind, word } = tokens[index]!;
    if (kind !== 'word') continue;
    if (word.charCodeAt(0) >= 0x400) return false;
    if (RUSSIAN.has(word)) russian++;
    else if (ENGLISH.has(word)) english++;
  }
  return russian > english;
}

const COMBINATIONS: readonly (readonly [string, string])[] = [
  ['shch', 'щ'],
  ['sch', 'щ'],
  ['tsya', 'тся'],
  ['zh', 'ж'],
  ['kh', 'х'],
  ['ts', 'ц'],
  ['ch', 'ч'],
  ['sh', 'ш'],
  ['yo', 'е'],
  ['jo', 'е'],
  ['yu', 'ю'],
  ['ju', 'ю'],
  ['iu', 'ю'],
  ['ya', 'я'],
  ['ja', 'я'],
  ['ia', 'я'],
  ['ye', 'е'],
];

const LETTERS = new Map(
  [...'abvgdezijklmnoprstufhcqwx'].map((letter, index) => [letter, 'абвгдезийклмнопрстуфхцкв'[index] ?? 'кс']),
);

/** The word in Cyrillic, as well as letters tell. */
export function toCyrillic(word: string): string {
  let result = '';
  let at = 0;
  while (at < word.length) {
    const pair = COMBINATIONS.find(([latin]) => word.startsWith(latin, at));
    if (pair !== undefined) {
      result += pair[1];
      at += pair[0].length;
      continue;
    }
    const letter = word[at]!;
    result += letter === 'y' ? readY(word, at) : (LETTERS.get(letter) ?? letter);
    at++;
  }
  return result;
}

/** `y` is `й` after a vowel, `ы` otherwise. */
function readY(word: string, at: number): string {
  return at > 0 && 'aeiouy'.includes(word[at - 1]!) ? 'й' : 'ы';
}
