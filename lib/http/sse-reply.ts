// One reply of server-sent events, written straight to the socket: hapi's own stream replies cost more and may be
// compressed, which holds events back.
import type { ServerResponse } from 'node:http';
import type { Pressure } from '../stream/drive.ts';

export interface SseReply {
  /** Sends status and headers. */
  open(): void;
  /** Sends events; returns a promise when the client reads them more slowly than they arrive. */
  write(text: string): Pressure;
  keepAlive(): void;
  end(): void;
}

export interface SseReplyOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** A reader that takes nothing for this long counts as gone. */
  readonly stallMs: number;
}

/** How often stalls are looked for within the time of one. */
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

  /** Resolves when the buffer is empty again; never, once a stalled client was cut off. */
  function drained(): Promise<void> {
    takenAt = stillAt = performance.now();
    response.setTimeout(stepMs);
    return new Promise((resolve) => {
      response.once('drain', () => {
        response.setTimeout(0);
        resolve();
      });
    });
  }

  /** The client took nothing for a step. The socket alone sees it take a part of one long write, and then is silent. */
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
    },
    write(text) {
      if (text === '' || response.destroyed) return undefined;
      return response.write(encode(text)) ? undefined : drained();
    },
    keepAlive() {
      if (!response.destroyed) response.write(': keep-alive\n\n');
    },
    end() {
      if (!response.destroyed) response.end();
    },
  };
}

/** Shorter texts are cheaper as they are. */
const TEXT_CHARS_MAX = 1024;

/** A long text that waits as a string is held twice, as characters and as bytes; waiting as bytes it is held once. */
function encode(text: string): string | Buffer {
  if (text.length <= TEXT_CHARS_MAX) return text;
  // Not from Node's pool, of which a small piece would keep 64 KiB.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
