// Reads request bodies off the socket with limits of size and time; hapi's own reader answers neither a stall nor a
// chunked body that is too long.
import type { IncomingMessage } from 'node:http';
import { fault } from '../faults.ts';

/** 48 MiB: four images in base64 are 43 MiB. */
export const BODY_BYTES_MAX = 48 * 1024 * 1024;

const IDLE_MS = 10_000;
const GRACE_MS = 30_000;
const RATE_MIN_BYTES_PER_S = 1024;
/** Room for a body of several chunks to begin with. */
const ROOM_BYTES_MIN = 64 * 1024;

export interface BodyLimits {
  readonly bytesMax?: number;
  readonly idleMs?: number;
  /** After this long a body must have run at `rateMinBytesPerS` on average. */
  readonly graceMs?: number;
  readonly rateMinBytesPerS?: number;
}

/** The whole body. Throws 408, 413 or 415 faults; an aborted signal ends the wait with its reason. */
export function readBody(request: IncomingMessage, signal: AbortSignal, limits: BodyLimits = {}): Promise<Buffer> {
  const { bytesMax = BODY_BYTES_MAX, idleMs = IDLE_MS, graceMs = GRACE_MS } = limits;
  const { rateMinBytesPerS = RATE_MIN_BYTES_PER_S } = limits;
  const tooLarge = () => fault('body_too_large', { hint: `${Math.floor(bytesMax / 1024 / 1024)} MiB` });
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw fault('unsupported_media_type', { field: 'content-encoding', hint: 'plain, without compression' });
  }
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  const whole = arrivedBody(request, bytesMax);
  if (whole && !signal.aborted) return Promise.resolve(whole);

  return new Promise<Buffer>((resolve, reject) => {
    let room: Buffer = Buffer.alloc(0);
    const startedAt = performance.now();
    let bytes = 0;

    function end(settle: () => void): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onLate).off('close', onLate);
      signal.removeEventListener('abort', onAbort);
      settle();
    }
    function onData(chunk: Buffer): void {
      const total = bytes + chunk.length;
      const ranMs = performance.now() - startedAt;
      const tooSlow = ranMs > graceMs && total < (ranMs / 1000) * rateMinBytesPerS;
      if (total > bytesMax) fail(tooLarge());
      else if (tooSlow) fail(fault('body_timeout'));
      else {
        room = append(room, bytes, chunk);
        bytes = total;
        timer.refresh();
      }
    }
    function onEnd(): void {
      end(() => resolve(room.subarray(0, bytes)));
    }
    function fail(reason: unknown): void {
      end(() => reject(reason));
    }
    const onLate = () => fail(fault('body_timeout'));
    const onAbort = () => fail(signal.reason);

    const timer = setTimeout(onLate, idleMs).unref();
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    request.on('data', onData).on('end', onEnd).on('error', onLate).on('close', onLate);
  });
}

const READ = Symbol('the body was read');

/**
 * Whether nothing of the body is still to come. What came with the headers is there some turns before Node says that the
 * request is complete.
 */
export function isWhole(request: IncomingMessage & { [READ]?: true }): boolean {
  if (request.complete || request[READ]) return true;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding === undefined && Number(length ?? 0) === request.readableLength;
}

/** The body, when it came with its headers, as short ones do: no wait, so no clocks. */
function arrivedBody(request: IncomingMessage & { [READ]?: true }, bytesMax: number): Buffer | undefined {
  const { readableLength } = request;
  if (readableLength === 0 || readableLength > bytesMax || !isWhole(request)) return undefined;
  const body: Buffer | null = request.read();
  if (body === null) return undefined;
  request[READ] = true;
  return body;
}

/** Copies a chunk behind the bytes that are there: chunks kept as they came would hold many times their own size. */
function append(room: Buffer, bytes: number, chunk: Buffer): Buffer {
  if (bytes === 0) return chunk;
  const total = bytes + chunk.length;
  let roomy = room;
  if (total > room.length) {
    roomy = Buffer.allocUnsafe(Math.max(2 * total, ROOM_BYTES_MIN));
    room.copy(roomy, 0, 0, bytes);
  }
  chunk.copy(roomy, bytes);
  return roomy;
}
