// Shared by all generating endpoints: the life of a call, its memory and its reply.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Lifecycle, Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { LimitRule } from '../accounts/rate-limiter.ts';
import { faultWithWallet, isFault, walletPage } from '../base/faults.ts';
import { GONE } from '../calls/context.ts';
import type { MemoryReservation } from '../http/memory-quota.ts';
import { commonHeaders } from '../http/reply.ts';
import { getRequestState, type LiveCall, type RequestState } from '../http/request-state.ts';
import { SSE_HEADERS } from '../http/sse-reply.ts';
import { forgetAbandoned } from '../platform/hapi-request.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import { AnswerMemory } from '../stream/answer-memory.ts';
import { getKeyHolder } from './auth.ts';
import type { Turn } from './call-turns.ts';
import { type IdempotentCall, openIdempotentCall, Replay, readIdempotencyKey } from './idempotency.ts';
import type { Services } from './services.ts';

/** One request to a generating endpoint. */
export interface PaidRequest {
  readonly request: Request;
  readonly h: ResponseToolkit;
  readonly services: Services;
  readonly state: RequestState;
  /** As authenticated; `confirmHolder` returns the current one, right before money moves. */
  readonly holder: KeyHolder;
  /** The headers of every reply to the request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly call: LiveCall;
  /** The memory for bodies and images; released when the handler ends. */
  readonly reservation: MemoryReservation;
  /** The same for the answer, which outlives the request. */
  readonly answerMemory: AnswerMemory;
  /** Called when a stream was started outside hapi, so that hapi releases the memory of a pending reply. */
  readonly onBegun: () => void;
  /** The turn of the call among those that run at once; absent if nothing limits them. */
  readonly turn?: Turn;
  /** The client's idempotency key; undefined if it sent none. */
  readonly idempotency: IdempotentCall | undefined;
}

export type PaidHandler = (paid: PaidRequest) => Promise<Lifecycle.ReturnValueTypes>;

/**
 * A `POST` that counts towards the shared bucket, unless it is free and has one of its own. A client that leaves gets no
 * answer, which is not an error. Calls that cost nothing take no idempotency key, and ignore one.
 */
export function paidRoute(
  path: string,
  services: Services,
  handle: PaidHandler,
  { freeLimit }: { readonly freeLimit?: LimitRule } = {},
): ServerRoute {
  const isPaid = freeLimit === undefined;
  return {
    method: 'POST',
    path,
    options: { plugins: { limit: freeLimit ?? services.limits.generate } },
    handler: (request, h) =>
      new Promise((resolve, reject) => {
        const state = getRequestState(request);
        const onBegun = () => {
          state.line?.releaseRequest();
          resolve(h.abandon);
          forgetAbandoned(request);
        };
        const paid = openPaidRequest({ request, h, services, onBegun }, isPaid);
        // What costs nothing needs no turn.
        serve(paid, isPaid ? (one) => handleInTurn(one, handle) : handle).then(resolve, reject);
      }),
  };
}

type Route = Pick<PaidRequest, 'request' | 'h' | 'services' | 'onBegun'>;

function openPaidRequest(route: Route, isPaid: boolean): PaidRequest {
  const { request, h, services, onBegun } = route;
  const state = getRequestState(request);
  const holder = getKeyHolder(request);
  const headers = commonHeaders(request);
  const key = isPaid ? readIdempotencyKey(request) : undefined;
  const idempotency = key === undefined ? undefined : openIdempotentCall({ request, key, state, holder }, services);
  const reservation = services.memoryQuota.reserve(holder.id);
  const answerMemory = new AnswerMemory(services.memoryQuota, holder.id);
  const call = services.calls.open(request);
  return { request, h, services, state, holder, headers, call, reservation, answerMemory, onBegun, idempotency };
}

/** Not async: without a limit, nothing here refers to the request while it is answered. */
function handleInTurn(paid: PaidRequest, handle: PaidHandler): ReturnType<PaidHandler> {
  const { services, holder, call } = paid;
  const turn = services.turns.enter(holder, call.signal);
  if (!turn) return handle(paid);
  return turn.then((entered) => handle({ ...paid, turn: entered }).finally(entered.leave));
}

/** Not an async function: while a stream is open, it would refer to the whole request. */
function serve(paid: PaidRequest, handle: PaidHandler): Promise<Lifecycle.ReturnValueTypes> {
  const { end, fail } = prepareEnd(paid);
  return handle(paid).then(end, fail);
}

/** The ends of a call, which keep nothing else of its request. */
function prepareEnd({ request, h, services, state, holder, headers, ...held }: PaidRequest) {
  const { res: response } = request.raw;
  const { abandon } = h;
  const { account } = holder;
  const { call, reservation, answerMemory, idempotency } = held;

  function end<Value>(value: Value): Value {
    idempotency?.close();
    reservation.releaseAll();
    answerMemory.releaseAll();
    call.close();
    return value;
  }

  function answerFailure(error: unknown): symbol {
    if (endUnanswered(response, state, error)) return abandon;
    if (!(error instanceof Replay)) {
      throw isFault(error) ? faultWithWallet(error, walletPage(services.publicUrl(), account)) : error;
    }
    writeText(response, error.reply, markReplay(headers));
    return abandon;
  }

  function fail(error: unknown): symbol {
    try {
      return answerFailure(error);
    } finally {
      end(undefined);
    }
  }

  return { end, fail };
}

/** Sends the reply of a paid call; with an idempotency key, stores it first. Resolves to the handler's return value. */
export function answerJson(paid: PaidRequest, body: object): Promise<symbol> {
  return answerText(paid, JSON.stringify(body));
}

async function answerText({ request, headers, idempotency, h }: PaidRequest, text: string): Promise<symbol> {
  if (idempotency) await idempotency.keep(text);
  writeText(request.raw.res, text, headers);
  return h.abandon;
}

/** A longer reply is not held in memory as a whole; nor is it stored for repeats. */
const WHOLE_CHARACTERS_MAX = 1024 * 1024;

/** Like `answerJson`, for a reply that may be long: it is made piece by piece, as fast as the client reads. */
export async function answerPieces(paid: PaidRequest, pieces: Iterator<string>): Promise<symbol> {
  let begin = '';
  while (begin.length <= WHOLE_CHARACTERS_MAX) {
    const next = pieces.next();
    if (next.done) return answerText(paid, begin);
    begin += next.value;
  }
  return writePieces(paid, { type: JSON_HEADERS, begin, pieces });
}

/** The same for events of a whole answer, which are not stored for repeats. */
export function answerEvents(paid: PaidRequest, pieces: Iterator<string>): Promise<symbol> {
  return writePieces(paid, { type: SSE_HEADERS, begin: '', pieces });
}

interface Pieces {
  readonly type: Readonly<Record<string, string>>;
  readonly begin: string;
  readonly pieces: Iterator<string>;
}

async function writePieces(
  { request, headers, services, call, h }: PaidRequest,
  { type, begin, pieces }: Pieces,
): Promise<symbol> {
  const response = request.raw.res;
  response.writeHead(200, { ...headers, ...type });
  for (let next: IteratorResult<string> = { value: begin }; !next.done; next = pieces.next()) {
    call.signal.throwIfAborted();
    if (!response.write(next.value)) await waitForDrain(response, call.signal, services.clientStallMs);
    // Other calls get their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
  return h.abandon;
}

/** A client that reads nothing for so long is gone. */
async function waitForDrain(response: ServerResponse, signal: AbortSignal, stallMs: number): Promise<void> {
  const stalled = AbortSignal.timeout(stallMs);
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, stalled]) });
  } catch {
    response.destroy();
    throw GONE;
  }
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' };

/** Bypasses hapi's transmission, which costs more than the rest of the request. */
function writeText(response: ServerResponse, text: string, headers: PaidRequest['headers']): void {
  response.writeHead(200, { ...headers, ...JSON_HEADERS, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function markReplay(headers: PaidRequest['headers']): PaidRequest['headers'] {
  const exposed = `${headers['access-control-expose-headers']}, idempotent-replayed`;
  return { ...headers, 'idempotent-replayed': 'true', 'access-control-expose-headers': exposed };
}

/** Handles a failed request whose client has left or whose reply has started; returns false for any other. */
export function endUnanswered(response: ServerResponse, { notes }: RequestState, error: unknown): boolean {
  const { headersSent, destroyed } = response;
  if (error !== GONE && !headersSent && !destroyed) return false;
  if (error === GONE) notes.ending = 'gone';
  if (error instanceof Error && !destroyed) {
    notes.err = error;
    response.destroy();
  }
  return true;
}
