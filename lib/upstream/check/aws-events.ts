// Recorded events in the binary framing of AWS: as a server sends them, and where one ends.
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import Joi from 'joi';

export interface AwsEvent {
  readonly event?: string;
  /** In place of an event: what went wrong. */
  readonly exception?: string;
  readonly data: object;
}

export const awsEvents = Joi.array().items(
  Joi.object({ event: Joi.string(), exception: Joi.string(), data: Joi.object().default({}) }).xor(
    'event',
    'exception',
  ),
);

export function encodeAwsEvents(events: readonly AwsEvent[]): Buffer {
  return Buffer.concat(
    events.map(({ event, exception, data }) => {
      const type = exception === undefined ? 'event' : 'exception';
      const headers = {
        [`:${type}-type`]: exception ?? event ?? '',
        ':content-type': 'application/json',
        ':message-type': type,
      };
      return encodeMessage(headers, data);
    }),
  );
}

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const STRING = 7;

function encodeMessage(headers: Readonly<Record<string, string>>, payload: object): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => {
      const length = Buffer.alloc(3);
      length.writeUInt8(STRING);
      length.writeUInt16BE(Buffer.byteLength(value), 1);
      return [Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), length, Buffer.from(value)];
    }),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(PRELUDE_BYTES);
  prelude.writeUInt32BE(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(Buffer.concat([prelude, head, body])));
  return Buffer.concat([prelude, head, body, checksum]);
}

/** Where each event ends; undefined for a body in another framing. */
export function findAwsEventEnds(body: Buffer): readonly number[] | undefined {
  const ends: number[] = [];
  for (let at = 0; at < body.length; ) {
    const isMessage =
      at + PRELUDE_BYTES <= body.length && crc32(body.subarray(at, at + 8)) === body.readUInt32BE(at + 8);
    if (!isMessage) return undefined;
    at += body.readUInt32BE(at);
    ends.push(at);
  }
  return ends.length > 0 ? ends : undefined;
}
