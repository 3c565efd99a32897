// Keys that accounts brought from another gateway. They have no checksum, so a short fingerprint of each is kept in
// memory: a text that is none of them costs no look-up.
import { fault } from '../base/faults.ts';
import type { Store } from '../store/store.ts';

/** The setting that holds the fingerprints of all such keys; they stay there when a key is revoked. */
const SETTING = 'moved-keys';
const MARK = 'sk-';
/** Shorter ones could be guessed. */
const SECRET_LENGTH_MIN = 16;
const SECRET = /^[\x21-\x7e]+$/;
const LENGTH_MAX = 160;
const FINGERPRINT_BYTES = 4;
/** A key that moves in while gateways run is known to each after this time at most. */
const REREAD_MS = 5000;

/** The key as clients send it, from the text that the other gateway keeps; undefined for one that cannot move. */
export function toMovedKey(secret: string): string | undefined {
  const key = `${MARK}${secret.trim()}`;
  return isMovedKey(key) ? key : undefined;
}

/** Whether a text has the form of such a key. */
export function isMovedKey(text: string): boolean {
  const { length } = text;
  if (length < MARK.length + SECRET_LENGTH_MIN || length > LENGTH_MAX) return false;
  return text.startsWith(MARK) && SECRET.test(text);
}

/** Adds the hashes of keys to those that gateways look up. */
export async function noteMovedKeys({ settings }: Pick<Store, 'settings'>, hashes: readonly string[]): Promise<void> {
  const wanted = hashes.map(toFingerprint);
  // Another command may write at the same time.
  for (;;) {
    const known = parseFingerprints(await settings.get(SETTING));
    if (wanted.every((fingerprint) => known.has(fingerprint))) return;
    await settings.set(SETTING, formatFingerprints(new Set([...known, ...wanted])));
  }
}

export interface MovedKeys {
  /** Whether a key with this hash may have moved in; at most one of 100,000 others is taken for one of 40,000 such keys. */
  mayHave(hash: string): boolean | Promise<boolean>;
}

/** Rejections are faults. */
export function createMovedKeys({ settings }: Pick<Store, 'settings'>): MovedKeys {
  let fingerprints: ReadonlySet<number> = new Set();
  let text: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const at = performance.now();
    try {
      const found = await settings.get(SETTING);
      if (found !== text) fingerprints = parseFingerprints(found);
      text = found;
      readAt = at;
    } catch (error) {
      throw fault('store_unavailable', {}, error);
    } finally {
      reading = undefined;
    }
  }

  return {
    mayHave(hash) {
      const fingerprint = toFingerprint(hash);
      if (fingerprints.has(fingerprint)) return true;
      if (performance.now() - readAt < REREAD_MS) return false;
      reading ??= read();
      return reading.then(() => fingerprints.has(fingerprint));
    },
  };
}

function toFingerprint(hash: string): number {
  return Number.parseInt(hash.slice(0, 2 * FINGERPRINT_BYTES), 16);
}

function parseFingerprints(text: string | undefined): ReadonlySet<number> {
  const bytes = Buffer.from(text ?? '', 'base64');
  const found = new Set<number>();
  for (let at = 0; at + FINGERPRINT_BYTES <= bytes.length; at += FINGERPRINT_BYTES) found.add(bytes.readUInt32BE(at));
  return found;
}

function formatFingerprints(fingerprints: ReadonlySet<number>): string {
  const sorted = [...fingerprints].sort((one, other) => one - other);
  const bytes = Buffer.alloc(sorted.length * FINGERPRINT_BYTES);
  for (const [index, fingerprint] of sorted.entries()) bytes.writeUInt32BE(fingerprint, index * FINGERPRINT_BYTES);
  return bytes.toString('base64');
}
