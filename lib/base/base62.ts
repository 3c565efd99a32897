// Secrets as letters and digits: 256 random bits in 43 characters.
import { randomBytes } from 'node:crypto';

/** 62^43 > 2^256. */
export const SECRET_DIGITS = 43;
const SECRET_BYTES = 32;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE62 = /^[0-9A-Za-z]+$/;

/** A cryptographically random token. */
export function makeSecret(): string {
  return toBase62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_DIGITS);
}

/** Writes a whole number with a fixed number of digits. The mapping is one to one, so there is no modulo bias. */
export function toBase62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}

export function isBase62(text: string): boolean {
  return BASE62.test(text);
}
