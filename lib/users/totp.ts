// Authenticator codes (RFC 6238: SHA-1, six digits, 30 s), each valid once, and recovery codes.
import { hash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { isSealed } from '../store/secrets.ts';

const PERIOD_S = 30;
const DIGITS = 6;
/** RFC 4226 recommends 160 bits. */
const SECRET_BYTES = 20;
/** Phone clocks differ: one code before and one after are accepted. */
const WINDOW = 1;
const RECOVERY_CODES = 10;

export function makeTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** The `otpauth://…` URL for the authenticator app. */
export function totpUrl(secret: string, email: string): string {
  return createTotp(secret, email).toString();
}

/** The time step of a code that is correct and later than the last one used. The caller stores the step. */
export function findCodeStep(secret: string, code: string, { now, lastStep }: CodeUse): number | undefined {
  const token = code.replace(/[\s-]/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = createTotp(secret).validate({ token, timestamp: now, window: WINDOW });
  if (delta === null) return undefined;
  const step = Math.floor(now / 1000 / PERIOD_S) + delta;
  return step > lastStep ? step : undefined;
}

interface CodeUse {
  /** ms since the epoch. */
  readonly now: number;
  /** The time step of the last used code; -1 if none. */
  readonly lastStep: number;
}

function createTotp(secret: string, label = ''): TOTP {
  // Without the right SECRETS_KEY codes cannot be checked, so nobody with an app can sign in.
  if (isSealed(secret)) throw new Error('the secret of an authenticator app cannot be decrypted: check SECRETS_KEY');
  const settings = { issuer: 'Tollgate', algorithm: 'SHA1', digits: DIGITS, period: PERIOD_S };
  return new TOTP({ ...settings, label, secret: Secret.fromBase32(secret) });
}

/** Shown once; only the hashes are stored. Each has 50 random bits, in two groups that are easy to copy by hand. */
export function makeRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const digits = Array.from(randomBytes(10), (byte) => RECOVERY_ALPHABET.charAt(byte % 32)).join('');
    return `${digits.slice(0, 5)}-${digits.slice(5)}`;
  });
}

/** Crockford's base 32: no letters that look like digits. */
const RECOVERY_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export function hashRecoveryCode(code: string): string {
  return hash('sha256', code.toLowerCase().replace(/[\s-]/g, ''));
}

/** Whether a text looks like a recovery code; codes of the app have six digits. */
export function isRecoveryCode(text: string): boolean {
  return /^[a-z0-9]{10}$/.test(text.toLowerCase().replace(/[\s-]/g, ''));
}

/** Whether a text looks like a secret of `makeTotpSecret`; a form carries the secret until a code confirms it. */
export function isTotpSecret(text: string): boolean {
  return /^[A-Z2-7]{32}$/.test(text);
}
