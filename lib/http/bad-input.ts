// Input that is not an HTTP request, and CONNECT: neither reaches hapi, but both get an answer.
import type { Server as Listener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Fault, fault } from '../base/faults.ts';
import { STATUS_CODES } from '../platform/http-server.ts';
import { REQUEST_DRAIN_MS } from './early-reply.ts';
import type { Replies } from './replies.ts';
import { createRequestState } from './request-state.ts';
import type { StyleAt } from './response-style.ts';

export interface BadHttp {
  readonly request_id: string;
  readonly status: number;
  readonly reason: string | undefined;
}

/** Connections that have got their refusal. */
const refused = new WeakSet<Socket>();

interface BadInputOptions extends Pick<Refused, 'headers' | 'styleAt' | 'report'> {
  readonly replies: Pick<Replies, 'latest'>;
}

/** Answers what reaches no route of hapi, in the style of the path that was meant. */
export function answerBadInput(listener: Listener, { replies, ...shared }: BadInputOptions): void {
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: ClientError, socket: Socket) => {
    const reply = replies.latest(socket);
    const path = readRequestPath(error, reply);
    const { code } = error;
    // Opened ahead and never used: a reply could only be taken for that of a request on its way.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) return void socket.destroy();
    afterReply(reply, socket, () =>
      answerWithoutHapi({ answer: badHttpFault(code), reason: code }, { socket, path, ...shared }),
    );
  });
  listener.on('connect', (_request, socket: Socket) => {
    // Node no longer handles the socket: an unhandled error would end the process, and unread bytes would delay `end`.
    socket.on('error', () => undefined).resume();
    const refusal = { answer: fault('method_not_allowed', { hint: 'GET or POST' }), reason: 'CONNECT' };
    afterReply(replies.latest(socket), socket, () => answerWithoutHapi(refusal, { socket, path: '', ...shared }));
  });
}

/** Waits for the reply to a complete request, which may be a paid call, before refusing what follows it. */
function afterReply(reply: ServerResponse | undefined, socket: Socket, refuse: () => void): void {
  // Every further packet of the connection is an error, too.
  if (refused.has(socket)) return;
  refused.add(socket);
  if (!reply || reply.writableFinished) refuse();
  else if (reply.req.complete) {
    reply.once('finish', refuse);
    // Node no longer reports when this client disconnects.
    socket.once('end', () => socket.destroy());
  } else if (reply.headersSent || reply.socket !== socket) socket.destroy();
  else refuse();
}

interface ClientError extends NodeJS.ErrnoException {
  /** The last packet. */
  readonly rawPacket?: Buffer;
}

/** Who is refused, and how. */
interface Refused {
  readonly socket: Socket;
  /** Of the request; empty if unknown. */
  readonly path: string;
  /** Sent with every reply. */
  readonly headers: Readonly<Record<string, string>>;
  readonly report: (refusal: BadHttp) => void;
  readonly styleAt: StyleAt;
}

const PATH_BYTES_MAX = 200;

/** The path of the request whose body broke off, or of the request line at the start of the packet. */
function readRequestPath({ rawPacket }: ClientError, reply: ServerResponse | undefined): string {
  const unfinished = reply && !reply.req.complete ? `${reply.req.method} ${reply.req.url}` : undefined;
  const line = unfinished ?? rawPacket?.toString('latin1', 0, PATH_BYTES_MAX) ?? '';
  return /^[A-Z]+ ([^ ?]+)/.exec(line)?.[1] ?? '';
}

interface Refusal {
  readonly answer: Fault;
  /** For the log. */
  readonly reason: string | undefined;
}

function answerWithoutHapi({ answer, reason }: Refusal, { socket, path, headers, report, styleAt }: Refused): void {
  // The client has reset the connection.
  if (!socket.writable) return void socket.destroy();
  const { statusCode } = answer.output;
  const { id } = createRequestState();
  const style = styleAt(path);
  const { body, type } = style.renderFault(answer);
  const shared = Object.entries({ ...headers, ...style.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const retry = answer.data?.retryable === false ? 'x-should-retry: false\r\n' : '';
  const advice = statusCode === 405 ? `${retry}allow: GET, POST, OPTIONS\r\n` : retry;
  socket.end(
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\nconnection: close\r\ncontent-type: ${type}\r\n` +
      `x-request-id: ${id}\r\nrequest-id: ${id}\r\n${shared.join('')}${advice}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // A socket closed with unread bytes is reset, and the client would lose the reply.
  const timer = setTimeout(() => socket.destroy(), REQUEST_DRAIN_MS);
  socket.resume().once('close', () => clearTimeout(timer));
  report({ request_id: id, status: statusCode, reason });
}

function badHttpFault(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('body_timeout');
  return fault('bad_http');
}
