// Decodes server-sent events from bytes, following the algorithm of the HTML standard:
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
import type { Decoder } from '../lib/stream/bytes.ts';
import { LINE_LIMITS, type LineLimits, LineSplitter, type LineTaker } from '../lib/stream/lines.ts';

export interface ServerSentEvent {
  /** The `event:` field; `message` if the event has none. */
  readonly event: string;
  readonly data: string;
}

/**
 * Events without a `data` field are skipped; `id` and `retry` are ignored: nothing reconnects. Unlike a browser, it
 * counts a last event without a closing blank line, because upstreams end that way.
 */
class SseDecoder implements Decoder<ServerSentEvent>, LineTaker {
  readonly #splitter: LineSplitter;
  readonly #charsMax: number;
  #events: ServerSentEvent[] = [];
  #event = '';
  /** Undefined until the event has a `data` field. */
  #data: string | undefined;

  constructor(limits: LineLimits) {
    this.#charsMax = limits.charsMax;
    this.#splitter = new LineSplitter(limits, this);
  }

  get failure(): Error | undefined {
    return this.#splitter.failure;
  }

  push(chunk: Uint8Array, events: ServerSentEvent[]): void {
    this.#events = events;
    this.#splitter.push(chunk);
    this.#events = [];
  }

  end(events: ServerSentEvent[]): void {
    this.#events = events;
    this.#splitter.end();
    if (!this.failure) this.#dispatch();
  }

  /** Works in place on the text of the chunk: one slice per event, for the data. */
  takeLine(text: string, start: number, end: number): number {
    if (start === end) this.#dispatch();
    else if (text.charCodeAt(start) === LETTER_D && text.startsWith('data:', start)) {
      this.#addData(text.slice(valueStart(text, start + 5, end), end));
    } else if (text.charCodeAt(start) === LETTER_E && text.startsWith('event:', start)) {
      this.#event = text.slice(valueStart(text, start + 6, end), end);
    } else if (end - start <= 5) this.#bareField(text.slice(start, end));
    return end;
  }

  /** A field without a colon has an empty value. */
  #bareField(name: string): void {
    if (name === 'data') this.#addData('');
    else if (name === 'event') this.#event = '';
  }

  #addData(value: string): void {
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    if (this.#data.length > this.#charsMax) this.#splitter.fail(`an event is longer than ${this.#charsMax} characters`);
  }

  #dispatch(): void {
    if (this.#data !== undefined) this.#events.push({ event: this.#event || 'message', data: this.#data });
    this.#data = undefined;
    this.#event = '';
  }
}

const LETTER_D = 100;
const LETTER_E = 101;
const SPACE = 32;

/** One space after the colon is not part of the value. */
function valueStart(text: string, start: number, end: number): number {
  return start < end && text.charCodeAt(start) === SPACE ? start + 1 : start;
}

export function createSseDecoder(limits: LineLimits = LINE_LIMITS): Decoder<ServerSentEvent> {
  return new SseDecoder(limits);
}
