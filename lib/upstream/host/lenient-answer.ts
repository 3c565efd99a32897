// Decodes an answer whose plugin names no framing: server-sent events, one document, or one value per line, whatever the
// content type says. It reads lines instead of events, because errors may come between events, as bare JSON or in a
// field named `error`, which a strict event reader would skip.
import type { AnswerMemory } from '../../stream/answer-memory.ts';
import type { Decoder } from '../../stream/bytes.ts';
import { LINE_LIMITS, LineSplitter, type LineTaker } from '../../stream/lines.ts';
import type { ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from '../contract/answer.ts';
import type { HostFault } from '../contract/fault.ts';
import { AnswerValues, END_MARK } from './answer-values.ts';
import { TemplateJsonParser } from './json-template-parser.ts';
import { INCOMPLETE, MultilineJson, NotJson, parseLenient, parseWithoutNumbers } from './multiline-json.ts';

/** How many times longer a value in several lines may be than one in a single line. */
const LINES = 4;
export const EVENT_CHARS_MAX = 32 * 1024 * 1024;
const EXCERPT_CHARS = 200;

const LETTER_D = 100;
const SPACE = 32;
const COLON = 58;

/** Events that only keep the connection alive. */
const HEARTBEATS = new Set(['ping', 'heartbeat', 'keep-alive', 'keepalive']);
/** Longer names do not matter here. */
const NAME_CHARS_MAX = 12;
/** What stands between the values of most streams. */
const BETWEEN = '\n\ndata: ';
/** Some servers write events into the data of events. */
const FIELD_AGAIN = /^(?:data: ?)+/;

/** What the name of an event says about its data; `skipped`: the first line of a heartbeat's was. */
type EventKind = 'content' | 'error' | 'heartbeat' | 'skipped';

interface LenientOptions {
  readonly reader: AnswerReader;
  readonly fault: HostFault;
  readonly eventCharsMax?: number | undefined;
  /** Counts what the answer takes; absent if nothing is measured. */
  readonly memory?: AnswerMemory | undefined;
}

export class LenientAnswer implements Decoder<ProviderPart>, LineTaker {
  readonly #fault: HostFault;
  readonly #values: AnswerValues;
  readonly #splitter: LineSplitter;
  readonly #memory: AnswerMemory | undefined;
  /** Of the event that was open after the last read. */
  #openChars = 0;
  readonly #valueCharsMax: number;
  readonly #parser = new TemplateJsonParser();
  #eventKind: EventKind = 'content';
  /** Where the name of the event is. */
  #nameText = '';
  #nameStart = 0;
  #nameEnd = 0;
  /** Data that is not JSON by itself: the first lines of a multi-line event, a cut event, or rubbish. */
  #data: MultilineJson | undefined;
  /** The first lines of a document in several lines. */
  #document: MultilineJson | undefined;
  /** The start of what is neither. */
  #excerpt = '';
  #hasValue = false;

  constructor({ reader, fault, eventCharsMax = LINE_LIMITS.charsMax, memory }: LenientOptions) {
    const charsMax = Math.min(eventCharsMax, EVENT_CHARS_MAX);
    this.#fault = fault;
    this.#values = new AnswerValues(reader);
    this.#memory = memory;
    this.#valueCharsMax = LINES * charsMax;
    this.#splitter = new LineSplitter(
      charsMax === LINE_LIMITS.charsMax ? LINE_LIMITS : { ...LINE_LIMITS, charsMax },
      this,
    );
  }

  get done(): boolean {
    return this.#values.done;
  }

  get error(): unknown {
    return this.#values.error;
  }

  /** A line that is too long: the reader of the body throws it. */
  get failure(): Error | undefined {
    return this.#splitter.failure;
  }

  push(chunk: Uint8Array, parts: ProviderPart[]): void {
    this.#values.into(parts);
    this.#splitter.push(chunk);
    this.#countOpen();
    this.#values.into();
  }

  /** Most reads end with an event. */
  #countOpen(): void {
    const chars = this.#splitter.openChars + (this.#data?.text.length ?? 0) + (this.#document?.text.length ?? 0);
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
    this.#values.into(parts);
    this.#splitter.end();
    if (this.done || this.failure) return;
    try {
      if (!this.#hasValue && this.#excerpt !== '') throw new NotJson(this.#excerpt);
      this.#values.end();
    } catch (error) {
      this.#fail(error);
    }
  }

  break(error: unknown): void {
    this.#fail(error);
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
    return isData && !this.#data ? this.#readAlike(text, end) : end;
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
    if (this.#eventKind === 'heartbeat' || this.#eventKind === 'skipped') this.#forgetName();
  }

  /** Notes where the name is: reading every one would cost a tenth of reading its event. */
  #noteName(text: string, start: number, end: number): void {
    this.#nameText = text;
    this.#nameStart = start;
    this.#nameEnd = end;
    this.#eventKind = end - start <= NAME_CHARS_MAX ? findEventKind(this.#readName()) : 'content';
  }

  readonly #readName = (): string => this.#nameText.slice(this.#nameStart, this.#nameEnd).trim();

  #forgetName(): void {
    this.#nameText = '';
    this.#eventKind = 'content';
  }

  #readField(line: string): void {
    if (line.charCodeAt(0) === COLON || line.startsWith('id:') || line.startsWith('retry:')) return;
    if (line.startsWith('error:')) this.#readError(line.slice(6));
    else this.#readBare(line);
  }

  #readError(text: string): void {
    const value = parseLenient(text);
    throw this.#fault.ofComplaint(value === INCOMPLETE ? { message: text.trim() } : value, true);
  }

  #readData(text: string, start: number, end: number): void {
    if (this.#eventKind === 'heartbeat') {
      this.#forgetName();
      this.#eventKind = 'skipped';
      return;
    }
    const isMark = end - start === END_MARK.length && text.endsWith(END_MARK, end);
    const value = isMark ? END_MARK : this.#parse(text, start, end);
    if (value === END_MARK) this.#readEndMark();
    else if (value === INCOMPLETE) {
      // More of a heartbeat; a whole object is an answer's that lacks the empty line before it.
      if (this.#eventKind !== 'skipped') this.#readPiece(text.slice(start, end));
    } else if (!this.#data) this.#give(value);
    else if (typeof value === 'object' && value !== null) throw new NotJson(this.#data.text);
    else this.#addData(this.#data, text.slice(start, end));
  }

  #parse(text: string, start: number, end: number): unknown {
    try {
      return this.#parser.parse(text, start, end);
    } catch {
      return parseWithoutNumbers(text.slice(start, end));
    }
  }

  #readEndMark(): void {
    if (this.#data) throw new NotJson(this.#data.text);
    if (this.#eventKind === 'error') throw this.#fault.ofComplaint(null, true);
    this.#values.takeEndMark();
  }

  /** Data that is not JSON by itself. */
  #readPiece(text: string): void {
    const again = FIELD_AGAIN.exec(text);
    if (again) this.#readData(text, again[0].length, text.length);
    else if (text.trim() === END_MARK) this.#readEndMark();
    else if (this.#data) this.#addData(this.#data, text);
    else if (text.trim() !== '') this.#data = new MultilineJson(text, this.#valueCharsMax);
  }

  #addData(data: MultilineJson, line: string): void {
    const value = data.add(line);
    if (value !== INCOMPLETE) this.#give(value);
  }

  /** A line that is no field of an event. */
  #readBare(line: string): void {
    const text = line.trimStart();
    if (text === '') return;
    if (this.#document) this.#addToDocument(this.#document, line);
    else if (text.startsWith('data:')) this.#readData(text, 'data:'.length, text.length);
    else if (text.startsWith('{') || text.startsWith('[')) this.#beginDocument(text);
    else if (this.#excerpt.length < EXCERPT_CHARS) this.#excerpt += `${line.slice(0, EXCERPT_CHARS)} `;
  }

  #beginDocument(text: string): void {
    const value = parseLenient(text);
    if (value === INCOMPLETE) this.#document = new MultilineJson(text, this.#valueCharsMax);
    else this.#give(value);
  }

  #addToDocument(document: MultilineJson, line: string): void {
    const value = document.add(line);
    if (value === INCOMPLETE) return;
    this.#document = undefined;
    this.#give(value);
  }

  #give(value: unknown): void {
    this.#data = undefined;
    this.#hasValue = true;
    if (this.#eventKind === 'error') throw this.#fault.ofComplaint(value, true);
    this.#values.take(value, this.#readName);
    this.#forgetName();
  }

  #fail(error: unknown): void {
    this.#data = undefined;
    this.#document = undefined;
    this.#forgetName();
    const isRubbish = error instanceof NotJson;
    this.#values.fail(isRubbish ? this.#fault.make('protocol', `not JSON: ${error.message}`) : error);
  }
}

function findEventKind(name: string): EventKind {
  if (name === 'error') return 'error';
  return HEARTBEATS.has(name) ? 'heartbeat' : 'content';
}
