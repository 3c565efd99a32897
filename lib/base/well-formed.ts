// Lone surrogates in JSON: half a character, which some clients cut texts into, and which vendors refuse.

/** An escaped pair, an escaped half, or any other escape. */
const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./gs;
const MAY_HAVE_SURROGATES = /\\u[dD][89a-fA-F]/;

const HALF_LENGTH = '\\ud83d'.length;

/** Replaces each half by U+FFFD. No position in the text changes. */
export function replaceLoneSurrogates(json: string): string {
  const wellFormed = json.isWellFormed() ? json : json.toWellFormed();
  if (!MAY_HAVE_SURROGATES.test(wellFormed)) return wellFormed;
  return wellFormed.replace(ESCAPES, (found) => (found.length === HALF_LENGTH ? '\\ufffd' : found));
}
