// Cuts the text of an answer that arrived as a whole into chunks, as a stream would have brought it.
import { takeCharacters } from '../../stream/characters.ts';
import type { StreamPart } from '../../stream/part.ts';

const CHUNK_CHARACTERS_MAX = 256;

/** A sentence, or the end of a line. */
const SENTENCE_END = /[.!?…]["'”»)\]]*\s+|\n+/g;

/** Only texts are cut: the arguments of a call are one value. */
export function splitIntoChunks(parts: readonly StreamPart[]): StreamPart[] {
  let isText = false;
  return parts.flatMap((part) => {
    if (part.type === 'block-start') isText = part.block.type === 'text';
    if (part.type !== 'block-delta' || !isText) return [part];
    return [...cutIntoChunks(part.text)].map((text) => ({ ...part, text }));
  });
}

/** Sentences of at most so many characters; longer ones are cut at a space, or else between two characters. */
function* cutIntoChunks(text: string): Generator<string> {
  let from = 0;
  for (const { index, 0: end } of text.matchAll(SENTENCE_END)) {
    yield* slicesAtSpaces(text.slice(from, index + end.length));
    from = index + end.length;
  }
  yield* slicesAtSpaces(text.slice(from));
}

function* slicesAtSpaces(sentence: string): Generator<string> {
  let rest = sentence;
  while (rest.length > CHUNK_CHARACTERS_MAX) {
    const space = rest.lastIndexOf(' ', CHUNK_CHARACTERS_MAX - 1);
    const cut = space > 0 ? space + 1 : takeCharacters(rest, CHUNK_CHARACTERS_MAX).length;
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
  if (rest !== '') yield rest;
}
