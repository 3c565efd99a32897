// Merges short chunks of a chunked body: each chunk that reaches Node costs about a microsecond, and a client may send
// every byte as its own. Only what is plain beyond doubt is touched; the rest is left to Node's parser.

/** What follows the merged chunks. */
export type AfterChunks =
  /** An incomplete chunk. */
  | { readonly type: 'part' }
  /** A long chunk, with its length including the frame. */
  | { readonly type: 'long'; readonly bytes: number }
  /** The last chunk, or something that only the parser can judge. */
  | { readonly type: 'other' };

export interface Merged {
  /** The chunks as one, framed, until the next call; undefined if there are none. */
  readonly chunk: Buffer | undefined;
  /** How many input bytes it stands for. */
  readonly used: number;
  readonly after: AfterChunks;
}

const SHORT_BYTES_MAX = 512;
/** Hex digits of a length. */
const DIGITS_MAX = 8;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
/** Room for a length and its line end. */
const FRAME_BYTES = DIGITS_MAX + 2;

/** Shared by all, because an allocation per read keeps the garbage collector busy. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024 + FRAME_BYTES);

const PART: AfterChunks = { type: 'part' };
const OTHER: AfterChunks = { type: 'other' };

/** Merges the short chunks at the start of the bytes, which start with a chunk. */
export function mergeChunks(bytes: Buffer): Merged {
  if (scratch.length < bytes.length + FRAME_BYTES) scratch = Buffer.allocUnsafeSlow(bytes.length + FRAME_BYTES);
  const room = scratch;
  let filled = FRAME_BYTES;
  let used = 0;
  let after: AfterChunks = PART;
  while (used < bytes.length) {
    let at = used;
    let length = 0;
    let digit = digitOf(bytes[at]);
    while (digit >= 0 && at - used < DIGITS_MAX) {
      length = length * 16 + digit;
      at += 1;
      digit = digitOf(bytes[at]);
    }
    if (at + 1 >= bytes.length && isBeginOfLine(bytes, used, at)) break;
    const isPlain = at > used && length > 0 && bytes[at] === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED;
    const from = at + 2;
    const end = from + length;
    if (!isPlain) after = OTHER;
    else if (length > SHORT_BYTES_MAX) after = { type: 'long', bytes: end + 2 - used };
    if (after !== PART || end + 2 > bytes.length) break;
    if (bytes[end] !== CARRIAGE_RETURN || bytes[end + 1] !== LINE_FEED) {
      after = OTHER;
      break;
    }
    for (at = from; at < end; at += 1) {
      room[filled] = bytes[at] as number;
      filled += 1;
    }
    used = end + 2;
  }
  return { chunk: used > 0 ? framed(room, filled) : undefined, used, after };
}

/** The length line is valid so far but incomplete. */
function isBeginOfLine(bytes: Buffer, from: number, at: number): boolean {
  return at === bytes.length || (at > from && bytes[at] === CARRIAGE_RETURN);
}

/** -1 if it is not one. */
function digitOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Writes the frame around the content; room for its head was left before it. */
function framed(room: Buffer, filled: number): Buffer {
  const head = `${(filled - FRAME_BYTES).toString(16)}\r\n`;
  const begin = FRAME_BYTES - head.length;
  room.write(head, begin, 'latin1');
  room[filled] = CARRIAGE_RETURN;
  room[filled + 1] = LINE_FEED;
  return room.subarray(begin, filled + 2);
}
