// Finds what all public tokenizers count as one token, for the estimate of input tokens, and writes it to its file.
import { writeFileSync } from 'node:fs';
import { type Count, candidates, TOKENIZERS } from '../testkit/tokenizers.ts';

const all: readonly Count[] = Object.values(TOKENIZERS);

/** How many tokens a text adds after another one, by the tokenizer that counts most. */
const most = (before: string, text: string, by: readonly Count[] = all) =>
  Math.max(...by.map((count) => count(before + text) - count(before)));

const ROW = 40;

interface Pieces {
  /** One token after a space, including the space. */
  readonly first: readonly string[];
  /** One token elsewhere. */
  readonly inner: readonly string[];
}

function findPieces(pattern: RegExp, by: readonly Count[] = all): Pieces {
  const words = candidates(pattern);
  return {
    first: words.filter((word) => most('x', ` ${word}`, by) === 1),
    // Some are one token alone but more in a row, where their letters merge with each other's.
    inner: words.filter((word) => most(')\n', word, by) === 1 && most(')\n', word.repeat(ROW), by) <= ROW),
  };
}

/** Characters of the basic plane by their token counts, where these differ from their byte counts. */
function characters(): Readonly<Record<number, string>> {
  const found: Record<number, string> = {};
  for (let code = 0x80; code <= 0xffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCharCode(code);
    const tokens = Math.ceil(most(')\n', character.repeat(4)) / 4);
    if (tokens !== Buffer.byteLength(character)) found[tokens] = (found[tokens] ?? '') + character;
  }
  return found;
}

const joined = ({ first, inner }: Pieces) => ({ first: first.join(' '), inner: inner.join(' ') });
const pieces = {
  latin: joined(findPieces(/^[a-z]+$/)),
  // Too little here is known to all of them: ordinary text would be overestimated by a fifth. The one with the highest
  // count for such text stands for all; the test of the estimate says how far above it the others are.
  cyrillic: joined(findPieces(/^[а-яё]+$/, [TOKENIZERS.claude])),
  characters: characters(),
};
writeFileSync(
  new URL('../lib/calls/text/token-pieces.json', import.meta.url),
  `${JSON.stringify(pieces, undefined, 2)}\n`,
);
