// Follows JSON in pieces just far enough to know when its outermost value is closed; keeps only counters.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE = new Set([0x5d, 0x7d]);

/** What may end a text. */
const TEXT_MARK = /["\\]/g;

export class JsonScan {
  isComplete = false;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** The last character that is no space. */
  #last = 0;

  get isWithinText(): boolean {
    return this.#isText;
  }

  /** Whether what looks like the beginning of an object can be next: as a value, or within a text. */
  get mayGoOnWithObject(): boolean {
    return this.#isText || this.#last === COLON || this.#last === OPEN_BRACKET || this.#last === COMMA;
  }

  read(json: string): void {
    for (let at = 0; at < json.length; at += 1) {
      if (this.#isText && !this.#isEscaped) {
        TEXT_MARK.lastIndex = at;
        if (!TEXT_MARK.test(json)) return;
        at = TEXT_MARK.lastIndex - 1;
      }
      this.#step(json.charCodeAt(at));
    }
  }

  #step(code: number): void {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) this.#isText = false;
    } else if (code === QUOTE) this.#isText = true;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) this.#depth += 1;
    else if (CLOSE.has(code)) {
      this.#depth -= 1;
      this.isComplete ||= this.#depth === 0;
    }
    if (code > 0x20) this.#last = code;
  }
}
