// One reply of server-sent events, written straight to the socket: hapi's own stream replies cost more and may be
// compressed, which delays events.
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { outletOf, takeOverChunks } from '../platform/own-chunks.ts';
import type { Pressure } from '../stream/drive.ts';

export interface SseReply {
  /** Sends status and headers. */
  open(): void;
  /** Sends events; returns a promise if the client reads more slowly than they arrive. */
  write(text: string): Pressure;
  keepAlive(): void;
  end(): void;
}

export interface SseReplyOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** A client that reads nothing for this long is gone. */
  readonly stallMs: number;
}

/** How many checks for stalls per stall timeout. */
const STALL_STEPS = 8;

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

export function createSseReply(response: ServerResponse, { headers, stallMs }: SseReplyOptions): SseReply {
  const stepMs = Math.ceil(stallMs / STALL_STEPS);
  let takenAt = 0;
  let stillAt = 0;
  let isFramed = false;
  /** Where the last text went. */
  let outlet: Writable = response;

  /** False if the client is slow. */
  function send(text: string): boolean {
    outlet = isFramed ? outletOf(response) : response;
    if (text.length > TEXT_CHARS_MAX) return outlet.write(bytesOf(text, isFramed));
    if (!isFramed) return outlet.write(text);
    const bytes = Buffer.byteLength(text);
    // If every character is a byte, nothing has to be encoded.
    return outlet.write(frame(text, bytes), bytes === text.length ? 'latin1' : 'utf8');
  }

  /** Resolves when the buffer is empty again; never, once a stalled client was cut off. */
  function drained(): Promise<void> {
    takenAt = stillAt = performance.now();
    response.setTimeout(stepMs);
    return new Promise((resolve) => {
      outlet.once('drain', () => {
        response.setTimeout(0);
        resolve();
      });
    });
  }

  /** The client read nothing for a step. Only the socket sees partial reads of one long write. */
  function onStill(): void {
    const now = performance.now();
    if (now - stillAt > 1.5 * stepMs) takenAt = now - stepMs;
    stillAt = now;
    if (now - takenAt >= stallMs) response.destroy();
    else response.setTimeout(stepMs);
  }

  return {
    open() {
      if (response.destroyed) return;
      response.on('timeout', onStill);
      response.writeHead(200, { ...headers, ...SSE_HEADERS });
      response.flushHeaders();
      // A chunk in one piece instead of Node's four saves a tenth of a fragment's cost.
      isFramed = takeOverChunks(response);
    },
    write(text) {
      if (text === '' || response.destroyed) return undefined;
      return send(text) ? undefined : drained();
    },
    keepAlive() {
      if (!response.destroyed) send(': keep-alive\n\n');
    },
    end() {
      if (response.destroyed) return;
      if (isFramed) response.end(LAST_CHUNK, 'latin1');
      else response.end();
    },
  };
}

const LAST_CHUNK = '0\r\n\r\n';
const LINE_END = '\r\n';

function frame(text: string, bytes: number): string {
  return headOf(bytes) + text + LINE_END;
}

const headOf = (bytes: number) => bytes.toString(16) + LINE_END;

/** Shorter texts are cheaper as they are. */
const TEXT_CHARS_MAX = 1024;

/** A long text waiting as a string is held twice, as characters and as bytes; waiting as bytes, it is held once. */
function bytesOf(text: string, isFramed: boolean): Buffer {
  const length = Buffer.byteLength(text);
  const [head, tail] = isFramed ? [headOf(length), LINE_END] : ['', ''];
  // Not from Node's pool, where a small piece would keep 64 KiB alive.
  const bytes = Buffer.allocUnsafeSlow(head.length + length + tail.length);
  bytes.write(head, 'latin1');
  bytes.write(text, head.length);
  bytes.write(tail, head.length + length, 'latin1');
  return bytes;
}
