// Keys: prefix, `sk-` for API keys or `mk-` for management keys, 256 random bits in base62, and a checksum that detects
// typing errors without a look-up.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isBase62, makeSecret, SECRET_DIGITS, toBase62 } from '../base/base62.ts';

const KEY_MARK = 'sk-';
/** Of keys of the management API; as long as the other. */
export const MANAGEMENT_MARK = 'mk-';
/** 62^6 > 2^32. */
const CHECKSUM_DIGITS = 6;

export function makeKey(prefix: string, mark: string = KEY_MARK): string {
  const body = `${prefix}${mark}${makeSecret()}`;
  return body + computeChecksum(body);
}

/** A cheap check before the others. */
export function hasKeyLength(prefix: string, { length }: string): boolean {
  return length === prefix.length + KEY_MARK.length + SECRET_DIGITS + CHECKSUM_DIGITS;
}

/** Whether a text has the form of a key of this service, including its checksum. */
export function isWellFormedKey(prefix: string, text: string, mark: string = KEY_MARK): boolean {
  const start = prefix.length + KEY_MARK.length;
  const end = start + SECRET_DIGITS;
  if (!hasKeyLength(prefix, text)) return false;
  if (!text.startsWith(prefix) || !text.startsWith(mark, prefix.length) || !isBase62(text.slice(start))) return false;
  return computeChecksum(text.slice(0, end)) === text.slice(end);
}

/** The stored form of a key: SHA-256, hex. A key has 256 random bits, so a fast hash without salt is enough. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

function computeChecksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}
