// Turns body bytes into a JSON value. A guard on the raw bytes comes first, because `JSON.parse` can be made to run for
// minutes.
import { isUtf8 } from 'node:buffer';
import { scan } from '@hapi/bourne';
import { parseExactJson } from '../base/exact-json.ts';
import { fault } from '../base/faults.ts';
import { replaceLoneSurrogates } from '../base/well-formed.ts';

export const JSON_DEPTH_MAX = 64;
export const JSON_VALUES_MAX = 200_000;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Checks that a `content-type` is JSON; a missing one counts as JSON. */
export function checkJsonType(contentType: string | undefined, hint = '`application/json`'): void {
  if (contentType === undefined || contentType.trim() === '') return;
  const type = (contentType.split(';')[0] as string).trim().toLowerCase();
  if (type === 'application/json' || /^application\/[a-z0-9.+-]+\+json$/.test(type)) return;
  throw fault('unsupported_media_type', { field: 'content-type', hint });
}

/** Throws a 400 fault for a body that is not JSON, is too deep or has too many values. */
export function parseJson(bytes: Buffer): unknown {
  return parseText(checkJson(bytes));
}

/** Checks what can be checked on the bytes, and decodes them. Throws 400 faults. */
export function checkJson(bytes: Buffer): string {
  if (bytes.length === 0) throw fault('invalid_json', { hint: 'it is empty' });
  if (!isUtf8(bytes)) throw fault('invalid_json', { hint: 'it is not UTF-8' });
  checkStructure(bytes);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString('utf8', bom);
}

/** Not the digits of an image in base64, whose copies would cost memory. */
const MAY_HAVE_LONG_NUMBERS = /[:,[]\s*-?\d(?:[\d.]{15}|[\d.]*[eE])/;

/** The name may have escapes. */
const MAY_HAVE_PROTO = /proto|\\u/;

export function parseText(text: string): unknown {
  try {
    const wellFormed = replaceLoneSurrogates(text);
    const value: unknown = MAY_HAVE_LONG_NUMBERS.test(text) ? parseExactJson(wellFormed) : JSON.parse(wellFormed);
    if (typeof value === 'object' && value !== null && MAY_HAVE_PROTO.test(text))
      scan(value, { protoAction: 'remove' });
    return value;
  } catch (error) {
    const at = findErrorPosition(text, error as Error);
    if (at === undefined) throw fault('invalid_json');
    throw fault('invalid_json', {
      hint: at === text.length ? 'it ends too early' : `it goes wrong at character ${at + 1}`,
    });
  }
}

/** Longer texts are not searched for the position of a mistake. */
const SEARCHED_CHARACTERS_MAX = 16 * 1024;
const AT_END = /^Unexpected end|^Unterminated string/;

/** Where the text stops being JSON. V8 reports the position of some mistakes only; for others it quotes the text. */
function findErrorPosition(text: string, { message }: Error): number | undefined {
  const reported = readReportedPosition(text, message);
  if (reported !== undefined) return reported;
  if (text.length > SEARCHED_CHARACTERS_MAX) return undefined;
  let good = 0;
  let bad = text.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isJsonPrefix(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function readReportedPosition(text: string, message: string): number | undefined {
  if (AT_END.test(message)) return text.length;
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  return position === undefined ? undefined : Number(position);
}

/** Whether the text could be continued to valid JSON. */
function isJsonPrefix(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    return readReportedPosition(text, (error as Error).message) === text.length;
  }
}

/**
 * Counts depth and values without parsing; strings are skipped, so a long image costs next to nothing. Text that is not
 * JSON may be miscounted, but is refused anyway. Values are the outermost one, one per comma, and one per non-empty
 * container.
 */
function checkStructure(bytes: Buffer): void {
  let depth = 0;
  let values = 1;
  let isEmpty = false;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case SPACE:
      case TAB:
      case LINE_FEED:
      case CARRIAGE_RETURN:
        continue;
      case QUOTE:
        at = findStringEnd(bytes, at + 1);
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth += 1;
        if (depth > JSON_DEPTH_MAX) throw fault('invalid_json', { hint: `deeper than ${JSON_DEPTH_MAX} levels` });
        values += 1;
        isEmpty = true;
        continue;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth -= 1;
        if (isEmpty) values -= 1;
        break;
      case COMMA:
        values += 1;
        break;
    }
    isEmpty = false;
    if (values > JSON_VALUES_MAX) throw fault('invalid_json', { hint: `more than ${JSON_VALUES_MAX} values` });
  }
}

/** How much of a string is read byte by byte: where quotes are dense, searching for each costs more. */
const NEAR_BYTES = 64;

/** The position of the quote that ends a string; the end of the bytes if none does. */
function findStringEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const near = Math.min(at + NEAR_BYTES, bytes.length);
    for (; at < near; at += 1) {
      if (bytes[at] === QUOTE) return at;
      if (bytes[at] === BACKSLASH) at += 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let backslashes = 0;
    while (quote - 1 - backslashes >= at && bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote;
    at = quote + 1;
  }
  return bytes.length;
}
