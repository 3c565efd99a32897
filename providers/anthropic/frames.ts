// Finds the JSON values in the lines of a reply, whatever its content type says: the data of server-sent events, or one
// document. Events name their type in their data, so that the field `event` is not needed; lines and not events are read,
// because some proxies put an error as bare JSON into a stream.

/** Text that stands where JSON should. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
}

const DOCUMENT_MAX_CHARS = 4 * 1024 * 1024;
const EXCERPT_CHARS = 200;

const LETTER_D = 100;
const SPACE = 32;

const INCOMPLETE = Symbol('not JSON, or not all of it');

export class Frames {
  readonly #take: (value: unknown) => void;
  /** Data that does not read: rubbish, unless it is the last of a reply that was cut off. */
  #broken: string | undefined;
  #document = '';
  #excerpt = '';
  #any = false;

  constructor(take: (value: unknown) => void) {
    this.#take = take;
  }

  readLine(line: string): void {
    if (line.charCodeAt(0) === LETTER_D && line.startsWith('data:')) {
      this.#readData(line.slice(line.charCodeAt(5) === SPACE ? 6 : 5));
    } else if (this.#document !== '') this.#addToDocument(line);
    else if (!isPassedOver(line)) this.#readBare(line);
  }

  end(): void {
    const value = this.#document === '' ? INCOMPLETE : parse(this.#document);
    if (value !== INCOMPLETE) this.#give(value);
    if (!this.#any && this.#excerpt !== '') throw new NotJson(this.#excerpt);
  }

  #readData(text: string): void {
    if (this.#broken !== undefined) throw new NotJson(this.#broken);
    const value = parse(text);
    if (value !== INCOMPLETE) this.#give(value);
    else if (text.trim() === END_MARK) this.#give(END_MARK);
    else if (text.trim() !== '') this.#broken = text;
  }

  #readBare(line: string): void {
    const text = line.trimStart();
    const value = text.startsWith('{') || text.startsWith('[') ? parse(text) : undefined;
    if (value === INCOMPLETE) this.#document = text;
    else if (value !== undefined) this.#give(value);
    else if (this.#excerpt.length < EXCERPT_CHARS) this.#excerpt += `${line.slice(0, EXCERPT_CHARS)} `;
  }

  /** Tried only where a document can end: trying at every line would cost its square. */
  #addToDocument(line: string): void {
    this.#document += `\n${line}`;
    if (this.#document.length > DOCUMENT_MAX_CHARS) throw new NotJson(this.#document);
    const value = line.startsWith('}') || line.startsWith(']') ? parse(this.#document) : INCOMPLETE;
    if (value === INCOMPLETE) return;
    this.#document = '';
    this.#give(value);
  }

  #give(value: unknown): void {
    this.#any = true;
    this.#take(value);
  }
}

/** Other fields of events, and comments. */
function isPassedOver(line: string): boolean {
  return line.startsWith('event:') || line.startsWith(':') || line.startsWith('id:') || line.startsWith('retry:');
}

/** How streams of another format end; converting proxies leave it in. */
export const END_MARK = '[DONE]';

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return INCOMPLETE;
  }
}
