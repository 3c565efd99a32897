// Feeds Node's parser one request at a time, and long bodies a part per turn: a single read may contain thousands of
// pipelined requests, each of which costs kilobytes until it is answered.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { freeOwn } from '../platform/free-bytes.ts';
import { isParserPaused, type Parse, replaceParser } from '../platform/http-parser.ts';
import { mergeChunks } from './chunks.ts';
import type { Turns } from './turns.ts';

export interface Feed {
  /** What arrived before it was there. */
  take(bytes: Buffer): void;
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
export const LONG_READ_BYTES = 32 * 1024;

/** Replaces the parser's own listener. */
export function createFeed(socket: Socket, turns: Turns): Feed {
  return new SocketFeed(socket, turns);
}

/** A class, because every connection has one: closures would take three times the memory. */
class SocketFeed implements Feed {
  readonly #socket: Socket;
  readonly #turns: Turns;
  readonly #parse: Parse;
  #rest: Buffer | undefined;
  #latest: IncomingMessage | undefined;
  #begun = 0;
  #unanswered = 0;
  /** The next request has arrived before the last one was answered. */
  #isPipelining = false;
  /** Bytes that belong to the current body. */
  #bodyBytes = 0;
  #isChunked = false;
  #stopped = false;
  /** Enough was read in this turn. */
  #isHeld = false;

  constructor(socket: Socket, turns: Turns) {
    this.#socket = socket;
    this.#turns = turns;
    this.#parse = replaceParser(socket, (bytes) => this.take(bytes));
    socket.on('resume', () => this.#onResume());
  }

  begin(request: IncomingMessage): void {
    this.#latest = request;
    this.#begun += 1;
    this.#unanswered += 1;
  }

  answered(): void {
    this.#unanswered -= 1;
    this.#isPipelining = this.#rest !== undefined;
    this.#goOn();
  }

  unanswered(): number {
    return this.#unanswered;
  }

  stop(): void {
    this.#stopped = true;
    this.#rest = undefined;
  }

  take(bytes: Buffer): void {
    if (this.#stopped) return;
    const { length } = bytes;
    const isLong = length >= LONG_READ_BYTES;
    const mayFree = isLong || (!this.#rest && this.#bodyBytes >= length);
    const from = performance.now();
    const whole = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes;
    if (isLong && whole !== bytes) freeOwn(bytes);
    this.#rest = whole;
    this.#pump();
    if (mayFree) this.#free(whole);
    this.#isHeld = isLong && !this.#turns.read(length, performance.now() - from, () => this.#readOn());
    if (this.#isHeld) this.#socket.pause();
  }

  /** Frees what the parser has read; a short rest is copied for it. */
  #free(bytes: Buffer): void {
    if (this.#stopped || (this.#rest && this.#rest.length > SLICE_BYTES)) return;
    this.#rest &&= Buffer.from(this.#rest);
    freeOwn(bytes);
  }

  #readOn(): void {
    this.#isHeld = false;
    if (this.#pump()) this.#socket.resume();
  }

  /** A body's reader resumes its socket with each part. */
  #onResume(): void {
    if (this.#isHeld) this.#socket.pause();
    else this.#pump();
  }

  /** False if what has arrived has to wait; otherwise it is passed on, or is a part that needs more. */
  #pump(): boolean {
    const socket = this.#socket;
    while (this.#rest && !this.#stopped && !isParserPaused(socket) && !socket.destroyed) {
      if (this.#bodyBytes > 0) this.#bodyBytes -= this.#pass(Math.min(this.#bodyBytes, this.#rest.length));
      else if (!this.#latest || this.#latest.complete) {
        if (!this.#mayBegin()) break;
        this.#passHead(this.#rest);
      } else if (!this.#isChunked) this.#pass(Math.min(SLICE_BYTES, this.#rest.length));
      else if (!this.#passChunks(this.#rest)) return true;
    }
    if (this.#rest) socket.pause();
    return !this.#rest;
  }

  #mayBegin(): boolean {
    return (
      this.#unanswered < UNANSWERED_MAX && this.#turns.begin(this.#goOn, this.#unanswered === 0 && !this.#isPipelining)
    );
  }

  /** The turns know the connection by this function. */
  readonly #goOn = (): void => {
    if (this.#rest && !this.#stopped && this.#pump()) this.#socket.resume();
  };

  /** Gives the parser this many bytes. */
  #pass(count: number): number {
    const bytes = this.#rest as Buffer;
    this.#rest = count < bytes.length ? bytes.subarray(count) : undefined;
    this.#parse(count < bytes.length ? bytes.subarray(0, count) : bytes);
    return count;
  }

  /** Up to the body of a request, whose end is then known. */
  #passHead(bytes: Buffer): void {
    const end = bytes.indexOf(END_OF_HEAD);
    const before = this.#begun;
    this.#pass(end === -1 ? bytes.length : end + END_OF_HEAD.length);
    if (end === -1 || this.#begun !== before + 1) return;
    const { 'content-length': length, 'transfer-encoding': coding } = this.#latest?.headers ?? {};
    this.#isChunked = coding !== undefined;
    this.#bodyBytes = this.#isChunked ? 0 : Number(length ?? 0);
  }

  /** False if the rest has to wait for more. */
  #passChunks(bytes: Buffer): boolean {
    const { chunk, used, after } = mergeChunks(bytes);
    this.#rest = used < bytes.length ? bytes.subarray(used) : undefined;
    if (chunk) this.#parse(chunk);
    if (after.type === 'long') this.#bodyBytes = after.bytes;
    else if (after.type === 'other' && this.#rest) this.#passLast(this.#rest);
    return after.type !== 'part';
  }

  /** The last chunk and what follows it; if it is not the last, the parser gets the rest unsplit. */
  #passLast(bytes: Buffer): void {
    this.#isChunked = false;
    const end = bytes.indexOf(END_OF_HEAD);
    if (end !== -1) this.#pass(Math.min(end + END_OF_HEAD.length, SLICE_BYTES));
  }
}
