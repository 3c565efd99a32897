// Reads request bodies off the socket with size and time limits; hapi's own reader answers neither a stalled body nor a
// chunked one that is too long.
import type { IncomingMessage } from 'node:http';
import { type Fault, fault } from '../base/faults.ts';
import { freeOwnBytes } from '../base/free-bytes.ts';
import { createGrowingBuffer } from '../base/growing-buffer.ts';
import { GONE } from '../calls/context.ts';
import type { MemoryReservation } from './memory-quota.ts';

/** 48 MiB: four images in base64 are 43 MiB. */
export const BODY_BYTES_MAX = 48 * 1024 * 1024;

const ROOM_MS = 10_000;
const IDLE_MS = 10_000;
const GRACE_MS = 30_000;
const WINDOW_MS = 10_000;
const RATE_MIN_BYTES_PER_S = 1024;
/** Enough for 48 MiB at 1.3 Mbit/s. */
const DEADLINE_MS = 300_000;

export interface BodyLimits {
  readonly bytesMax?: number;
  /** How long a body waits for room in memory, before it is read. */
  readonly roomMs?: number;
  readonly idleMs?: number;
  /** After this long, a body must reach `rateMinBytesPerS` in every window. */
  readonly graceMs?: number;
  readonly windowMs?: number;
  readonly rateMinBytesPerS?: number;
  readonly deadlineMs?: number;
}

export interface BodyOptions {
  readonly signal: AbortSignal;
  /** Counts the bytes of the body. */
  readonly reservation: MemoryReservation;
  readonly limits?: BodyLimits;
}

/**
 * The whole body. Throws 408, 413, 415 or 503 faults; an aborted signal ends the wait with its reason, a client that
 * leaves with `GONE`.
 */
export function readBody(request: IncomingMessage, { signal, reservation, limits = {} }: BodyOptions): Promise<Buffer> {
  const { bytesMax = BODY_BYTES_MAX } = limits;
  const announced = checkHead(request, bytesMax);
  const whole = takeArrivedBody(request, bytesMax);
  if (whole && !signal.aborted) return Promise.resolve(whole);
  return takeAnnounced(announced, { signal, reservation, limits }, () => {
    const room = createGrowingBuffer({
      announced,
      bytesMax,
      take: announced === undefined ? (bytes) => reservation.take(bytes) : undefined,
    });
    const onChunk = (chunk: Buffer) => {
      room.append(chunk);
      // Nobody else has it: the parser of Node copies what it hands out. Until they are collected, the chunks would take
      // as much memory as the body.
      freeOwnBytes(chunk);
    };
    return receive(request, { signal, limits, onChunk }).then(room.content);
  });
}

/** Reads on once there is room for the announced length, if there is one. */
function takeAnnounced<Result>(
  announced: number | undefined,
  { signal, reservation, limits: { roomMs = ROOM_MS } = {} }: BodyOptions,
  read: () => Promise<Result>,
): Promise<Result> {
  const room = announced === undefined ? undefined : reservation.takeInTurn(announced, { signal, waitMsMax: roomMs });
  return room ? room.then(read) : read();
}

interface PieceOptions extends BodyOptions {
  /** Called with each chunk and the remaining length, if known; an error it throws ends the reading. */
  onChunk(chunk: Buffer, left: number | undefined): void;
}

/** Like `readBody`, for a body that is processed as it arrives. */
export function readPieces(
  request: IncomingMessage,
  { signal, reservation, limits = {}, onChunk }: PieceOptions,
): Promise<void> {
  const announced = checkHead(request, limits.bytesMax ?? BODY_BYTES_MAX);
  let left = announced;
  return takeAnnounced(announced, { signal, reservation, limits }, () =>
    receive(request, {
      signal,
      limits,
      onChunk(chunk) {
        if (left === undefined) reservation.take(chunk.length);
        else left -= chunk.length;
        onChunk(chunk, left);
      },
    }),
  );
}

/** Returns the announced length. */
function checkHead(request: IncomingMessage, bytesMax: number): number | undefined {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw fault('unsupported_media_type', { field: 'content-encoding', hint: 'plain, without compression' });
  }
  const announced = readAnnouncedBytes(request);
  if (announced !== undefined && announced > bytesMax) throw tooLarge(bytesMax);
  return announced;
}

function tooLarge(bytesMax: number): Fault {
  const kib = bytesMax / 1024;
  return fault('body_too_large', { hint: kib < 1024 ? `${Math.floor(kib)} KiB` : `${Math.floor(kib / 1024)} MiB` });
}

interface Receiving {
  readonly signal: AbortSignal;
  readonly limits: BodyLimits;
  onChunk(chunk: Buffer): void;
}

function receive(request: IncomingMessage, { signal, limits, onChunk }: Receiving): Promise<void> {
  const { bytesMax = BODY_BYTES_MAX, idleMs = IDLE_MS } = limits;
  return new Promise<void>((resolve, reject) => {
    const isTooSlow = createPace(limits);
    let total = 0;

    function end(settle: () => void): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      signal.removeEventListener('abort', onAbort);
      settle();
    }
    function onData(chunk: Buffer): void {
      total += chunk.length;
      if (total > bytesMax) fail(tooLarge(bytesMax));
      else if (isTooSlow(total)) onLate();
      else {
        try {
          onChunk(chunk);
          timer.refresh();
        } catch (error) {
          fail(error);
        }
      }
    }
    function fail(reason: unknown): void {
      end(() => reject(reason));
    }
    const onEnd = () => end(resolve);
    const onLate = () => fail(fault('body_timeout'));
    const onGone = () => fail(GONE);
    const onAbort = () => fail(signal.reason);

    const timer = setTimeout(onLate, idleMs).unref();
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** The length in the headers; undefined if they do not say. */
export function readAnnouncedBytes({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/** Returns whether a body has become too slow, each time a chunk of it arrives. */
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

/** A short body usually arrives with the headers: no timers are needed for it. */
function takeArrivedBody(request: IncomingMessage, bytesMax: number): Buffer | undefined {
  const { complete, readableLength } = request;
  if (!complete || readableLength === 0 || readableLength > bytesMax) return undefined;
  const first: Buffer | null = request.read();
  if (first === null || first.length === readableLength) return first ?? undefined;
  // One read returns one chunk, up to Node 25 all of them.
  const chunks = [first];
  for (let next = request.read(); next !== null; next = request.read()) chunks.push(next);
  return Buffer.concat(chunks);
}
