// JSON that arrives in several lines, or with numbers that JSON does not have.
import { parseExactJson } from '../../base/exact-json.ts';
import { JsonScan } from './json-scan.ts';

export const INCOMPLETE = Symbol('not JSON, or not all of it');

/** Text where JSON should be. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
}

/** The lines of a value that is not complete. */
export class MultilineJson {
  text: string;
  readonly #charsMax: number;
  /** Absent as long as there is one line. */
  #scan: JsonScan | undefined;

  constructor(first: string, charsMax: number) {
    this.text = first;
    this.#charsMax = charsMax;
  }

  /** The value once this line closes it: parsing at every line would be quadratic. Throws if it becomes too long. */
  add(line: string): unknown {
    this.#scan ??= startScan(this.text);
    this.text += `\n${line}`;
    const wasComplete = this.#scan.isComplete;
    this.#scan.read(line);
    const value = this.#scan.isComplete && !wasComplete ? parseLenient(this.text) : INCOMPLETE;
    if (value === INCOMPLETE && this.text.length > this.#charsMax) throw new NotJson(this.text);
    return value;
  }
}

function startScan(first: string): JsonScan {
  const scan = new JsonScan();
  scan.read(first);
  return scan;
}

export function parseLenient(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return parseWithoutNumbers(text);
  }
}

/** A text, or what Python writes for a number that JSON does not have. */
const NO_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/** The value with null for such numbers; nothing else that is wrong is mended. */
export function parseWithoutNumbers(text: string): unknown {
  if (!text.includes('NaN') && !text.includes('Infinity')) return INCOMPLETE;
  try {
    return parseExactJson(text.replace(NO_NUMBER, (found) => (found.startsWith('"') ? found : 'null')));
  } catch {
    return INCOMPLETE;
  }
}
