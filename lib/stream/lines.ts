// Splits the bytes of a body into lines, whatever the chunks are, and reads newline-delimited JSON from them.
import { Buffer } from 'node:buffer';
import { LimitError } from './bytes.ts';

/** Limits of one body; beyond them the decoder fails, so that no upstream can fill the memory. */
export interface LineLimits {
  /** Longest line (and, in server-sent events, longest event) in UTF-16 units. */
  readonly charsMax: number;
  /** All bytes of the body. */
  readonly bytesMax: number;
}

/** An answer of 32768 tokens takes about 10 MiB in the wordiest format known; one event carries one image at most. */
export const LINE_LIMITS: LineLimits = { charsMax: 1024 * 1024, bytesMax: 64 * 1024 * 1024 };

/** Pieces of a few bytes take many times their size until they are joined. */
const BLOCK_PIECES = 1024;

export interface LineTaker {
  /**
   * Receives one line: the characters from `start` to `end` of `text`, without its end mark. Returns `end`, or the end of
   * a later line of the text if it has taken everything up to there.
   */
  takeLine(text: string, start: number, end: number): number;
}

/** Lines end with LF, CRLF or CR; a byte order mark at the very start is dropped; broken UTF-8 becomes U+FFFD. */
export class LineSplitter {
  failure: LimitError | undefined;
  readonly #limits: LineLimits;
  readonly #taker: LineTaker;
  /** The open line, in pieces: joining it for every chunk would be quadratic. */
  #pieces: string[] = [];
  /** How many of them are joined of shorter ones. */
  #blocks = 0;
  #piecesChars = 0;
  /** The first bytes of a character that continues in the next chunk. */
  #held: Buffer | undefined;
  #bytes = 0;
  #started = false;
  #afterCarriageReturn = false;

  constructor(limits: LineLimits, taker: LineTaker) {
    this.#limits = limits;
    this.#taker = taker;
  }

  /** Of the line that has not ended. */
  get openChars(): number {
    return this.#piecesChars;
  }

  /** After a failure nothing more is to come: the reader looks at it after every chunk. */
  push(chunk: Uint8Array): void {
    const room = this.#limits.bytesMax - this.#bytes;
    this.#bytes += chunk.length;
    this.#split(this.#decode(chunk.length > room ? chunk.subarray(0, room) : chunk));
    if (chunk.length > room) this.fail(`the answer is longer than ${this.#limits.bytesMax} bytes`);
  }

  /** Takes the rest as a last line without its end mark. */
  end(): void {
    if (this.#held) {
      const held = this.#held;
      this.#held = undefined;
      this.#split(this.#normalise(held.toString('utf8')));
    }
    if (this.#pieces.length === 0) return;
    const line = this.#join('');
    this.#taker.takeLine(line, 0, line.length);
  }

  /** Stops: further lines are not taken. */
  fail(message: string): void {
    this.failure ??= new LimitError(message);
    this.#pieces = [];
    this.#blocks = 0;
  }

  #split(text: string): void {
    let start = 0;
    let end = text.indexOf('\n');
    if (end >= 0 && this.#pieces.length > 0) {
      const line = this.#join(text.slice(0, end));
      this.#takeLine(line, 0, line.length);
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    while (end >= 0 && !this.failure) {
      start = this.#takeLine(text, start, end) + 1;
      end = text.indexOf('\n', start);
    }
    if (start < text.length && !this.failure) this.#keep(start === 0 ? text : text.slice(start));
  }

  #takeLine(text: string, start: number, end: number): number {
    if (end - start <= this.#limits.charsMax) return this.#taker.takeLine(text, start, end);
    this.#failLong();
    return end;
  }

  #keep(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length - this.#blocks === BLOCK_PIECES) this.#joinBlock();
    this.#piecesChars += piece.length;
    if (this.#piecesChars > this.#limits.charsMax) this.#failLong();
  }

  #joinBlock(): void {
    const block = this.#pieces.splice(this.#blocks).join('');
    this.#blocks = this.#pieces.push(block);
  }

  #join(rest: string): string {
    const line = this.#pieces.length === 1 ? this.#pieces[0] + rest : this.#pieces.join('') + rest;
    this.#pieces = [];
    this.#blocks = 0;
    this.#piecesChars = 0;
    return line;
  }

  #failLong(): void {
    this.fail(`a line is longer than ${this.#limits.charsMax} characters`);
  }

  /** Whole characters only: Node's string decoder could do it, but costs more on plain chunks. */
  #decode(chunk: Uint8Array): string {
    let bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    if (this.#held) bytes = Buffer.concat([this.#held, bytes]);
    const whole = bytes.length - unfinishedBytes(bytes);
    this.#held = whole === bytes.length ? undefined : Buffer.from(bytes.subarray(whole));
    return this.#normalise(bytes.toString('utf8', 0, whole));
  }

  #normalise(decoded: string): string {
    if (decoded === '') return decoded;
    let text = decoded;
    if (!this.#started) {
      this.#started = true;
      if (text.charCodeAt(0) === BYTE_ORDER_MARK) text = text.slice(1);
    }
    if (this.#afterCarriageReturn) {
      this.#afterCarriageReturn = false;
      if (text.charCodeAt(0) === LINE_FEED) text = text.slice(1);
    }
    if (!text.includes('\r')) return text;
    this.#afterCarriageReturn = text.endsWith('\r');
    return text.replace(/\r\n?/g, '\n');
  }
}

const BYTE_ORDER_MARK = 0xfeff;
const LINE_FEED = 10;

/** How many bytes at the end begin a character that is not complete. Cutting before a lead byte is always clean. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < characterLength(byte) ? back : 0;
  }
  return 0;
}

function characterLength(leadByte: number): number {
  if (leadByte >= 0xf0) return 4;
  return leadByte >= 0xe0 ? 3 : 2;
}
