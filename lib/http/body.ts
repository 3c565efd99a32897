// Reads request bodies off the socket with limits of size and time; hapi's own reader answers neither a stall nor a
// chunked body that is too long.
import type { IncomingMessage } from 'node:http';
import { GONE } from '../call/context.ts';
import { fault } from '../faults.ts';
import type { Share } from './budget.ts';

/** 48 MiB: four images in base64 are 43 MiB. */
export const BODY_BYTES_MAX = 48 * 1024 * 1024;

const IDLE_MS = 10_000;
const GRACE_MS = 30_000;
const WINDOW_MS = 10_000;
const RATE_MIN_BYTES_PER_S = 1024;
/** 48 MiB take so long at 1.3 Mbit/s. */
const DEADLINE_MS = 300_000;
/** Room for a body of several chunks to begin with. */
const ROOM_BYTES_MIN = 64 * 1024;

export interface BodyLimits {
  readonly bytesMax?: number;
  readonly idleMs?: number;
  /** After this long a body must run at `rateMinBytesPerS` in every window. */
  readonly graceMs?: number;
  readonly windowMs?: number;
  readonly rateMinBytesPerS?: number;
  readonly deadlineMs?: number;
}

/**
 * The whole body, which the share then holds. Throws 408, 413, 415 or 503 faults; an aborted signal ends the wait with
 * its reason, a client that leaves with `GONE`.
 */
export function readBody(
  request: IncomingMessage,
  { signal, share, limits = {} }: { signal: AbortSignal; share: Share; limits?: BodyLimits },
): Promise<Buffer> {
  const { bytesMax = BODY_BYTES_MAX, idleMs = IDLE_MS } = limits;
  const tooLarge = () => fault('body_too_large', { hint: `${Math.floor(bytesMax / 1024 / 1024)} MiB` });
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw fault('unsupported_media_type', { field: 'content-encoding', hint: 'plain, without compression' });
  }
  const announced = announcedBytes(request);
  if (announced !== undefined && announced > bytesMax) throw tooLarge();
  const whole = arrivedBody(request, bytesMax);
  if (whole && !signal.aborted) return Promise.resolve(whole);
  if (announced !== undefined) share.take(announced);

  return new Promise<Buffer>((resolve, reject) => {
    const room = createRoom(announced, bytesMax, share);
    const isTooSlow = createPace(limits);

    function end(settle: () => void): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      signal.removeEventListener('abort', onAbort);
      settle();
    }
    function onData(chunk: Buffer): void {
      const total = room.bytes + chunk.length;
      if (total > bytesMax) fail(tooLarge());
      else if (isTooSlow(total)) onLate();
      else {
        try {
          room.append(chunk);
          timer.refresh();
        } catch (error) {
          fail(error);
        }
      }
    }
    function onEnd(): void {
      end(() => resolve(room.content()));
    }
    function fail(reason: unknown): void {
      end(() => reject(reason));
    }
    const onLate = () => fail(fault('body_timeout'));
    const onGone = () => fail(GONE);
    const onAbort = () => fail(signal.reason);

    const timer = setTimeout(onLate, idleMs).unref();
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** What the headers say about the length; undefined when they do not. */
export function announcedBytes({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/** Judges the pace of a body whenever some of it comes: something must come all the time, or its clock ends it. */
function createPace(limits: BodyLimits): (totalBytes: number) => boolean {
  const { graceMs = GRACE_MS, windowMs = WINDOW_MS, deadlineMs = DEADLINE_MS } = limits;
  const { rateMinBytesPerS = RATE_MIN_BYTES_PER_S } = limits;
  const startedAt = performance.now();
  let windowAt = startedAt;
  let windowFrom = 0;
  return (totalBytes) => {
    const now = performance.now();
    if (now - startedAt > deadlineMs) return true;
    const ranMs = now - windowAt;
    if (ranMs < windowMs) return false;
    const isSlow = totalBytes - windowFrom < (ranMs / 1000) * rateMinBytesPerS;
    windowAt = now;
    windowFrom = totalBytes;
    return isSlow && now - startedAt > graceMs;
  };
}

interface Room {
  readonly bytes: number;
  append(chunk: Buffer): void;
  content(): Buffer;
}

/** Chunks are copied behind each other: kept as they came they would hold many times their own size. */
function createRoom(announced: number | undefined, bytesMax: number, share: Share): Room {
  let room: Buffer = Buffer.alloc(0);
  let bytes = 0;

  /** Memory that nothing was written to yet takes none of the machine's. */
  function grow(total: number): void {
    const size = announced ?? Math.min(Math.max(2 * total, ROOM_BYTES_MIN), bytesMax);
    if (announced === undefined) share.take(size - room.length);
    const larger = Buffer.allocUnsafeSlow(size);
    room.copy(larger, 0, 0, bytes);
    room = larger;
  }

  return {
    get bytes() {
      return bytes;
    },
    append(chunk) {
      const total = bytes + chunk.length;
      if (total > room.length) grow(total);
      chunk.copy(room, bytes);
      bytes = total;
    },
    content: () => room.subarray(0, bytes),
  };
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
