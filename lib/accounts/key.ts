// API keys: prefix, `sk-`, 256 random bits in base62, and a checksum that refuses typing errors without a look-up.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isBase62, makeSecret, SECRET_DIGITS, toBase62 } from '../base/base62.ts';

const MARK = 'sk-';
/** 62^6 > 2^32. */
const CHECKSUM_DIGITS = 6;

export function makeKey(prefix: string): string {
  const body = `${prefix}${MARK}${makeSecret()}`;
  return body + checksum(body);
}

/** Whether this is as long as a key of ours; anything else is not worth another look. */
export function isLongAsKey(prefix: string, { length }: string): boolean {
  return length === prefix.length + MARK.length + SECRET_DIGITS + CHECKSUM_DIGITS;
}

/** Whether this could be a key of ours. */
export function isWellFormedKey(prefix: string, text: string): boolean {
  const start = prefix.length + MARK.length;
  const end = start + SECRET_DIGITS;
  if (!isLongAsKey(prefix, text)) return false;
  if (!text.startsWith(prefix) || !text.startsWith(MARK, prefix.length) || !isBase62(text.slice(start))) return false;
  return checksum(text.slice(0, end)) === text.slice(end);
}

/** What is stored of a key: SHA-256, hex. A key has 256 random bits, so a fast hash without salt is enough. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}
