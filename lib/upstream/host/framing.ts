// How the bytes of a reply become frames, where a plugin names the framing instead of leaving it to be detected.
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { Frame, Framing } from '../contract/request.ts';

export type FramingName = 'events' | 'lines' | 'json' | 'aws-event-stream';

/** A new one for each reply. A frame of more than `bytesMax` bytes is refused. */
export function createFraming(name: FramingName, bytesMax: number): Framing {
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

/** What ends with a separator, and at the end of the body what is left. */
function frameText(bytesMax: number, separator: RegExp | undefined, read: (text: string) => readonly Frame[]): Framing {
  const decoder = new TextDecoder();
  let rest = '';
  return (chunk) => {
    rest += chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    const pieces = separator ? rest.split(separator) : [rest];
    rest = chunk ? (pieces.pop() ?? '') : '';
    if (rest.length > bytesMax) throw new Error('a frame is too long');
    return pieces.flatMap(read);
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

/** Messages of a length, each with headers and a JSON payload, and a checksum of both. */
function frameAwsEvents(bytesMax: number): Framing {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    if (!chunk) return [];
    rest = Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    while (rest.length >= PRELUDE_BYTES) {
      const length = rest.readUInt32BE(0);
      const isWhole = crc32(rest.subarray(0, 8)) === rest.readUInt32BE(8);
      if (!isWhole || length < PRELUDE_BYTES + CRC_BYTES) throw new Error('not a message of an AWS event stream');
      if (length > bytesMax) throw new Error('a message is too long');
      if (rest.length < length) break;
      frames.push(readAwsMessage(rest.subarray(0, length)));
      rest = rest.subarray(length);
    }
    return frames;
  };
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
