// Opaque tokens of sessions and one-time links: the holder gets 256 random bits, the store only their SHA-256.
import { hash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether a text looks like a token. Checks the length first, so that long texts cost nothing. */
export function isToken(text: string): boolean {
  return text.length === 43 && /^[\w-]+$/.test(text);
}

export function hashToken(token: string): string {
  return hash('sha256', token);
}
