// One log line per request, written when both its reply and its call are over: a call whose client left is settled
// later.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Request } from '@hapi/hapi';
import { findClientAddress } from './client-address.ts';
import type { Log } from './log.ts';
import { getRequestState, type LogLine, type Notes, type RequestState } from './request-state.ts';

/** A request whose reply and call have ended. */
export interface FinishedRequest {
  /** The `x-request-id` of its reply, and the id of its charge. */
  readonly id: string;
  readonly method: string;
  /** The route's path: `/{p*}` if there is none. */
  readonly route: string;
  /** 0 if the connection was lost before there was one. */
  readonly status: number;
  readonly ms: number;
  /** The connection was lost before the reply was complete. */
  readonly aborted: boolean;
  /** Bytes received on the connection after the request's head. */
  readonly bytes: number;
  readonly notes: Notes;
  /** Of the error that was sent to the client, if any. */
  readonly message?: string;
}

/** A request as metrics count it: without its id and its message. */
export type CountedRequest = Omit<FinishedRequest, 'id' | 'message'>;

/** A proxy asks every second: answers that are fine would fill the log in two days. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** A client may send a path of 30 KB. */
const PATH_CHARACTERS_MAX = 256;

/** A stored file's name gives access to it, so only its first characters are logged. */
const SECRET_NAME = /([0-9A-Za-z]{6})[0-9A-Za-z]{37,}/g;

/** Logs and reports a request once its reply is sent or its connection is lost, and its call is settled. */
export function logRequest(
  request: Request,
  log: Pick<Log, 'debug' | 'error' | 'line'>,
  onRequestEnd?: (request: FinishedRequest) => void,
): void {
  getRequestState(request).line = new RequestLogLine(request, log, onRequestEnd);
}

interface NamedRequest {
  readonly method: string;
  readonly path: string;
  readonly route: string;
}

/** A class: every open stream has one, and closures would refer to all of its request. */
class RequestLogLine implements LogLine {
  /** Replaced by its names once nothing else needs it. */
  #request: Request | NamedRequest;
  readonly #log: Pick<Log, 'debug' | 'error' | 'line'>;
  readonly #onRequestEnd: ((request: FinishedRequest) => void) | undefined;
  readonly #state: RequestState;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #bytesBefore: number;

  constructor(
    request: Request,
    log: Pick<Log, 'debug' | 'error' | 'line'>,
    onRequestEnd: ((request: FinishedRequest) => void) | undefined,
  ) {
    const { req, res } = request.raw;
    this.#request = request;
    this.#log = log;
    this.#onRequestEnd = onRequestEnd;
    this.#state = getRequestState(request);
    // Cached: a closed socket has no address.
    findClientAddress(request);
    this.#response = res;
    this.#socket = req.socket;
    this.#bytesBefore = req.socket.bytesRead;
    res.on('close', () => this.#onClose());
  }

  releaseRequest(): void {
    this.#request = nameRequest(this.#request);
  }

  #onClose(): void {
    const { call, startedAt } = this.#state;
    const { headersSent, statusCode, writableFinished } = this.#response;
    const facts = {
      status: headersSent ? statusCode : 0,
      ms: Math.round(performance.now() - startedAt),
      aborted: !writableFinished,
    };
    const bytes = this.#socket.bytesRead - this.#bytesBefore;
    const write = () => this.#write(facts, bytes);
    if (call) call.onClosed = write;
    else write();
  }

  #write(facts: Pick<FinishedRequest, 'status' | 'ms' | 'aborted'>, bytes: number): void {
    const { id, notes, address, message } = this.#state;
    const { method, path, route } = nameRequest(this.#request);
    this.#onRequestEnd?.({ id, method, route, ...facts, bytes, notes, ...(message !== undefined && { message }) });
    const line = { request_id: id, method, path, ...facts, address, ...notes };
    if (notes.err !== undefined) this.#log.error(line, 'request');
    else if (PROBES.has(route) && facts.status === 200) this.#log.debug(line, 'request');
    else this.#log.line(line, 'request');
  }
}

/** Its route is known only once it has been found. */
function nameRequest({ method, path, route }: Request | NamedRequest): NamedRequest {
  const shown = path.slice(0, PATH_CHARACTERS_MAX).replace(SECRET_NAME, '$1…');
  return { method, path: shown, route: typeof route === 'string' ? route : route.path };
}
