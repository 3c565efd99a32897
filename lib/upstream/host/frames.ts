// Finds the JSON values in the bytes of a reply, whatever its content type: server-sent events, one document, or one
// value per line. It reads lines instead of events, because errors may come between events, as bare JSON or in a field
// named `error`, which a strict event reader would skip.
import { parseExactJson } from '../../base/exact-json.ts';
import type { AnswerMemory } from '../../stream/answer-memory.ts';
import type { Decoder } from '../../stream/bytes.ts';
import { LINE_LIMITS, LineSplitter, type LineTaker } from '../../stream/lines.ts';
import type { ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from '../contract/answer.ts';
import type { HostFault } from '../contract/fault.ts';
import type { JsonObject } from '../contract/request.ts';
import { JsonScan } from './json-scan.ts';
import { TemplateJsonParser } from './json-template-parser.ts';
import { Writer } from './writer.ts';

/** Text where JSON should be. */
class NotJson extends Error {
  override readonly name = 'NotJson';
}

/** How many times longer a value in several lines may be than one in a single line. */
const PIECES = 4;
export const EVENT_CHARS_MAX = 32 * 1024 * 1024;
const EXCERPT_CHARS = 200;

const LETTER_D = 100;
const SPACE = 32;
const COLON = 58;

/** Events that only keep the connection alive. */
const HEARTBEATS = new Set(['ping', 'heartbeat', 'keep-alive', 'keepalive']);
/** In place of a heartbeat's name once its first line of data was skipped; no name has a line break. */
const HEARTBEAT_DATA = '\n';
const NAME_CHARS_MAX = 12;
/** What stands between the values of most streams. */
const BETWEEN = '\n\ndata: ';
const END_MARK = '[DONE]';
/** Some servers write events into the data of events. */
const FIELD_AGAIN = /^(?:data: ?)+/;

/** Nothing is written between two chunks. */
const NOWHERE: ProviderPart[] = [];

const INCOMPLETE = Symbol('not JSON, or not all of it');

interface FramesOptions {
  readonly reader: AnswerReader;
  readonly fault: HostFault;
  readonly eventCharsMax?: number | undefined;
  /** Counts what the answer takes; absent if nothing is measured. */
  readonly memory?: AnswerMemory | undefined;
}

/** Decodes the parts of an answer directly from its bytes. */
export class Frames implements Decoder<ProviderPart>, LineTaker {
  /** True when nothing that follows counts. */
  done = false;
  /** Set once the reply turned out to have failed; the parts before it count. */
  error: unknown;
  readonly #reader: AnswerReader;
  readonly #fault: HostFault;
  readonly #splitter: LineSplitter;
  readonly #memory: AnswerMemory | undefined;
  /** Of the event that was open after the last read. */
  #openChars = 0;
  readonly #piecesMax: number;
  readonly #writer = new Writer();
  readonly #parser = new TemplateJsonParser();
  /** The event's name, as far as it may matter to the frames. */
  #event = '';
  /** Where the whole name is. */
  #nameText = '';
  #nameStart = 0;
  #nameEnd = 0;
  /** Data that is not JSON by itself: the first lines of a multi-line event, a cut event, or rubbish. */
  #data = '';
  /** The first lines of a document in several lines. */
  #document = '';
  /** Absent as long as there is one line. */
  #dataScan: JsonScan | undefined;
  #documentScan: JsonScan | undefined;
  /** The start of what is neither. */
  #excerpt = '';
  #hasValue = false;

  constructor({ reader, fault, eventCharsMax = LINE_LIMITS.charsMax, memory }: FramesOptions) {
    const charsMax = Math.min(eventCharsMax, EVENT_CHARS_MAX);
    this.#reader = reader;
    this.#fault = fault;
    this.#memory = memory;
    this.#piecesMax = PIECES * charsMax;
    this.#splitter = new LineSplitter(
      charsMax === LINE_LIMITS.charsMax ? LINE_LIMITS : { ...LINE_LIMITS, charsMax },
      this,
    );
  }

  /** A line that is too long: the reader of the body throws it. */
  get failure(): Error | undefined {
    return this.#splitter.failure;
  }

  push(chunk: Uint8Array, parts: ProviderPart[]): void {
    this.#writer.into(parts);
    this.#splitter.push(chunk);
    this.#countOpen();
    // Otherwise the last parts would be kept until there are others.
    this.#writer.into(NOWHERE);
  }

  /** Most reads end with an event. */
  #countOpen(): void {
    const chars = this.#splitter.openChars + this.#data.length + this.#document.length;
    if (chars === 0 && this.#openChars === 0) return;
    this.#openChars = chars;
    this.#memory?.noteEvent(chars);
  }

  /** Fails where there never will be room. */
  waitForRoom(): Promise<void> | undefined {
    try {
      return this.#memory?.waitForRoom()?.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** A truncated last value is not rubbish: the answer is just unfinished. */
  end(parts: ProviderPart[]): void {
    this.#writer.into(parts);
    this.#splitter.end();
    if (this.done || this.failure) return;
    try {
      const value = this.#document === '' ? INCOMPLETE : parse(this.#document);
      if (value !== INCOMPLETE) this.#give(value);
      if (!this.#hasValue && this.#excerpt !== '') throw new NotJson(this.#excerpt);
      if (!this.done) this.#reader.end?.(this.#writer, false);
      this.#writer.close();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The body broke off: harmless if the answer already had its finish reason. */
  break(error: unknown): readonly ProviderPart[] {
    const parts: ProviderPart[] = [];
    this.#writer.into(parts);
    this.#fail(error);
    return parts;
  }

  takeLine(text: string, start: number, end: number): number {
    if (this.done) return end;
    if (start === end) {
      this.#endEvent();
      return end;
    }
    const isData = text.charCodeAt(start) === LETTER_D && text.startsWith('data:', start);
    try {
      if (isData) this.#readData(text, text.charCodeAt(start + 5) === SPACE ? start + 6 : start + 5, end);
      else if (text.startsWith('event:', start)) this.#noteName(text, start + 6, end);
      else this.#readField(text.slice(start, end));
    } catch (error) {
      this.#fail(error);
    }
    return isData && this.#data === '' ? this.#readAlike(text, end) : end;
  }

  /**
   * Reads the events that follow and are like the ones before; returns where they end. Not looking for their lines saves
   * a fifth of reading them.
   */
  #readAlike(text: string, from: number): number {
    let end = from;
    try {
      while (text.startsWith(BETWEEN, end)) {
        const next = this.#parser.follow(text, end + BETWEEN.length);
        if (next < 0) break;
        end = next;
        this.#give(this.#parser.value);
      }
    } catch (error) {
      this.#fail(error);
    }
    return end;
  }

  /** A heartbeat may have no data: what follows its blank line is another event. Other names stay for late data. */
  #endEvent(): void {
    if (this.#isHeartbeat() || this.#event === HEARTBEAT_DATA) this.#forgetName();
  }

  #isHeartbeat(): boolean {
    return this.#event !== '' && HEARTBEATS.has(this.#event);
  }

  /** Notes where the name is: reading every one would cost a tenth of reading its event. */
  #noteName(text: string, start: number, end: number): void {
    this.#nameText = text;
    this.#nameStart = start;
    this.#nameEnd = end;
    // Longer names do not matter to the frames.
    this.#event = end - start <= NAME_CHARS_MAX ? this.#readName() : '';
  }

  readonly #readName = (): string => this.#nameText.slice(this.#nameStart, this.#nameEnd).trim();

  #readField(line: string): void {
    if (line.charCodeAt(0) === COLON) return;
    if (line.startsWith('id:') || line.startsWith('retry:')) return;
    else if (line.startsWith('error:')) this.#readError(line.slice(6));
    else this.#readBare(line);
  }

  #readData(text: string, start: number, end: number): void {
    if (this.#isHeartbeat()) {
      this.#forgetName();
      this.#event = HEARTBEAT_DATA;
      return;
    }
    const isMark = end - start === END_MARK.length && text.endsWith(END_MARK, end);
    const value = isMark ? END_MARK : this.#parse(text, start, end);
    if (value === END_MARK) this.#mark();
    else if (value === INCOMPLETE) {
      // More of a heartbeat; a whole object is an answer's that lacks the empty line before it.
      if (this.#event !== HEARTBEAT_DATA) this.#readPiece(text.slice(start, end));
    } else if (this.#data === '') this.#give(value);
    else if (typeof value === 'object' && value !== null) throw new NotJson(this.#data);
    else this.#addData(text.slice(start, end));
  }

  #parse(text: string, start: number, end: number): unknown {
    try {
      return this.#parser.parse(text, start, end);
    } catch {
      return parseWithoutNumbers(text.slice(start, end));
    }
  }

  #readPiece(text: string): void {
    const again = FIELD_AGAIN.exec(text);
    if (again) this.#readData(text, again[0].length, text.length);
    else if (text.trim() === END_MARK) this.#mark();
    else this.#addData(text);
  }

  #addData(text: string): void {
    if (this.#data === '') {
      this.#data = text.trim() === '' ? '' : text;
      this.#dataScan = undefined;
      return;
    }
    this.#dataScan ??= startScan(this.#data);
    this.#data += `\n${text}`;
    const value = this.#parseClosed(this.#dataScan, text, this.#data);
    if (value !== INCOMPLETE) this.#give(value);
  }

  /** Parses once, when the last line closes the outermost value: trying at every line would be quadratic. */
  #parseClosed(scan: JsonScan, line: string, whole: string): unknown {
    const wasComplete = scan.isComplete;
    scan.read(line);
    const value = scan.isComplete && !wasComplete ? parse(whole) : INCOMPLETE;
    if (value === INCOMPLETE && whole.length > this.#piecesMax) throw new NotJson(whole);
    return value;
  }

  #mark(): void {
    if (this.#data !== '') throw new NotJson(this.#data);
    if (this.#event === 'error') throw this.#fault.ofComplaint(null, true);
    this.#reader.end?.(this.#writer, true);
    this.#writer.done(END_MARK);
    this.done = true;
  }

  #readError(text: string): void {
    const value = parse(text);
    throw this.#fault.ofComplaint(value === INCOMPLETE ? { message: text.trim() } : value, true);
  }

  #readBare(line: string): void {
    const text = line.trimStart();
    if (text === '') return;
    if (this.#document !== '') this.#addToDocument(line);
    else if (text.startsWith('data:')) this.#readData(text, 'data:'.length, text.length);
    else if (text.startsWith('{') || text.startsWith('[')) {
      const value = parse(text);
      if (value !== INCOMPLETE) this.#give(value);
      else {
        this.#document = text;
        this.#documentScan = undefined;
      }
    } else if (this.#excerpt.length < EXCERPT_CHARS) this.#excerpt += `${line.slice(0, EXCERPT_CHARS)} `;
  }

  #addToDocument(line: string): void {
    this.#documentScan ??= startScan(this.#document);
    this.#document += `\n${line}`;
    const value = this.#parseClosed(this.#documentScan, line, this.#document);
    if (value === INCOMPLETE) return;
    this.#document = '';
    this.#give(value);
  }

  #give(value: unknown): void {
    this.#data = '';
    this.#hasValue = true;
    if (this.#event === 'error') throw this.#fault.ofComplaint(value, true);
    if (Array.isArray(value)) for (const item of value) this.#take(item);
    else this.#take(value);
    this.#forgetName();
  }

  #forgetName(): void {
    this.#event = '';
    this.#nameText = '';
  }

  #take(value: unknown): void {
    if (this.done || typeof value !== 'object' || value === null) return;
    this.#reader.take(value as JsonObject, this.#writer, this.#readName);
    this.done = this.#writer.isDone;
  }

  /** Harmless once the answer is finished, and the last word when it had a reason to. */
  #fail(error: unknown): void {
    this.#data = '';
    this.#document = '';
    this.#forgetName();
    if (this.#writer.finished) return;
    this.done = true;
    this.error = error instanceof NotJson ? this.#fault.make('protocol', `not JSON: ${error.message}`) : error;
  }
}

function startScan(first: string): JsonScan {
  const scan = new JsonScan();
  scan.read(first);
  return scan;
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return parseWithoutNumbers(text);
  }
}

/** A text, or what Python writes for a number that JSON does not have. */
const NO_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/** The value with null for such numbers; nothing else that is wrong is mended. */
function parseWithoutNumbers(text: string): unknown {
  if (!text.includes('NaN') && !text.includes('Infinity')) return INCOMPLETE;
  try {
    return parseExactJson(text.replace(NO_NUMBER, (found) => (found.startsWith('"') ? found : 'null')));
  } catch {
    return INCOMPLETE;
  }
}
