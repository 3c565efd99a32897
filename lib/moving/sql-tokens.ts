// Cuts the text of an SQL dump into tokens, piece by piece, and keeps only the texts that are wanted.
import { OperatorError } from '../base/operator-error.ts';

/** Whose dump it is: they escape strings differently. */
export type Dialect = 'sqlite' | 'mysql' | 'postgresql';

/** `quoted` is in double quotes or backticks: a name, or a text by the rules of MySQL. */
export type TokenKind = 'word' | 'string' | 'quoted' | 'sign' | 'line';

export interface TokenReader {
  /** Texts of strings are read only while this is true; others arrive empty. */
  readonly wantsText: boolean;
  /** After `true`, what follows the next line break is data, line by line, up to a line `\.`. */
  token(kind: TokenKind, text: string): void;
  /** Whether what follows the statement that has just ended is data. */
  readonly startsData: boolean;
  /** Whether a statement has begun. */
  readonly isWithin: boolean;
}

/** Longer than any value in a table that is read. */
const TEXT_LENGTH_MAX = 64 * 1024 * 1024;

const QUOTE = 39;
const BACKSLASH = 92;
const MINUS = 45;
const BLANK_MAX = 32;
const ASCII_MAX = 127;
const WORD = /[0-9A-Za-z_$.+-]/;
/** By code: the characters of names and numbers. */
const WORD_CODES: readonly boolean[] = Array.from({ length: ASCII_MAX + 1 }, (_, code) =>
  WORD.test(String.fromCharCode(code)),
);

type State = 'between' | 'string' | 'quoted' | 'comment' | 'remark' | 'word' | 'dollar' | 'skipped' | 'data';

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  0: '\0',
  Z: '\x1a',
};

function isWord(code: number): boolean {
  return code > ASCII_MAX || WORD_CODES[code] === true;
}

export class SqlTokens {
  readonly #dialect: Dialect;
  readonly #reader: TokenReader;
  #state: State = 'between';
  #rest = '';
  #text = '';
  /** The quote that ends the quoted text, or the tag of a dollar quote. */
  #end = '';
  /** Whether backslashes escape in the string. */
  #escapes = false;
  #startsData = false;

  constructor(dialect: Dialect, reader: TokenReader) {
    this.#dialect = dialect;
    this.#reader = reader;
  }

  write(chunk: string): void {
    const text = this.#rest + chunk;
    // What a character means may depend on the next one.
    this.#rest = text.slice(this.#run(text, text.length - 1));
  }

  /** Throws if the dump ends in the middle of something. */
  finish(): void {
    const text = `${this.#rest}\n\n`;
    this.#run(text, text.length - 1);
    if (this.#state !== 'between' || this.#reader.isWithin)
      throw new OperatorError('it ends in the middle of a statement');
  }

  /** Reads from the start up to about `limit`; returns up to where. */
  #run(text: string, limit: number): number {
    let at = 0;
    while (at < limit) {
      const before = this.#state;
      const next = this.#step(text, at, limit);
      if (next === at && this.#state === before) break;
      at = next;
    }
    return at;
  }

  #step(text: string, at: number, limit: number): number {
    switch (this.#state) {
      case 'between':
        return this.#begin(text, at);
      case 'string':
        return this.#readString(text, at, limit);
      case 'quoted':
        return this.#readQuoted(text, at, limit);
      case 'word':
        return this.#readWord(text, at, limit);
      case 'comment':
      case 'skipped':
        return this.#skipTo(text, at, limit, '\n');
      case 'remark':
        return this.#skipTo(text, at, limit, '*/');
      case 'dollar':
        return this.#skipTo(text, at, limit, this.#end);
      case 'data':
        return this.#readLine(text, at, limit);
    }
  }

  #begin(text: string, at: number): number {
    const one = text[at] as string;
    const two = one + text[at + 1];
    if (one === '\n' && this.#startsData) {
      this.#startsData = false;
      return this.#enter('data', at + 1);
    }
    if (text.charCodeAt(at) <= BLANK_MAX) return at + 1;
    if (two === '--' || (one === '#' && this.#dialect === 'mysql')) return this.#enter('comment', at);
    if (two === '/*') return this.#enter('remark', at + 2);
    if (one === '\\' && !this.#reader.isWithin) return this.#enter('skipped', at);
    if (one === "'") return this.#beginString(at + 1, this.#dialect === 'mysql');
    if (two === "E'" || two === "e'") return this.#beginString(at + 2, this.#dialect === 'postgresql');
    if (one === '"' || one === '`') {
      this.#end = one;
      return this.#enter('quoted', at + 1);
    }
    if (one === '$' && this.#dialect === 'postgresql') return this.#beginDollars(text, at);
    if (isWord(text.charCodeAt(at))) return this.#enter('word', at);
    this.#emit('sign', one);
    return at + 1;
  }

  #enter(state: State, at: number): number {
    this.#state = state;
    this.#text = '';
    return at;
  }

  #beginString(at: number, escapes: boolean): number {
    this.#escapes = escapes;
    return this.#enter('string', at);
  }

  /** The bodies of functions: `$$ … $$` or `$tag$ … $tag$`. */
  #beginDollars(text: string, at: number): number {
    const [tag] = /^\$\w*\$/.exec(text.slice(at, at + 80)) ?? [];
    if (tag === undefined) return this.#enter('word', at);
    this.#end = tag;
    return this.#enter('dollar', at + tag.length);
  }

  #emit(kind: TokenKind, text: string): void {
    this.#state = 'between';
    this.#reader.token(kind, text);
    if (kind === 'sign' && text === ';') this.#startsData = this.#reader.startsData;
  }

  #append(text: string): void {
    if (!this.#reader.wantsText) return;
    this.#text += text;
    if (this.#text.length > TEXT_LENGTH_MAX)
      throw new OperatorError('a value in it is longer than any of such a store');
  }

  #readString(text: string, at: number, limit: number): number {
    let end = at;
    while (end < limit) {
      const code = text.charCodeAt(end);
      if (code === QUOTE || (code === BACKSLASH && this.#escapes)) break;
      end += 1;
    }
    this.#append(text.slice(at, end));
    if (end >= limit) return end;
    if (text.charCodeAt(end) === BACKSLASH) {
      const escaped = text[end + 1] as string;
      this.#append(ESCAPES[escaped] ?? escaped);
      return end + 2;
    }
    if (text.charCodeAt(end + 1) === QUOTE) {
      this.#append("'");
      return end + 2;
    }
    this.#emit('string', this.#text);
    return end + 1;
  }

  #readQuoted(text: string, at: number, limit: number): number {
    let end = at;
    while (end < limit && text[end] !== this.#end) end += 1;
    this.#text += text.slice(at, end);
    if (end >= limit) return end;
    if (text[end + 1] === this.#end) {
      this.#text += this.#end;
      return end + 2;
    }
    this.#emit('quoted', this.#text);
    return end + 1;
  }

  #readWord(text: string, at: number, limit: number): number {
    let end = at;
    for (; end < limit; end += 1) {
      const code = text.charCodeAt(end);
      if (!isWord(code) || (code === MINUS && text.charCodeAt(end + 1) === MINUS)) break;
    }
    this.#text += text.slice(at, end);
    if (end < limit) this.#emit('word', this.#text);
    return end;
  }

  #skipTo(text: string, at: number, limit: number, end: string): number {
    const found = text.indexOf(end, at);
    if (found === -1 || found + end.length > limit + 1) return Math.max(at, limit - end.length + 1);
    this.#state = 'between';
    // A line break may be what data begins after.
    return end === '\n' ? found : found + end.length;
  }

  #readLine(text: string, at: number, limit: number): number {
    const end = text.indexOf('\n', at);
    const isWhole = end !== -1 && end < limit;
    if (this.#reader.wantsText || this.#text.length < 4) this.#text += text.slice(at, isWhole ? end : limit);
    if (!isWhole) {
      if (this.#text.length > TEXT_LENGTH_MAX)
        throw new OperatorError('a line in it is longer than any of such a store');
      return limit;
    }
    const line = this.#text.endsWith('\r') ? this.#text.slice(0, -1) : this.#text;
    this.#text = '';
    if (line === '\\.') this.#state = 'between';
    this.#reader.token('line', line);
    return end + 1;
  }
}
