// How the bytes of a reply become frames, where a plugin names the framing instead of leaving it to be detected.
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { Frame, Framing } from '../contract/request.ts';

export type FramingName = 'events' | 'lines' | 'json' | 'aws-event-stream';

/** Like a plugin's own, but frames before one that is damaged are there before it throws. */
type LazyFraming = (chunk: Uint8Array | undefined) => Iterable<Frame>;

/** A new one for each reply. A frame of more than `bytesMax` bytes is refused. */
export function createFraming(name: FramingName, bytesMax: number): LazyFraming {
  switch (name) {
    case 'events':
      return frameEvents(bytesMax);
    case 'lines':
      return frameText(bytesMax, /\r\n|\n|\r(?=[^\n])/g, (line) => (line.trim() === '' ? [] : [{ data: line }]));
    case 'json':
      return frameText(bytesMax, undefined, (document) => (document.trim() === '' ? [] : [{ data: document }]));
    case 'aws-event-stream':
      return frameAwsEvents(bytesMax);
  }
}

/** Of a separator, with the character behind it that may have to be seen. */
const SEPARATOR_CHARS_MAX = 5;

/** Frames are what ends with a separator and, once the body ends, what is left. */
function frameText(bytesMax: number, separator: RegExp | undefined, read: (text: string) => readonly Frame[]): Framing {
  const decoder = new TextDecoder();
  // The frame that is open, apart from its end, in which a separator may begin: only that is searched again.
  let begun = '';
  let end = '';
  return (chunk) => {
    const text = end + (chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode());
    const [first = '', ...others] = separator ? text.split(separator) : [text];
    const pieces = [begun + first, ...others];
    const open = chunk ? (others.at(-1) ?? first) : '';
    begun = (others.length === 0 && chunk ? begun : '') + open.slice(0, -SEPARATOR_CHARS_MAX);
    end = open.slice(-SEPARATOR_CHARS_MAX);
    if (begun.length + end.length > bytesMax) throw new Error('a frame is too long');
    return (chunk ? pieces.slice(0, -1) : pieces).flatMap(read);
  };
}

/** Server-sent events, by their own rules: data in several lines is joined, other fields and comments are nothing. */
function frameEvents(bytesMax: number): Framing {
  // An event without its blank line counts.
  return frameText(bytesMax, /(?:\r\n|\n|\r(?=[^\n])){2}/g, (event) => {
    const fields = event.split(/\r\n|\n|\r/).map((line) => /^(data|event)(?:: ?(.*))?$/.exec(line));
    const readFields = (name: string) => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ''] : []));
    const data = readFields('data').join('\n');
    return data === '' ? [] : [{ data, name: readFields('event').at(-1) ?? '' }];
  });
}

const PRELUDE_BYTES = 12;
const CRC_BYTES = 4;
/** Chunks of a few bytes take many times their size until they are joined. */
const BLOCK_CHUNKS = 1024;

/** Messages of a length, each with headers and a JSON payload, and a checksum of both. */
function frameAwsEvents(bytesMax: number): LazyFraming {
  let chunks: Uint8Array[] = [];
  /** How many of them are joined of shorter ones. */
  let blocks = 0;
  let bytes = 0;
  /** Of the message that is open. */
  let needed = PRELUDE_BYTES;
  return function* readMessages(chunk) {
    if (!chunk) return;
    chunks.push(chunk);
    if (chunks.length - blocks === BLOCK_CHUNKS) blocks = chunks.push(Buffer.concat(chunks.splice(blocks)));
    bytes += chunk.length;
    if (bytes < needed) return;
    let rest = Buffer.concat(chunks);
    needed = PRELUDE_BYTES;
    try {
      while (rest.length >= needed) {
        needed = readAwsLength(rest, bytesMax);
        if (rest.length < needed) break;
        const message = rest.subarray(0, needed);
        rest = rest.subarray(needed);
        needed = PRELUDE_BYTES;
        yield readAwsMessage(message);
      }
    } finally {
      // Also if the reader throws at a message: one behind the end of an answer does not matter, and it reads on.
      chunks = [rest];
      blocks = 0;
      bytes = rest.length;
    }
  };
}

function readAwsLength(message: Buffer, bytesMax: number): number {
  const length = message.readUInt32BE(0);
  const isWhole = crc32(message.subarray(0, 8)) === message.readUInt32BE(8);
  if (!isWhole || length < PRELUDE_BYTES + CRC_BYTES) throw new Error('not a message of an AWS event stream');
  if (length > bytesMax) throw new Error('a message is too long');
  return length;
}

function readAwsMessage(message: Buffer): Frame {
  const end = message.length - CRC_BYTES;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) throw new Error('a message has another checksum');
  const payloadAt = PRELUDE_BYTES + message.readUInt32BE(4);
  const headers = readAwsHeaders(message.subarray(PRELUDE_BYTES, payloadAt));
  const payload = message.toString('utf8', payloadAt, end);
  const type = headers.get(':message-type');
  if (type === 'exception') return { data: payload, name: headers.get(':exception-type') ?? '', isError: true };
  if (type !== 'error') return { data: payload, name: headers.get(':event-type') ?? '' };
  const code = headers.get(':error-code') ?? '';
  return { data: JSON.stringify({ message: headers.get(':error-message') }), name: code, isError: true };
}

/** The lengths of values of the types that have none of their own, by the number of the type. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
const STRING = 7;

function readAwsHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const type = bytes.readUInt8(nameEnd);
    const fixed = VALUE_BYTES[type];
    const from = nameEnd + (fixed === undefined ? 3 : 1);
    const to = from + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
    if (type === STRING) headers.set(bytes.toString('utf8', at + 1, nameEnd), bytes.toString('utf8', from, to));
    at = to;
  }
  return headers;
}
