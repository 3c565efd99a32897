// One reply of server-sent events, written straight to the socket: hapi's own stream replies cost more and may be
// compressed, which delays events.
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { takeOverChunks } from '../platform/manual-chunks.ts';
import { probeByComments } from './half-closed.ts';

interface SseReplyOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** A client that reads nothing for this long is gone. */
  readonly stallMs: number;
  /** Called once status and headers are sent. */
  readonly onOpen?: (() => void) | undefined;
}

const NOTHING: readonly never[] = [];

/** Checks for a stall per `stallMs`. */
const STALL_STEPS = 8;

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** A class: every open stream has one, and closures would take three times the memory. */
export class SseReply {
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  /** Undefined once they are sent. */
  #headers: SseReplyOptions['headers'] | undefined;
  /** The same: it may refer to the whole request. */
  #onOpen: SseReplyOptions['onOpen'];
  /** When the client last took something, as far as known; 0 before it was slow. */
  #takenAt = 0;
  /** When a step began. */
  #stepAt = 0;
  /** Whether chunks are framed here, not by Node. */
  #isFramed = false;
  /** Whether events were written since the last heartbeat. */
  #isWritten = false;

  constructor(response: ServerResponse, { headers, stallMs, onOpen }: SseReplyOptions) {
    this.#response = response;
    this.#stallMs = stallMs;
    this.#headers = headers;
    this.#onOpen = onOpen;
  }

  /** Sends status and headers. */
  open(): void {
    if (!this.#response.destroyed) this.#sendHead(this.#response);
    this.#onOpen?.();
    this.#onOpen = undefined;
  }

  #sendHead(response: ServerResponse): void {
    response.writeHead(200, { ...this.#headers, ...SSE_HEADERS });
    response.flushHeaders();
    this.#headers = undefined;
    // Writing a chunk in one piece instead of Node's four saves a tenth of a fragment's cost.
    this.#isFramed = takeOverChunks(response);
    probeByComments(response, this);
  }

  /** The same as `write` for the end of a pipeline. */
  push(texts: readonly string[]): readonly Promise<void>[] {
    const wait = this.write(texts.length === 1 ? (texts[0] as string) : texts.join(''));
    return wait ? [wait] : NOTHING;
  }

  /** Sends events; returns a promise if the client reads more slowly than they arrive. */
  write(text: string): Promise<void> | undefined {
    if (text === '' || this.#response.destroyed) return undefined;
    const outlet = this.#outlet();
    this.#isWritten = true;
    return this.#send(text, outlet) ? undefined : this.#drained(outlet);
  }

  /** A comment where nothing else was written since the last one: proxies close a connection that is silent. */
  heartbeat(): void {
    const isSilent = !this.#isWritten;
    this.#isWritten = false;
    // A slow client still has something to read.
    if (isSilent && !this.#response.destroyed && !this.#outlet().writableNeedDrain) this.keepAlive();
  }

  keepAlive(): void {
    if (!this.#response.destroyed) this.#send(': keep-alive\n\n', this.#outlet());
  }

  close(): void {
    if (this.#response.destroyed) return;
    if (this.#isFramed) this.#response.end(LAST_CHUNK, 'latin1');
    else this.#response.end();
  }

  #outlet(): Writable {
    return this.#isFramed ? directOutput(this.#response) : this.#response;
  }

  /** Returns false if the client is slow. */
  #send(text: string, outlet: Writable): boolean {
    if (text.length > TEXT_CHARS_MAX) return writeLong(escapeLineBreaks(text), outlet, this.#isFramed);
    if (!this.#isFramed) return outlet.write(escapeLineBreaks(text));
    const bytes = Buffer.byteLength(text);
    // If every character is a byte, nothing has to be escaped or encoded.
    if (bytes === text.length) return outlet.write(frameChunk(text, bytes), 'latin1');
    const escaped = escapeLineBreaks(text);
    return outlet.write(frameChunk(escaped, escaped === text ? bytes : Buffer.byteLength(escaped)));
  }

  /** Resolves when the buffer is empty again; never if a stalled client is disconnected. */
  #drained(outlet: Writable): Promise<void> {
    if (this.#takenAt === 0) this.#response.on('timeout', () => this.#onStepEnd());
    this.#takenAt = this.#stepAt = performance.now();
    this.#response.setTimeout(this.#stepMs());
    return new Promise((resolve) => {
      outlet.once('drain', () => {
        this.#response.setTimeout(0);
        resolve();
      });
    });
  }

  /**
   * The client read nothing for a step. A partial read of one long write puts the end of the step off, and shows only by
   * that.
   */
  #onStepEnd(): void {
    const stepMs = this.#stepMs();
    const now = performance.now();
    if (now - this.#stepAt > 1.5 * stepMs) this.#takenAt = now - stepMs;
    this.#stepAt = now;
    if (now - this.#takenAt >= this.#stallMs) this.#response.destroy();
    else this.#response.setTimeout(stepMs);
  }

  #stepMs(): number {
    return Math.ceil(this.#stallMs / STALL_STEPS);
  }
}

/**
 * Clients that split lines as their language does, such as with `iter_lines` of Python's httpx or `lines` in Swift, end
 * them at these characters, too. The data of events are JSON, where an escape means the same.
 */
function escapeLineBreaks(text: string): string {
  return text.replaceAll('\u0085', '\\u0085').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

const LAST_CHUNK = '0\r\n\r\n';
const LINE_END = '\r\n';

function frameChunk(text: string, bytes: number): string {
  return chunkHead(bytes) + text + LINE_END;
}

const chunkHead = (bytes: number) => bytes.toString(16) + LINE_END;

/** Shorter texts are cheaper to write as strings. */
const TEXT_CHARS_MAX = 1024;

/** For encoding texts of about one upstream read: allocating for each would cost 4 % of a burst. */
let reusableBuffer: Buffer | undefined;
const REUSABLE_BYTES = 64 * 1024;

/** A long text that waits as a string is held twice, as characters and as bytes; as bytes it is held once. */
function writeLong(text: string, outlet: Writable, isFramed: boolean): boolean {
  const length = Buffer.byteLength(text);
  const [head, tail] = isFramed ? [chunkHead(length), LINE_END] : ['', ''];
  const whole = head.length + length + tail.length;
  // A text that has to wait keeps the buffer, so the buffer must not be much longer than the text.
  const fits = whole > REUSABLE_BYTES / 2 && whole <= REUSABLE_BYTES;
  // Not from Node's pool, where a small slice keeps 64 KiB alive.
  const bytes = (fits && takeReusableBuffer()) || Buffer.allocUnsafeSlow(fits ? REUSABLE_BYTES : whole);
  bytes.write(head, 'latin1');
  bytes.write(text, head.length);
  bytes.write(tail, head.length + length, 'latin1');
  const goesOn = outlet.write(fits ? bytes.subarray(0, whole) : bytes);
  // The system has taken all bytes, so the buffer is free again.
  if (fits && outlet.writableLength === 0) reusableBuffer = bytes;
  return goesOn;
}

function takeReusableBuffer(): Buffer | undefined {
  const bytes = reusableBuffer;
  reusableBuffer = undefined;
  return bytes;
}

/**
 * Where a reply whose chunks are taken over writes without waiting for the end of the tick: the socket, or the reply
 * itself until the connection is free for it. A text held until the end of the tick and longer than the socket's buffer
 * would make every client look slow.
 */
export function directOutput(response: ServerResponse): Writable {
  const { socket } = response;
  return socket?.writable ? socket : response;
}
