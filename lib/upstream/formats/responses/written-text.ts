// How much of a text was written already, where a server sends pieces of it, the whole, or both.

/** The text of a part so far: its length and a hash, because nothing keeps a whole answer. */
export class WrittenText {
  #chars = 0;
  #hash = FIRST_HASH;
  /** How many annotations of the part were written. */
  annotated = 0;
  /** How many characters of the answer's texts were written before it. */
  start = 0;

  get length(): number {
    return this.#chars;
  }

  add(text: string): void {
    this.#chars += text.length;
    this.#hash = hashText(text, this.#hash);
  }

  isBeginningOf(whole: string): boolean {
    return hashText(whole.slice(0, this.#chars)) === this.#hash;
  }

  /** The same as that of an equal text. */
  get print(): string {
    return writePrint(this.#chars, this.#hash);
  }

  /** What is missing of a whole text; nothing if that is another text. */
  findMissing(whole: string): string {
    return this.isBeginningOf(whole) ? whole.slice(this.#chars) : '';
  }
}

export function printText(text: string): string {
  return writePrint(text.length, hashText(text));
}

function writePrint(chars: number, hash: number): string {
  return `${chars} ${hash}`;
}

const FIRST_HASH = 0x811c9dc5;

/** FNV-1a. */
function hashText(text: string, hash = FIRST_HASH): number {
  let next = hash;
  for (let at = 0; at < text.length; at += 1) next = Math.imul(next ^ text.charCodeAt(at), 0x01000193);
  return next;
}
