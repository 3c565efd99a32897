// The input of a custom tool inside the arguments of the function that models see in its place, while they arrive.
import { isRecord } from '../../base/record.ts';
import { readArguments } from '../../stream/arguments.ts';
import { CUSTOM_INPUT } from '../../upstream/formats/tools.ts';

/** What precedes the characters of the input, and how long it may be. */
const OPENING = new RegExp(`^\\s*\\{\\s*"${CUSTOM_INPUT}"\\s*:\\s*"`);
const OPENING_CHARACTERS_MAX = 256;

export class CustomInput {
  /** All of the input that was passed on. */
  text = '';
  #json = '';
  /** What was not read yet. */
  #rest = '';
  #state: 'before' | 'inside' | 'after' = 'before';

  /** Takes a fragment of the arguments; returns what is certain of the input. */
  push(fragment: string): string {
    this.#json += fragment;
    if (this.#state === 'after') return '';
    this.#rest += fragment;
    return this.#state === 'inside' || this.#open() ? this.#read() : '';
  }

  /** True once the input begins. */
  #open(): boolean {
    const opening = OPENING.exec(this.#rest)?.[0];
    if (opening === undefined) {
      if (this.#rest.length > OPENING_CHARACTERS_MAX) this.#state = 'after';
      return false;
    }
    this.#rest = this.#rest.slice(opening.length);
    this.#state = 'inside';
    return true;
  }

  #read(): string {
    const length = countComplete(this.#rest);
    const text = decode(this.#rest.slice(0, length));
    if (text === undefined || this.#rest[length] === '"') this.#state = 'after';
    this.#rest = this.#rest.slice(length);
    this.text += text ?? '';
    return text ?? '';
  }

  /** What is missing of the input; arguments of another shape are the input themselves. */
  end(): string {
    const whole = readInput(this.#json);
    const missing = whole.startsWith(this.text) ? whole.slice(this.text.length) : '';
    this.text += missing;
    return missing;
  }
}

/** The input in whole arguments. */
export function readCustomInput(json: string): string {
  const input = new CustomInput();
  input.push(json);
  input.end();
  return input.text;
}

/** Characters before the closing quote and before an escape that is not whole. */
function countComplete(text: string): number {
  let at = 0;
  while (at < text.length && text[at] !== '"') {
    const length = text[at] !== '\\' ? 1 : text[at + 1] === 'u' ? 6 : 2;
    if (at + length > text.length) break;
    at += length;
  }
  return at;
}

/** Some models write line breaks as they are. */
function decode(characters: string): string | undefined {
  try {
    return JSON.parse(
      `"${characters.replace(CONTROL, (character) => JSON.stringify(character).slice(1, -1))}"`,
    ) as string;
  } catch {
    return undefined;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what JSON does not allow
const CONTROL = /[\u0000-\u001f]/g;

/** Some models write the text alone, or name it once more inside the argument. */
function readInput(json: string): string {
  const bare = readBareText(json);
  if (bare !== undefined) return bare;
  const { [CUSTOM_INPUT]: input, ...others } = readArguments(json);
  if (typeof input === 'string') return input;
  const [only, ...more] = Object.values(isRecord(input) ? input : others);
  if (typeof only === 'string' && more.length === 0) return only;
  return only === undefined ? '' : json;
}

function readBareText(json: string): string | undefined {
  if (!json.trimStart().startsWith('"')) return undefined;
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}
