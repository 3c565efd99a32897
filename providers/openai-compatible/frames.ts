// Finds the JSON values in the lines of a reply, whatever its content type says: server-sent events, one document, or one
// value per line. Lines and not events are read, because errors come between the events: as bare JSON, or in a field
// named `error` (llama.cpp of 2025), both of which a strict reader of events passes over.

/** Takes one value and the name of its event, empty when it has none. */
export type ValueTaker = (value: unknown, event: string) => void;

/** Text that stands where JSON should. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
}

/** A value in pieces longer than this is given up. */
const PIECES_MAX_CHARS = 4 * 1024 * 1024;
const EXCERPT_CHARS = 200;

const LETTER_D = 100;
const SPACE = 32;
const COLON = 58;

/** Events that only keep the connection alive. */
const HEARTBEATS = new Set(['ping', 'heartbeat', 'keep-alive', 'keepalive']);

const INCOMPLETE = Symbol('not JSON, or not all of it');

export class Frames {
  /** True after the end mark: nothing that follows counts. */
  done = false;
  readonly #take: ValueTaker;
  #event = '';
  /** Data that is no JSON by itself: the first lines of an event in several lines, a cut event, or rubbish. */
  #data = '';
  /** The first lines of a document in several lines. */
  #document = '';
  /** The beginning of what is neither. */
  #excerpt = '';
  #any = false;

  constructor(take: ValueTaker) {
    this.#take = take;
  }

  push(lines: readonly string[]): void {
    for (const line of lines) {
      if (this.done) return;
      this.#readLine(line);
    }
  }

  /** A last value that is cut off is no rubbish: the answer is then merely not finished. */
  end(): void {
    const value = this.#document === '' ? INCOMPLETE : parse(this.#document);
    if (value !== INCOMPLETE) this.#give(value);
    if (!this.#any && this.#excerpt !== '') throw new NotJson(this.#excerpt);
  }

  #readLine(line: string): void {
    const first = line.charCodeAt(0);
    if (first === LETTER_D && line.startsWith('data:'))
      this.#readData(line.slice(line.charCodeAt(5) === SPACE ? 6 : 5));
    else if (first === COLON) return;
    else if (line.startsWith('event:')) this.#event = line.slice(6).trim();
    else if (line.startsWith('id:') || line.startsWith('retry:')) return;
    else if (line.startsWith('error:')) this.#readError(line.slice(6));
    else this.#readBare(line);
  }

  #readData(text: string): void {
    if (HEARTBEATS.has(this.#event)) {
      this.#event = '';
      return;
    }
    const value = text === END_MARK ? text : parse(text);
    if (value === END_MARK || (value === INCOMPLETE && text.trim() === END_MARK)) this.#finish();
    else if (value === INCOMPLETE) this.#addData(text);
    else if (this.#data === '') this.#give(value);
    else if (typeof value === 'object' && value !== null) throw new NotJson(this.#data);
    else this.#addData(text);
  }

  #addData(text: string): void {
    if (this.#data === '') {
      this.#data = text.trim() === '' ? '' : text;
      return;
    }
    this.#data += `\n${text}`;
    const value = parse(this.#data);
    if (value !== INCOMPLETE) this.#give(value);
    else if (this.#data.length > PIECES_MAX_CHARS) throw new NotJson(this.#data);
  }

  #finish(): void {
    if (this.#data !== '') throw new NotJson(this.#data);
    this.done = true;
  }

  #readError(text: string): void {
    const value = parse(text);
    this.#event = 'error';
    this.#give(value === INCOMPLETE ? { message: text.trim() } : value);
  }

  #readBare(line: string): void {
    const text = line.trimStart();
    if (this.#document !== '') this.#addToDocument(line);
    else if (text.startsWith('{') || text.startsWith('[')) {
      const value = parse(text);
      if (value === INCOMPLETE) this.#document = text;
      else this.#give(value);
    } else if (this.#excerpt.length < EXCERPT_CHARS) this.#excerpt += `${line.slice(0, EXCERPT_CHARS)} `;
  }

  /** Tried only where a document can end: trying at every line would cost its square. */
  #addToDocument(line: string): void {
    this.#document += `\n${line}`;
    if (this.#document.length > PIECES_MAX_CHARS) throw new NotJson(this.#document);
    if (!line.startsWith('}') && !line.startsWith(']')) return;
    const value = parse(this.#document);
    if (value === INCOMPLETE) return;
    this.#document = '';
    this.#give(value);
  }

  #give(value: unknown): void {
    const event = this.#event;
    this.#event = '';
    this.#data = '';
    this.#any = true;
    this.#take(value, event);
  }
}

const END_MARK = '[DONE]';

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return INCOMPLETE;
  }
}
