// The one place that gives replies their common headers and renders every error in its route's response style.
import assert from 'node:assert/strict';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { type Fault, fault, isFault } from '../base/faults.ts';
import { markPayloadRead } from '../platform/hapi-request.ts';
import { StoreError } from '../store/store.ts';
import { createDrainingReply } from './early-reply.ts';
import { findHeaderProblem } from './headers.ts';
import { addRoutesFor } from './late-routes.ts';
import { getRequestState } from './request-state.ts';
import { readResponseStyle } from './response-style.ts';

/** Headers of every reply to a request, including streams. */
export function commonHeaders(request: Request): Readonly<Record<string, string>> {
  const { id } = getRequestState(request);
  return {
    'x-request-id': id,
    'request-id': id,
    ...request.server.settings.app?.headers,
    ...readResponseStyle(request).headers,
  };
}

export function onRequest(request: Request, h: ResponseToolkit): Lifecycle.ReturnValue {
  const hint = findHeaderProblem(request.raw.req);
  if (hint !== undefined) throw fault('bad_http', { hint });
  addRoutesFor(request.path, request.server);
  return h.continue;
}

export const onPreResponse: Lifecycle.Method = (request, h) =>
  // The rest of the packet that brought the headers is parsed in this tick.
  request.raw.req.complete ? finishReply(request, h) : waitOneTick().then(() => finishReply(request, h));

function finishReply(request: Request, h: ResponseToolkit): ResponseObject {
  const { response } = request;
  assert(typeof response !== 'symbol', 'hapi skips onPreResponse for replies that were written outside it');
  const reply = 'isBoom' in response ? errorReply(request, h) : response;
  if (request.raw.req.complete) markPayloadRead(request);
  // The reply does not wait for the rest of the body, so the connection cannot be used again.
  else reply.header('connection', 'close');
  const headers = commonHeaders(request);
  for (const name in headers) reply.header(name, headers[name] as string);
  return reply;
}

function errorReply(request: Request, h: ResponseToolkit): ResponseObject {
  const reason = toFault(request.response as Fault | StoreError);
  const { data } = reason;
  noteFault(request, reason);
  const { body, type } = readResponseStyle(request).renderFault(reason);
  const { req } = request.raw;
  const content = req.complete
    ? h.response(body)
    : h.response(createDrainingReply(req, body)).bytes(Buffer.byteLength(body));
  const reply = content.type(type).code(reason.output.statusCode);
  // The two sides may disagree about where the next request starts.
  if (data?.code === 'bad_http') reply.header('connection', 'close');
  if (data?.retryable === false) reply.header('x-should-retry', 'false');
  if (data?.code === 'range_not_satisfiable') reply.header('content-range', `bytes */${data.detail.bytes}`);
  if (data?.detail.retryAfterS !== undefined) reply.header('retry-after', String(data.detail.retryAfterS));
  if (data?.code === 'method_not_allowed') reply.header('allow', String(data.detail.hint));
  return reply;
}

/** Records in the log line the fault that is sent to the client. */
export function noteFault(request: Request, reason: Fault): void {
  const { data } = reason;
  const state = getRequestState(request);
  const { notes } = state;
  state.message = reason.message;
  Object.assign(notes, describeRefusal(reason));
  // Not for upstream errors: their text may quote a prompt, and is logged at `debug` only. A client's mistake is no
  // failure of ours.
  const hasFailed = reason.cause !== undefined && reason.output.statusCode >= 500;
  const isOurs = data?.code === 'internal' || (hasFailed && data?.chatCode !== 'upstream_error');
  if (isOurs) notes.err = reason.cause ?? reason;
}

/** The fault's code and field, and the requested model. */
function describeRefusal({ data }: Fault): object {
  const { field, model } = data?.detail ?? {};
  return { fault: data?.code, ...(field !== undefined && { field }), ...(model !== undefined && { asked: model }) };
}

/** hapi's own refusals become client errors without a stack; any error but a store's is an internal failure. */
function toFault(error: Fault | StoreError): Fault {
  if (isFault(error)) return error;
  if (error instanceof StoreError && error.blames === 'store')
    return fault('store_unavailable', { unconfirmed: error.applied === 'unknown' }, error);
  const status = (error as { output?: { statusCode?: number } }).output?.statusCode ?? 500;
  if (status === 404) return fault('not_found');
  return status < 500 ? fault('bad_http') : fault('internal', {}, error);
}
