// Makes the tokens that Kling accepts for a key: JSON Web Tokens (RFC 7519), signed with the account's secret by HS256.
import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import type { HostClock, KeyHeaders } from '../../lib/upstream/contract/provider.ts';

/** A token is valid for at least this long, and at most twice as long. */
const SLOT_SECONDS = 900;

/** The vendor's clock may be behind ours. */
const EARLY_SECONDS = 60;

/** Calls within one slot send the same token; the next slot has a new one, long before the old one expires. */
export function createAuth(clock: Pick<HostClock, 'now'>): KeyHeaders {
  return (key) => {
    const slot = Math.floor(clock.now() / 1000 / SLOT_SECONDS) * SLOT_SECONDS;
    return { authorization: `Bearer ${signKlingToken(key, slot)}` };
  };
}

function signKlingToken(key: string, slot: number): string {
  const [access = '', secret = ''] = key.split(':');
  const claims = { iss: access, exp: slot + 2 * SLOT_SECONDS, nbf: slot - EARLY_SECONDS };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
