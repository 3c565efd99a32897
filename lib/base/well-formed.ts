// Lone surrogates in JSON: half a character, which some clients cut texts into, and which vendors refuse.

/** An escaped half, of a pair or alone; behind an escaped backslash it only looks like one. */
const HALF = /\\u[dD][89a-fA-F][\da-fA-F]{2}/;
const SECOND_HALF = /\\u[dD][c-fC-F][\da-fA-F]{2}/y;

const HALF_LENGTH = '\\ud83d'.length;
const FIRST_HALVES = '89abAB';
/** Of so many, pieces are joined: millions would take many times the memory of the text. */
const PIECES_MAX = 8192;

/** Replaces each half by U+FFFD. No position in the text changes. Linear, and cheap for any other escapes. */
export function replaceLoneSurrogates(json: string): string {
  const wellFormed = json.isWellFormed() ? json : json.toWellFormed();
  if (!HALF.test(wellFormed)) return wellFormed;
  const joined: string[] = [];
  let pieces: string[] = [];
  let end = 0;
  for (const at of findLoneHalves(wellFormed)) {
    pieces.push(wellFormed.slice(end, at), '\\ufffd');
    end = at + HALF_LENGTH;
    if (pieces.length < PIECES_MAX) continue;
    joined.push(pieces.join(''));
    pieces = [];
  }
  return end === 0 ? wellFormed : [...joined, ...pieces, wellFormed.slice(end)].join('');
}

/** The positions of halves that are no part of a pair. */
function* findLoneHalves(json: string): Generator<number> {
  const half = new RegExp(HALF, 'g');
  while (half.test(json)) {
    const at = half.lastIndex - HALF_LENGTH;
    if (isEscaped(json, at)) continue;
    SECOND_HALF.lastIndex = half.lastIndex;
    const isPair = FIRST_HALVES.includes(json.charAt(at + '\\ud'.length)) && SECOND_HALF.test(json);
    if (isPair) half.lastIndex += HALF_LENGTH;
    else yield at;
  }
}

/** Whether the backslash here belongs to one before it. */
function isEscaped(json: string, at: number): boolean {
  let before = at;
  while (json.charAt(before - 1) === '\\') before -= 1;
  return (at - before) % 2 === 1;
}
