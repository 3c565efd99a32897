// The body of a request: a short one is sent whole, a long one in pieces made while it is sent, so that nothing keeps
// it for the life of the reply.
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { sliceText } from '../../stream/characters.ts';
import type { HostRequest, JsonBody } from '../contract/request.ts';
import { encodeMultipart } from './multipart.ts';

interface Payload {
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** For a body in pieces. */
  readonly length?: number;
  /** For a body that brings its own. */
  readonly type?: string;
}

/** A text, bytes, or bytes that are sent as base64. */
type Piece = string | Uint8Array | Base64;

interface Base64 {
  readonly base64: Uint8Array;
}

export function encodePayload(body: HostRequest['body']): Payload | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return createPayload([body]);
  if (typeof body === 'function') return { ...createPayload(encodeJson(body)), type: 'application/json' };
  if (body instanceof Uint8Array) return createPayload([body]);
  const { type, pieces } = encodeMultipart(body);
  return { ...createPayload(pieces), type };
}

/** In the value, bytes are represented by a mark that no client's text can contain; the bytes replace it. */
function encodeJson(makeValue: JsonBody): readonly Piece[] {
  const inlines: Uint8Array[] = [];
  let mark = '';
  const value = makeValue((bytes) => {
    if (mark === '') mark = randomUUID();
    inlines.push(bytes);
    return `${mark}:${inlines.length - 1};`;
  });
  const text = JSON.stringify(value);
  if (mark === '') return [text];
  const [first = '', ...rest] = text.split(mark);
  return [
    first,
    ...rest.flatMap((after) => [{ base64: inlines[readMarkIndex(after)] as Uint8Array }, afterMark(after)]),
  ];
}

const readMarkIndex = (after: string) => Number(after.slice(1, after.indexOf(';')));
const afterMark = (after: string) => after.slice(after.indexOf(';') + 1);

/** Up to this length a body is sent in one go, and undici keeps it until the reply ends. */
const SHORT_LENGTH = 16 * 1024;

function createPayload(pieces: readonly Piece[]): Payload {
  const [only] = pieces;
  // Most calls: the characters need not be looked at.
  if (pieces.length === 1 && typeof only === 'string' && only.length <= SHORT_LENGTH) return { body: only };
  const length = pieces.reduce((sum, piece) => sum + measureLength(piece), 0);
  if (length > SHORT_LENGTH) return { body: sendPieces([...pieces]), length };
  return { body: Buffer.concat(pieces.flatMap((piece) => [...encodeInSlices(piece)])) };
}

function measureLength(piece: Piece): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece);
  return 'base64' in piece ? 4 * Math.ceil(piece.base64.length / 3) : piece.length;
}

/** Each piece is released when it is sent; other work gets a turn between two chunks. */
async function* sendPieces(pieces: Piece[]): AsyncGenerator<Uint8Array> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
    for (const chunk of encodeInSlices(piece)) {
      yield chunk;
      await waitOneTick();
      // An upstream that answers early does not need the rest; the end of the reply ends the request.
      if (isGone(piece) || pieces.some(isGone)) await new Promise(() => {});
    }
  }
}

function isGone(piece: Piece): boolean {
  if (typeof piece === 'string') return false;
  const { buffer } = 'base64' in piece ? piece.base64 : piece;
  return buffer instanceof ArrayBuffer && buffer.detached;
}

/** A multiple of 3, so that the base64 of each slice but the last needs no padding. */
const SLICE_BYTES = 48 * 1024;

/** Chunks are copies: the memory they are made from may be released while a socket still has them. */
function* encodeInSlices(piece: Piece): Generator<Uint8Array> {
  if (typeof piece === 'string') {
    for (const slice of sliceText(piece, SLICE_BYTES)) yield Buffer.from(slice);
    return;
  }
  const { buffer, byteOffset, length } = 'base64' in piece ? piece.base64 : piece;
  for (let from = 0; from < length; from += SLICE_BYTES) {
    const slice = Buffer.from(buffer, byteOffset + from, Math.min(SLICE_BYTES, length - from));
    yield 'base64' in piece ? Buffer.from(slice.toString('base64'), 'latin1') : Buffer.from(slice);
  }
}
