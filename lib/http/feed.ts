// Feeds Node's parser one request at a time, and long bodies a part per turn: a single read may contain thousands of
// pipelined requests, each of which costs kilobytes until it is answered.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { freeOwn } from '../platform/free-bytes.ts';
import { isParserPaused, replaceParser } from '../platform/http-parser.ts';
import { mergeChunks } from './chunks.ts';
import type { Turns } from './turns.ts';

export interface Feed {
  /** A request has arrived. */
  begin(request: IncomingMessage): void;
  /** One of them has been answered. */
  answered(): void;
  /** Requests that have arrived and are unanswered. */
  unanswered(): number;
  /** Nothing that still arrives is a request. */
  stop(): void;
}

/** Unanswered requests per connection; beyond that, input waits. */
export const UNANSWERED_MAX = 16;
const END_OF_HEAD = '\r\n\r\n';
/** For a body whose end is not known. */
const SLICE_BYTES = 4096;
/** More is available: it was a part of a long body. */
const LONG_READ_BYTES = 32 * 1024;
/** A chunked byte costs about this many of a plain body: 64 KiB of chunks of one byte take half a millisecond. */
const CHUNKED_COST = 8;

/** Replaces the parser's own listener. */
export function createFeed(socket: Socket, turns: Turns): Feed {
  const parse = replaceParser(socket, take);
  let rest: Buffer | undefined;
  let latest: IncomingMessage | undefined;
  let begun = 0;
  let unanswered = 0;
  /** Bytes that belong to the current body. */
  let bodyBytes = 0;
  let isChunked = false;
  let stopped = false;
  /** Enough was read in this turn. */
  let isHeld = false;

  function take(bytes: Buffer): void {
    if (stopped) return;
    const isBody = !rest && bodyBytes >= bytes.length;
    const { length } = bytes;
    const cost = isChunked ? CHUNKED_COST * length : length;
    rest = rest ? Buffer.concat([rest, bytes]) : bytes;
    pump();
    if (isBody && !rest && !stopped) freeOwn(bytes);
    isHeld = length >= LONG_READ_BYTES && !turns.read(cost, readOn);
    if (isHeld) socket.pause();
  }

  function readOn(): void {
    isHeld = false;
    if (pump()) socket.resume();
  }

  /** A body's reader resumes its socket with each part. */
  function onResume(): void {
    if (isHeld) socket.pause();
    else pump();
  }

  /** False if what has arrived has to wait; otherwise it is passed on, or is a part that needs more. */
  function pump(): boolean {
    while (rest && !stopped && !isParserPaused(socket) && !socket.destroyed) {
      if (bodyBytes > 0) bodyBytes -= pass(Math.min(bodyBytes, rest.length));
      else if (!latest || latest.complete) {
        if (unanswered >= UNANSWERED_MAX || !turns.begin(goOn, unanswered === 0)) break;
        passHead(rest);
      } else if (!isChunked) pass(Math.min(SLICE_BYTES, rest.length));
      else if (!passChunks(rest)) return true;
    }
    if (rest) socket.pause();
    return !rest;
  }

  function goOn(): void {
    if (rest && !stopped && pump()) socket.resume();
  }

  /** Gives the parser this many bytes. */
  function pass(count: number): number {
    const bytes = rest as Buffer;
    rest = count < bytes.length ? bytes.subarray(count) : undefined;
    parse(count < bytes.length ? bytes.subarray(0, count) : bytes);
    return count;
  }

  /** Up to the body of a request, whose end is then known. */
  function passHead(bytes: Buffer): void {
    const end = bytes.indexOf(END_OF_HEAD);
    const before = begun;
    pass(end === -1 ? bytes.length : end + END_OF_HEAD.length);
    if (end === -1 || begun !== before + 1) return;
    const { 'content-length': length, 'transfer-encoding': coding } = latest?.headers ?? {};
    isChunked = coding !== undefined;
    bodyBytes = isChunked ? 0 : Number(length ?? 0);
  }

  /** False if the rest has to wait for more. */
  function passChunks(bytes: Buffer): boolean {
    const { chunk, used, after } = mergeChunks(bytes);
    rest = used < bytes.length ? bytes.subarray(used) : undefined;
    if (chunk) parse(chunk);
    if (after.type === 'long') bodyBytes = after.bytes;
    else if (after.type === 'other' && rest) passLast(rest);
    return after.type !== 'part';
  }

  /** The last chunk and what follows it; if it is not the last, the parser gets the rest unsplit. */
  function passLast(bytes: Buffer): void {
    isChunked = false;
    const end = bytes.indexOf(END_OF_HEAD);
    if (end !== -1) pass(Math.min(end + END_OF_HEAD.length, SLICE_BYTES));
  }

  socket.on('resume', onResume);

  return {
    begin(request) {
      latest = request;
      begun += 1;
      unanswered += 1;
      bodyBytes = 0;
      isChunked = false;
    },
    answered() {
      unanswered -= 1;
      goOn();
    },
    unanswered: () => unanswered,
    stop() {
      stopped = true;
      rest = undefined;
    },
  };
}
