// Idempotency keys: a call repeated with the same `idempotency-key` gets the outcome of the first one and is charged once.
// The ledger stores the key together with the hold; here it is looked up before that.
import { createHash } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import { orUnavailable } from '../accounts/read-wallet.ts';
import { DAY_MS } from '../base/durations.ts';
import { fault } from '../base/faults.ts';
import { toVideoId } from '../calls/videos/job-id.ts';
import { refuseModel } from '../catalog/lookup.ts';
import type { Form } from '../http/form.ts';
import { refuseOverBudget } from '../ledger/caps.ts';
import { readCallBudget } from '../ledger/key-caps.ts';
import { getBudgetKeyId } from '../money/budget.ts';
import type { Charge } from '../money/decide.ts';
import { type IdempotencyRecord, type IdempotencyTerms, isIdempotencyKeyTaken } from '../money/idempotency.ts';
import { type Caller, confirmHolder } from './auth.ts';
import { invalidField } from './dialects/fields.ts';
import type { Services } from './services.ts';

export interface IdempotentCall {
  /** Whether the key was used before: a repeat must not be refused for an empty wallet. */
  isKnown(): Promise<boolean>;
  /** Takes the body of the request. Throws a `Replay`, or 409 and 422 faults, unless the key is free. */
  readBody(bytes: Uint8Array): Promise<void>;
  /** Like `readBody`, for a form, whose bytes differ each time it is sent. */
  readForm(form: Form): Promise<void>;
  /** The data to store with the hold; call it after the body was read. */
  terms(of: Pick<IdempotencyTerms, 'awaited'>): IdempotencyTerms;
  /** Stores the reply for repeats; never rejects, because the call is already charged. */
  keep(reply: string): Promise<void>;
  /** Ends the call: a reply that is not stored yet never will be. */
  close(): void;
}

/** Thrown to answer with the stored reply of an earlier call. */
export class Replay {
  readonly reply: string;
  constructor(reply: string) {
    this.reply = reply;
  }
}

const HEADER = 'idempotency-key';
const KEY = /^[\x20-\x7e]{1,255}$/;
/** How long a repeat gets the outcome of the first request. */
export const KEPT_MS = DAY_MS;
const REPLY_BYTES_MAX = 1024 * 1024;
/** How long after a charge its reply may still be on the way to the store. */
const SETTLING_MS = 10_000;
const RETRY_MAX_S = 59;

/** The client's key; undefined if it sent none. Throws a 400 fault for an invalid one. */
export function readIdempotencyKey({ raw }: Request): string | undefined {
  const key = raw.req.headers[HEADER];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) throw invalidField(HEADER, 'must be 1 to 255 printable characters');
  return key;
}

type IdempotencyServices = Pick<Services, 'store' | 'log' | 'holders' | 'catalog'>;

interface KeyedRequest extends Caller {
  readonly request: Request;
  /** As sent by the client. */
  readonly key: string;
}

export function openIdempotentCall(keyed: KeyedRequest, services: IdempotencyServices): IdempotentCall {
  const { store, log } = services;
  const { request, key, state, holder } = keyed;
  const charge = state.id;
  // Hashed: keys may contain private data, and are too long for an index.
  const id = createHash('sha256').update(`${holder.account}\n${key}`).digest('base64url');
  let body = '';
  let isAwaited = false;

  async function check(): Promise<void> {
    const repeat = await orUnavailable(store.idempotency.get(id));
    const first = repeat && (await orUnavailable(store.ledger.charge(repeat.charge)));
    if (!first || !isIdempotencyKeyTaken(repeat, first, Date.now())) return;
    if (repeat.body !== body) throw fault('idempotency_mismatch');
    await refuseLimited(keyed, first, services);
    if (repeat.reply !== null) throw new Replay(repeat.reply);
    if (await isRunning(first, repeat)) throw fault('idempotency_running', { retryAfterS: estimateRetryS(first) });
    throw fault('idempotency_done', { charge: first.id, ...describeVideoHint(first) });
  }

  /** A video is charged when it starts, so a settled charge may belong to a running call. */
  async function isRunning({ id: chargeId, state, endedAt }: Charge, { awaited }: IdempotencyRecord): Promise<boolean> {
    if (state === 'held') return true;
    if (!awaited) return false;
    if (Date.now() - (endedAt ?? 0) < SETTLING_MS) return true;
    return (await orUnavailable(store.jobs.get(toVideoId(chargeId))))?.phase === 'starting';
  }

  async function write(reply: string | null): Promise<void> {
    isAwaited = false;
    try {
      await store.idempotency.storeReply({ id, charge }, reply);
    } catch (err) {
      log.warn({ err, request_id: charge }, 'could not store a reply for repeats');
    }
  }

  async function read(kind: string, parts: Iterable<string | Uint8Array>): Promise<void> {
    body = await hashParts(`${kind} ${request.path}\n`, parts);
    await check();
  }

  return {
    async isKnown() {
      const repeat = await orUnavailable(store.idempotency.get(id));
      return repeat !== undefined && repeat.expiresAt > Date.now();
    },
    readBody: (bytes) => read('json', [bytes]),
    readForm: (form) => read('form', listFormParts(form)),
    terms({ awaited }) {
      isAwaited = awaited;
      return { id, body, awaited, expiresAt: Date.now() + KEPT_MS };
    },
    keep: (reply) => write(Buffer.byteLength(reply) > REPLY_BYTES_MAX ? null : reply),
    close() {
      if (isAwaited) void write(null);
    },
  };
}

/**
 * A key must not see the reply of a call that it could not have made: the models and the expiry of the repeating key apply,
 * and its budget, if another key made the call. Nothing is charged, so the balance and the budget that paid do not matter.
 */
async function refuseLimited(
  caller: Caller,
  first: Charge,
  { store, holders, catalog }: IdempotencyServices,
): Promise<void> {
  const { model: id, kind, reserved: amount } = first;
  const holder = await confirmHolder(caller, holders);
  refuseModel(holder.limits, catalog().byName.get(id) ?? { id, aliases: [] });
  const { budget } = readCallBudget(holder);
  const sumKey = getBudgetKeyId(holder);
  if (!budget || sumKey === getBudgetKeyId({ id: first.key, budgetKey: first.budgetKey })) return;
  const [sum] = await orUnavailable(store.ledger.budgets([sumKey]));
  refuseOverBudget(sum, { kind, amount, at: Date.now(), budget });
}

/** A call that has run for long is expected to run for longer. */
function estimateRetryS({ createdAt }: Charge): number {
  return Math.min(RETRY_MAX_S, Math.max(1, Math.ceil((Date.now() - createdAt) / 2000)));
}

function describeVideoHint({ kind, id }: Charge): { readonly hint?: string } {
  return kind === 'video' ? { hint: `GET /api/v1/videos?id=${toVideoId(id)} shows the video` } : {};
}

/** Lengths are included to keep adjacent values apart. */
function* listFormParts({ texts, files }: Form): Generator<string | Uint8Array> {
  for (const { name, text } of texts) yield `text ${JSON.stringify([name, text])}\n`;
  for (const { name, bytes, isCut } of files) {
    yield `file ${JSON.stringify([name, bytes.length, isCut])}\n`;
    yield bytes;
  }
}

/** Hashing yields to other work after this many bytes. */
const BYTES_AT_ONCE = 4 * 1024 * 1024;

async function hashParts(head: string, parts: Iterable<string | Uint8Array>): Promise<string> {
  const hash = createHash('sha256').update(head);
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
      hash.update(bytes.subarray(at, at + BYTES_AT_ONCE));
    }
  }
  return hash.digest('base64url');
}
