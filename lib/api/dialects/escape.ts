// Text between the quotes of JSON.

/** Longer texts are not worth looking at. */
const CHARS_MAX = 24;

const SPACE = 32;
const QUOTE = 34;
const BACKSLASH = 92;
const FIRST_HALF = 0xd800;

/** Most fragments need no escape, which `JSON.stringify` takes three times as long to find out. */
export function escapeText(text: string): string {
  return isPlain(text) ? text : JSON.stringify(text).slice(1, -1);
}

function isPlain(text: string): boolean {
  if (text.length > CHARS_MAX) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < SPACE || code === QUOTE || code === BACKSLASH || code >= FIRST_HALF) return false;
  }
  return true;
}
