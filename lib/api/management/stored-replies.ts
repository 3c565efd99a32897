// Idempotency keys of the management API: each change runs once, and a repeat gets the reply of the first request.
//
// A reply may have a secret, such as a new API key, of which the store has only a hash. So it is encrypted with a key made
// of the management key and the idempotency key, neither of which is stored: only who repeats the request can read it.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import { fault } from '../../base/faults.ts';
import type { ManagementReply, ManagementStore } from '../../store/ports/management.ts';
import { readKeyHeader } from '../auth.ts';
import { invalidField } from '../dialects/fields.ts';
import { KEPT_MS, readIdempotencyKey } from '../idempotency.ts';

/** Longer than a verb takes. */
const LEASE_MS = 60_000;
const RETRY_S = 2;
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A request that changes something, claimed for this process. */
export interface ClaimedRequest {
  /** The same for each repeat of the request. */
  readonly operation: string;
  /** An earlier attempt broke off. */
  readonly isAgain: boolean;
  /** Stores the reply for repeats. */
  keep(reply: string): Promise<void>;
  /** The request has changed nothing: it may be sent again, also in another form. */
  drop(): Promise<void>;
}

interface ClaimTerms {
  readonly store: ManagementStore;
  /** The id of the management key. */
  readonly key: string;
  readonly body: Buffer;
  /** Whether the verb may run again after an attempt that broke off. */
  readonly isRepeatable: boolean;
}

/** Resolves to the stored reply of a repeat. Throws 400, 409 and 422 faults. */
export async function claimRequest(
  request: Request,
  { store, key, body, isRepeatable }: ClaimTerms,
): Promise<ClaimedRequest | { readonly reply: string }> {
  const sent = readIdempotencyKey(request);
  if (sent === undefined)
    throw invalidField('idempotency-key', 'is required: a text of your own, the same for each repeat');
  const id = digest(`${key}\n${sent}`);
  const now = Date.now();
  const claim = {
    id,
    body: digest(`${request.method} ${request.path}\n`, body),
    lease: now + LEASE_MS,
    expiresAt: now + KEPT_MS,
  };
  const secret = deriveKey(readKeyHeader(request) ?? '', sent);
  const claimed = await store.claimReply(claim, now);
  if (claimed.status === 'found') return { reply: readReply(claimed.found, claim.body, secret) };
  // The claim stays, without a reply: repeats are told the same.
  if (claimed.status === 'again' && !isRepeatable) throw fault('idempotency_lost');
  return {
    operation: createHash('sha256').update(id).digest('hex').slice(0, 32),
    isAgain: claimed.status === 'again',
    async keep(reply) {
      await store.storeReply(claim, encrypt(reply, secret));
    },
    drop: () => store.dropReply(claim),
  };
}

function readReply({ body, reply }: ManagementReply, sentBody: string, secret: Buffer): string {
  if (body !== sentBody) throw fault('idempotency_mismatch');
  if (reply === null) throw fault('idempotency_running', { retryAfterS: RETRY_S });
  return decrypt(reply, secret);
}

function digest(head: string, bytes: Uint8Array = new Uint8Array()): string {
  return createHash('sha256').update(head).update(bytes).digest('base64url');
}

function deriveKey(managementKey: string, idempotencyKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', managementKey, idempotencyKey, 'tollgate management reply', 32));
}

function encrypt(text: string, secret: Buffer): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, secret, iv);
  const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64');
}

function decrypt(text: string, secret: Buffer): string {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}
