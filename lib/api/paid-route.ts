// What all generating endpoints share: the life of a call, its memory, its context, and how it is answered.
import type { Lifecycle, Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { type CallContext, GONE } from '../call/context.ts';
import type { Share } from '../http/budget.ts';
import { clocked, type LiveCall, stateOf } from '../http/context.ts';
import { commonHeaders } from '../http/reply.ts';
import { insufficientFault, neverToppedFault } from '../ledger/ledger.ts';
import type { ChargeKind, Wallet } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import { holderOf } from './auth.ts';
import type { Services } from './services.ts';
import { readWallet } from './wallet.ts';

/** One request to a generating endpoint. */
export interface PaidRequest {
  readonly request: Request;
  readonly h: ResponseToolkit;
  readonly services: Services;
  readonly call: LiveCall;
  /** What the call holds of the memory for bodies and pictures; given back when the handler ends. */
  readonly share: Share;
  /** A stream has begun, past hapi, which then lets go of what it keeps for a reply that is due. */
  readonly onBegun: () => void;
}

export type PaidHandler = (paid: PaidRequest) => Promise<Lifecycle.ReturnValueTypes>;

/** A `POST` that counts towards the shared bucket. A client that leaves gets no answer, which is not an error. */
export function paidRoute(path: string, services: Services, handle: PaidHandler): ServerRoute {
  return {
    method: 'POST',
    path,
    options: { plugins: { limit: services.limits.generate } },
    handler: (request, h) =>
      new Promise((resolve, reject) => {
        const onBegun = () => resolve(h.abandon);
        serve({ request, h, services, onBegun }, handle).then(resolve, reject);
      }),
  };
}

async function serve(
  asked: Omit<PaidRequest, 'call' | 'share'>,
  handle: PaidHandler,
): Promise<Lifecycle.ReturnValueTypes> {
  const { request, h, services } = asked;
  const call = services.calls.open(request);
  const share = services.budget.open(holderOf(request).id);
  try {
    return await handle({ ...asked, call, share });
  } catch (error) {
    if (endUnanswered(request, error)) return h.abandon;
    throw error;
  } finally {
    share.giveBack();
    call.close();
  }
}

export function contextOf({
  request,
  services,
  call,
}: Pick<PaidRequest, 'request' | 'call'> & { readonly services: Pick<Services, 'log'> }): CallContext {
  const { log } = services;
  const { id: requestId, notes, startedAt, waitedMs } = stateOf(request);
  const holder = holderOf(request);
  const { id: keyId, account: accountId, limits } = holder;
  return {
    requestId,
    accountId,
    keyId,
    limits,
    ...budgetOf(holder),
    waitedMs,
    signal: call.signal,
    onFirst: () => {
      notes.first_ms = Math.round(performance.now() - startedAt);
    },
    log: {
      debug: (fields, message) => log.debug({ request_id: requestId, ...fields }, message),
      warn: (fields, message) => log.warn({ request_id: requestId, ...fields }, message),
      error: (fields, message) => log.error({ request_id: requestId, ...fields }, message),
      note: (fields) => void Object.assign(notes, fields),
    },
  };
}

function budgetOf({ name, limits: { budget: most, reset, zone } }: KeyHolder): Pick<CallContext, 'budget'> {
  return most === null ? {} : { budget: { name, most, reset, zone } };
}

/** What a call is going to cost. */
export interface Cost {
  readonly kind: ChargeKind;
  readonly amount: Micro;
}

/** Refuses early what the wallet cannot pay now; the hold decides. */
export async function refuseUnpayable(request: Request, { store }: Services, cost: Cost): Promise<void> {
  const wallet = await walletOf(request, store);
  if (wallet.topped === 0n) throw neverToppedFault();
  if (wallet.avail < cost.amount) throw insufficientFault(wallet, cost);
}

/** A long body is not even read for an empty wallet; `least` is what the cheapest call costs. */
export async function refusePenniless(request: Request, { store }: Services, least: Cost): Promise<void> {
  const wallet = await walletOf(request, store);
  if (wallet.topped === 0n) throw neverToppedFault();
  if (wallet.avail <= 0n) throw insufficientFault(wallet, least);
}

function walletOf(request: Request, store: Services['store']): Promise<Wallet> {
  return clocked(stateOf(request), readWallet(store, holderOf(request).account));
}

/** Bypasses hapi's own transmission, which costs more than the rest of the request. */
export function writeJson(request: Request, body: object, stallMs: number): void {
  const response = request.raw.res;
  const headers = commonHeaders(request);
  const text = JSON.stringify(body);
  const type = 'application/json; charset=utf-8';
  const length = Buffer.byteLength(text);
  response.writeHead(200, { ...headers, 'content-type': type, 'cache-control': 'no-cache', 'content-length': length });
  response.end(text);
  // A reader that takes nothing for so long is gone.
  if (response.writableLength > 0) response.setTimeout(stallMs, () => response.destroy());
}

/** Ends a request that failed when nobody is there to be answered, or an answer has begun already; false otherwise. */
export function endUnanswered(request: Request, error: unknown): boolean {
  const { headersSent, destroyed } = request.raw.res;
  if (error !== GONE && !headersSent && !destroyed) return false;
  if (error === GONE) stateOf(request).notes.ending = 'gone';
  if (error instanceof Error && !destroyed) {
    stateOf(request).notes.err = error;
    request.raw.res.destroy();
  }
  return true;
}
