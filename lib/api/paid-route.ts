// Shared by all generating endpoints: the life of a call, its memory, its context and its reply.
import type { Lifecycle, Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { readWallet } from '../accounts/read-wallet.ts';
import { type Fault, fault, faultWithWallet, isFault, walletPage } from '../base/faults.ts';
import { type CallContext, type CallLog, GONE } from '../calls/context.ts';
import { BODY_BYTES_MAX, readAnnouncedBytes } from '../http/body.ts';
import { type MemoryReservation, SMALL_BYTES } from '../http/memory-quota.ts';
import { commonHeaders } from '../http/reply.ts';
import { getRequestState, type LiveCall, measureStoreWait, type RequestState } from '../http/request-state.ts';
import { insufficientFault, neverToppedFault } from '../ledger/ledger.ts';
import type { ChargeKind, Wallet } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { getKeyHolder, readCallBudget } from './auth.ts';
import { hasIdempotencyKey, type IdempotentCall, openIdempotentCall, Replay } from './idempotency.ts';
import type { Services } from './services.ts';

/** One request to a generating endpoint. */
export interface PaidRequest {
  readonly request: Request;
  readonly h: ResponseToolkit;
  readonly services: Services;
  readonly call: LiveCall;
  /** The memory for bodies and images; released when the handler ends. */
  readonly reservation: MemoryReservation;
  /** Called when a stream was started outside hapi, so that hapi releases the memory of a pending reply. */
  readonly onBegun: () => void;
  /** The client's idempotency key; undefined if it sent none. */
  readonly idempotency: IdempotentCall | undefined;
}

export type PaidHandler = (paid: PaidRequest) => Promise<Lifecycle.ReturnValueTypes>;

/**
 * A `POST` that counts towards the shared bucket. A client that leaves gets no answer, which is not an error. Without
 * `repeats`, for calls that cost nothing, idempotency keys are ignored.
 */
export function paidRoute(
  path: string,
  services: Services,
  handle: PaidHandler,
  { takesIdempotencyKey = true }: { readonly takesIdempotencyKey?: boolean } = {},
): ServerRoute {
  return {
    method: 'POST',
    path,
    options: { plugins: { limit: services.limits.generate } },
    handler: (request, h) =>
      new Promise((resolve, reject) => {
        const onBegun = () => resolve(h.abandon);
        serve({ request, h, services, onBegun, takesIdempotencyKey }, handle).then(resolve, reject);
      }),
  };
}

interface RouteCall extends Omit<PaidRequest, 'call' | 'reservation' | 'idempotency'> {
  readonly takesIdempotencyKey: boolean;
}

async function serve(
  { takesIdempotencyKey, ...routeCall }: RouteCall,
  handle: PaidHandler,
): Promise<Lifecycle.ReturnValueTypes> {
  const { request, h, services } = routeCall;
  const idempotency =
    takesIdempotencyKey && hasIdempotencyKey(request) ? openIdempotentCall(request, services) : undefined;
  const call = services.calls.open(request);
  const reservation = services.budget.reserve(getKeyHolder(request).id);
  try {
    return await handle({ ...routeCall, call, reservation, idempotency });
  } catch (error) {
    if (endUnanswered(request, error)) return h.abandon;
    if (!(error instanceof Replay))
      throw isFault(error) ? faultWithWallet(error, walletPage(services.publicUrl())) : error;
    writeText(request, error.reply, { isReplay: true });
    return h.abandon;
  } finally {
    idempotency?.close();
    reservation.releaseAll();
    call.close();
  }
}

export function createCallContext({
  request,
  services,
  call,
}: Pick<PaidRequest, 'request' | 'call'> & { readonly services: Pick<Services, 'log'> }): CallContext {
  const state = getRequestState(request);
  const { id: requestId, notes, startedAt, waitedMs } = state;
  const holder = getKeyHolder(request);
  const { id: keyId, account: accountId, limits } = holder;
  return {
    requestId,
    accountId,
    keyId,
    limits,
    ...readCallBudget(holder),
    waitedMs,
    signal: call.signal,
    onFirst: () => {
      notes.first_ms = Math.round(performance.now() - startedAt);
    },
    log: new RequestLog(services.log, state),
  };
}

class RequestLog implements CallLog {
  readonly #log: Services['log'];
  readonly #state: RequestState;

  constructor(log: Services['log'], state: RequestState) {
    this.#log = log;
    this.#state = state;
  }

  debug(fields: object, message: string): void {
    this.#log.debug(this.#with(fields), message);
  }

  warn(fields: object, message: string): void {
    this.#log.warn(this.#with(fields), message);
  }

  error(fields: object, message: string): void {
    this.#log.error(this.#with(fields), message);
  }

  note(fields: object): void {
    Object.assign(this.#state.notes, fields);
  }

  #with(fields: object): object {
    return { request_id: this.#state.id, ...fields };
  }
}

type BodyAdmission = Pick<PaidRequest, 'request' | 'services' | 'idempotency' | 'reservation'>;

/** The price of a call. */
export interface Cost {
  readonly kind: ChargeKind;
  readonly amount: Micro;
}

/** Refuses a call that the wallet cannot pay now. An early check: the hold decides. */
export async function refuseTooExpensive(request: Request, services: Services, cost: Cost): Promise<void> {
  const wallet = await readCallerWallet(request, services.store);
  refusePlayMoney(services, wallet);
  if (wallet.topped === 0n || wallet.avail < cost.amount) throw createBalanceFault(services, wallet, cost);
}

/**
 * Called before the body is read: refuses a long one if there is no room for it, which costs no look at the store, or
 * if the wallet is empty; one that had money is not looked at again for a second. `least` is the minimum price. A repeat
 * under an idempotency key is read: the first call may have emptied the wallet.
 */
export async function admitBody(
  { request, services, idempotency, reservation }: BodyAdmission,
  least: () => Cost,
): Promise<void> {
  const bytes = readAnnouncedBytes(request.raw.req);
  if (bytes !== undefined && bytes <= SMALL_BYTES) return;
  // A longer one is refused for its length.
  if (bytes !== undefined && bytes <= BODY_BYTES_MAX) reservation.check(bytes);
  if (idempotency && (await idempotency.isKnown())) return;
  const { account } = getKeyHolder(request);
  if (services.recentBalances.has(account)) return;
  refuseEmpty(services, await readCallerWallet(request, services.store), least());
  services.recentBalances.note(account);
}

export function refuseEmpty(services: Pick<Services, 'topups' | 'isReal'>, wallet: Wallet, least: Cost): void {
  refusePlayMoney(services, wallet);
  if (wallet.topped === 0n || wallet.avail <= 0n) throw createBalanceFault(services, wallet, least);
}

function refusePlayMoney({ isReal }: Pick<Services, 'isReal'>, { playMoney }: Wallet): void {
  if (playMoney && isReal()) throw fault('play_money');
}

/** Reports the refusal to the automatic top-up, because the ledger never sees the call. */
function createBalanceFault({ topups }: Pick<Services, 'topups'>, wallet: Wallet, cost: Cost): Fault {
  topups.reportRefusal(wallet.id);
  return wallet.topped === 0n ? neverToppedFault() : insufficientFault(wallet, cost);
}

function readCallerWallet(request: Request, store: Services['store']): Promise<Wallet> {
  return measureStoreWait(getRequestState(request), readWallet(store, getKeyHolder(request).account));
}

/** Sends the reply of a paid call; with an idempotency key, stores it first. Resolves to the handler's return value. */
export async function answerJson({ request, idempotency, h }: PaidRequest, body: object): Promise<symbol> {
  const text = JSON.stringify(body);
  if (idempotency) await idempotency.keep(text);
  writeText(request, text);
  return h.abandon;
}

/** Bypasses hapi's transmission, which costs more than the rest of the request. */
function writeText(request: Request, text: string, { isReplay = false } = {}): void {
  const response = request.raw.res;
  const headers = isReplay ? replayHeaders(request) : commonHeaders(request);
  const type = 'application/json; charset=utf-8';
  const length = Buffer.byteLength(text);
  response.writeHead(200, { ...headers, 'content-type': type, 'cache-control': 'no-cache', 'content-length': length });
  response.end(text);
}

function replayHeaders(request: Request): Readonly<Record<string, string>> {
  const headers = commonHeaders(request);
  const exposed = `${headers['access-control-expose-headers']}, idempotent-replayed`;
  return { ...headers, 'idempotent-replayed': 'true', 'access-control-expose-headers': exposed };
}

/** Handles a failed request whose client has left or whose reply has started; returns false for any other. */
export function endUnanswered(request: Request, error: unknown): boolean {
  const { headersSent, destroyed } = request.raw.res;
  if (error !== GONE && !headersSent && !destroyed) return false;
  if (error === GONE) getRequestState(request).notes.ending = 'gone';
  if (error instanceof Error && !destroyed) {
    getRequestState(request).notes.err = error;
    request.raw.res.destroy();
  }
  return true;
}
