// The arguments of one tool call as they arrive: in pieces, all at once, or again and again.
import { JsonScan } from './json-scan.ts';

/** Passes each character on once, whether a piece continues the ones before or repeats them. */
export class ToolArguments {
  /** The JSON is whole: nothing but a repetition can follow. */
  isComplete = false;
  /** So far an empty object, which may be a placeholder for what comes. */
  isPlaceholder = false;
  readonly #scan = new JsonScan();
  /** The first piece, until a second one shows what pieces are. */
  #first: string | undefined;
  #mode: 'unknown' | 'pieces' | 'cumulative' = 'unknown';
  /** A second piece that may repeat the first, or be a value or text that begins like it: the next one tells. */
  #doubtful: string | undefined;
  #characters = 0;
  /** Some servers encode the JSON once more, as a text: that, until it is whole. */
  #quoted: string | undefined;
  readonly #quotes = new JsonScan();

  /** What is new in a piece. */
  take(piece: string): string {
    if (piece === '') return '';
    if (this.#quoted !== undefined) return this.#takeQuoted(piece);
    if (this.isPlaceholder) return this.#replacePlaceholder(piece);
    if (this.#doubtful !== undefined) return this.#settle(this.#doubtful, piece);
    if (this.#characters === 0 && isNothing(piece)) {
      this.isPlaceholder = true;
      return '';
    }
    if (this.#characters === 0 && isQuoted(piece)) return this.#takeQuoted(piece);
    // Whole arguments that come once more.
    if (this.isComplete) return '';
    return this.#accept(this.#skipRepeated(piece));
  }

  /** What is new in the whole arguments. */
  takeWhole(json: string): string {
    if (this.#quoted !== undefined) {
      this.#quoted = undefined;
      return this.take(json);
    }
    if (this.isPlaceholder || this.#characters === 0) return this.take(json);
    this.#doubtful = undefined;
    return this.isComplete ? '' : this.#accept(json.slice(this.#characters));
  }

  /** Nothing follows: what was held back. */
  end(): string {
    if (this.#quoted !== undefined) return this.#unquote(this.#quoted);
    if (this.#doubtful !== undefined) return this.#settle(this.#doubtful);
    if (!this.isPlaceholder) return '';
    this.isPlaceholder = false;
    return this.#accept('{}');
  }

  #replacePlaceholder(piece: string): string {
    if ((!piece.trimStart().startsWith('{') && !isQuoted(piece)) || isNothing(piece)) return '';
    this.isPlaceholder = false;
    return this.take(piece);
  }

  #takeQuoted(piece: string): string {
    this.#quoted = (this.#quoted ?? '') + piece;
    this.#quotes.read(piece);
    return this.#quotes.isWithinText ? '' : this.#unquote(this.#quoted);
  }

  #unquote(quoted: string): string {
    this.#quoted = undefined;
    return this.#accept(readQuotedObject(quoted) ?? quoted);
  }

  #skipRepeated(piece: string): string {
    if (this.#mode === 'cumulative') return piece.slice(this.#characters);
    const first = this.#first;
    if (this.#mode === 'pieces' || this.#characters === 0) {
      if (this.#mode === 'unknown') this.#first = piece;
      return piece;
    }
    const repeats = first !== undefined && piece.startsWith(first) && piece.trimStart().startsWith('{');
    if (repeats && this.#scan.mayGoOnWithObject) {
      this.#doubtful = piece;
      return '';
    }
    this.#first = undefined;
    this.#mode = repeats ? 'cumulative' : 'pieces';
    return repeats ? piece.slice(this.#characters) : piece;
  }

  /** Tells by the next piece whether the second repeats the first; without one, by whether both together are JSON. */
  #settle(second: string, next?: string): string {
    const repeats = next === undefined ? !isJson(`${this.#first}${second}`) : next.startsWith(second);
    this.#first = undefined;
    this.#doubtful = undefined;
    this.#mode = repeats ? 'cumulative' : 'pieces';
    const fresh = this.#accept(this.#skipRepeated(second));
    return next === undefined ? fresh : fresh + this.take(next);
  }

  #accept(fresh: string): string {
    this.#characters += fresh.length;
    this.#scan.read(fresh);
    this.isComplete = this.#scan.isComplete;
    return fresh;
  }
}

function isJson(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

/** Whatever stands for no arguments. */
function isNothing(piece: string): boolean {
  return /^(\{\s*\}|\[\s*\]|""|null|None)?$/.test(piece.trim());
}

function isQuoted(piece: string): boolean {
  return piece.trimStart().startsWith('"');
}

/** The JSON of the object that a text of JSON holds; undefined if it holds something else. */
function readQuotedObject(quoted: string): string | undefined {
  try {
    const json: unknown = JSON.parse(quoted);
    if (typeof json !== 'string' || !json.trimStart().startsWith('{')) return undefined;
    JSON.parse(json);
    return json;
  } catch {
    return undefined;
  }
}
