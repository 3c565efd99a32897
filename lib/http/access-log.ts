// One log line per request, written when both its reply and its call are over: a call whose client left is settled
// later.
import type { Request } from '@hapi/hapi';
import { findClientAddress } from './client-address.ts';
import type { Log } from './log.ts';
import { getRequestState, type Notes } from './request-state.ts';

/** A request whose reply and call have ended. */
export interface FinishedRequest {
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
}

/** A client may send a path of 30 KB. */
const PATH_CHARACTERS_MAX = 256;

/** A stored file's name gives access to it, so only its first characters are logged. */
const SECRET_NAME = /([0-9A-Za-z]{6})[0-9A-Za-z]{37,}/g;

/** Logs and reports a request once its reply is sent or its connection is lost, and its call is settled. */
export function logRequest(
  request: Request,
  log: Pick<Log, 'error' | 'line'>,
  onRequestEnd?: (request: FinishedRequest) => void,
): void {
  const state = getRequestState(request);
  const { id, notes, startedAt } = state;
  const { req, res: response } = request.raw;
  const { socket } = req;
  const address = findClientAddress(request);
  const bytesBefore = socket.bytesRead;
  const onClose = () => {
    const { method } = request;
    const path = request.path.slice(0, PATH_CHARACTERS_MAX).replace(SECRET_NAME, '$1…');
    const status = response.headersSent ? response.statusCode : 0;
    const ms = Math.round(performance.now() - startedAt);
    const aborted = !response.writableFinished;
    const bytes = socket.bytesRead - bytesBefore;
    const write = () => {
      onRequestEnd?.({ method, route: request.route.path, status, ms, aborted, bytes, notes });
      const line = { request_id: id, method, path, status, ms, aborted, address, ...notes };
      if (notes.err !== undefined) log.error(line, 'request');
      else log.line(line, 'request');
    };
    if (state.call) state.call.onClosed = write;
    else write();
  };
  response.on('close', onClose);
}
