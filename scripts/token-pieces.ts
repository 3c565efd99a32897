// Finds what all public tokenizers count as one token, for the estimate of input, and writes it to its file.
import { writeFileSync } from 'node:fs';
import { type Count, candidates, TOKENIZERS } from '../testkit/tokenizers.ts';

const all: readonly Count[] = Object.values(TOKENIZERS);

/** Tokens that a text adds behind another one, by the tokenizer that counts most. */
const most = (before: string, text: string, by: readonly Count[] = all) =>
  Math.max(...by.map((count) => count(before + text) - count(before)));

const ROW = 40;

interface Pieces {
  /** One token behind a space, the space included. */
  readonly first: readonly string[];
  /** One token elsewhere. */
  readonly inner: readonly string[];
}

function piecesOf(pattern: RegExp, by: readonly Count[] = all): Pieces {
  const words = candidates(pattern);
  return {
    first: words.filter((word) => most('x', ` ${word}`, by) === 1),
    // Some are one token alone and more in a row, where their letters join across them.
    inner: words.filter((word) => most(')\n', word, by) === 1 && most(')\n', word.repeat(ROW), by) <= ROW),
  };
}

/** Characters of the basic plane by their tokens, where these are not as many as their bytes. */
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
  latin: joined(piecesOf(/^[a-z]+$/)),
  // What all know together is so little here that ordinary text would count a fifth too much. The one that counts such
  // text highest stands for all; the test of the estimate says how far the others are above it.
  cyrillic: joined(piecesOf(/^[а-яё]+$/, [TOKENIZERS.claude])),
  characters: characters(),
};
writeFileSync(new URL('../lib/text/token-pieces.json', import.meta.url), `${JSON.stringify(pieces, undefined, 2)}\n`);
