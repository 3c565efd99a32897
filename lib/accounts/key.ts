// API keys: prefix, `sk-`, 256 random bits in base62, and a checksum that refuses typing errors without a look-up.
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const MARK = 'sk-';
/** 62^43 > 2^256. */
const SECRET_DIGITS = 43;
const SECRET_BYTES = 32;
/** 62^6 > 2^32. */
const CHECKSUM_DIGITS = 6;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE62 = /^[0-9A-Za-z]+$/;

export function makeKey(prefix: string): string {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`);
  const body = `${prefix}${MARK}${toBase62(secret, SECRET_DIGITS)}`;
  return body + checksum(body);
}

/** Whether this could be a key of ours; the length is checked first, so a long text costs nothing. */
export function isWellFormedKey(prefix: string, text: string): boolean {
  const start = prefix.length + MARK.length;
  const end = start + SECRET_DIGITS;
  if (text.length !== end + CHECKSUM_DIGITS) return false;
  if (!text.startsWith(prefix) || !text.startsWith(MARK, prefix.length) || !BASE62.test(text.slice(start)))
    return false;
  return checksum(text.slice(0, end)) === text.slice(end);
}

/** What is stored of a key: SHA-256, hex. A key has 256 random bits, so a fast hash without salt is enough. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}

/** The whole number in exactly so many digits: every value has one text, so no digit is likelier by a modulo. */
function toBase62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
