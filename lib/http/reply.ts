// The one place that gives replies their common headers and renders every error in the envelope of its path.
import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { chatFault } from '../dialects/chat/fault.ts';
import { messageFault } from '../dialects/message/fault.ts';
import { type Fault, fault, isFault } from '../faults.ts';
import { isWhole } from './body.ts';
import { stateOf } from './context.ts';
import { linger } from './linger.ts';

const CHAT_PATH = '/api/v1/chat/completions';
const API_PREFIX = '/api/';
const EXPOSED = 'retry-after, x-request-id, request-id, x-should-retry';

/** Headers of every reply to a request, streams too. */
export function commonHeaders(request: Request): Readonly<Record<string, string>> {
  const { id } = stateOf(request);
  const ids = { 'x-request-id': id, 'request-id': id };
  if (!request.path.startsWith(API_PREFIX)) return ids;
  return { ...ids, 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
}

/** Answers a preflight before anything else sees it: without a key and outside the limit. */
export function onRequest(request: Request, h: ResponseToolkit): Lifecycle.ReturnValue {
  stateOf(request);
  const { headers, httpVersion } = request.raw.req;
  if (headers.host === undefined && httpVersion === '1.1') throw fault('bad_http');
  if (request.method !== 'options' || !request.path.startsWith(API_PREFIX)) return h.continue;
  const asked = headers['access-control-request-headers'];
  return h
    .response()
    .code(204)
    .header('access-control-allow-methods', 'GET, POST, OPTIONS')
    .header('access-control-max-age', '600')
    .header('vary', 'access-control-request-headers')
    .header('access-control-allow-headers', asked === undefined ? '*' : printable(asked))
    .takeover();
}

export const onPreResponse: Lifecycle.Method = (request, h) => {
  const { response } = request;
  // A reply that was written past hapi is a symbol here.
  if (typeof response === 'symbol') return h.continue;
  const reply = 'isBoom' in response ? errorReply(request, h) : response;
  endBody(request, reply);
  const headers = commonHeaders(request);
  for (const name in headers) reply.header(name, headers[name] as string);
  return reply;
};

function errorReply(request: Request, h: ResponseToolkit): ResponseObject {
  const reason = faultOf(request.response as Fault);
  const { data } = reason;
  Object.assign(stateOf(request).notes, { fault: data?.code });
  if (reason.cause !== undefined || data?.code === 'internal') stateOf(request).notes.err = reason.cause ?? reason;
  const reply = h.response(renderFault(request.path, reason)).code(reason.output.statusCode);
  if (data?.retryable === false) reply.header('x-should-retry', 'false');
  if (data?.code === 'rate_limited') reply.header('retry-after', String(data.detail.retryAfterS));
  if (data?.code === 'method_not_allowed') reply.header('allow', String(data.detail.hint));
  return reply;
}

/** A body that the reply does not wait for takes the connection with it. */
function endBody(request: Request, reply: ResponseObject): void {
  if (isWhole(request.raw.req)) {
    // Not documented: hapi closes the connection of a request that Node has not called complete yet.
    (request as unknown as { _isPayloadPending: boolean })._isPayloadPending = false;
  } else {
    reply.header('connection', 'close');
    linger(request.raw.req);
  }
}

/** The body of an error in the envelope of a path. */
export function renderFault(path: string, reason: Fault): object {
  return path === CHAT_PATH || path.startsWith(`${CHAT_PATH}/`) ? chatFault(reason) : messageFault(reason);
}

/** hapi's own refusals → ours, without their stacks: they are no failure. Everything else is one. */
function faultOf(error: Fault): Fault {
  if (isFault(error)) return error;
  const status = (error as { output?: { statusCode?: number } }).output?.statusCode ?? 500;
  if (status === 404) return fault('not_found');
  return status < 500 ? fault('bad_http') : fault('internal', {}, error);
}

function printable(header: string): string {
  return header.replace(/[^\x20-\x7e]/g, '');
}
