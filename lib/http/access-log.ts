// One line per request, written when its reply is over, and its call too: one whose client left is settled after that.
import type { Request } from '@hapi/hapi';
import { type Notes, stateOf } from './context.ts';
import type { Log } from './log.ts';

/** A request whose reply and call are over. */
export interface PastRequest {
  readonly method: string;
  /** The path as the route has it: `/{p*}` where there is none. */
  readonly route: string;
  /** 0 when the connection was gone before there was one. */
  readonly status: number;
  readonly ms: number;
  /** The connection was gone before the reply was whole. */
  readonly aborted: boolean;
  readonly notes: Notes;
}

/** A client may write one of 30 KB. */
const PATH_CHARACTERS_MAX = 256;

/** Whoever knows the name of a stored file may read it: the log has its beginning only. */
const SECRET_NAME = /([0-9A-Za-z]{6})[0-9A-Za-z]{37,}/g;

/** Logs and reports the request once its response is finished, or its connection is gone and its call is settled. */
export function logRequest(
  request: Request,
  log: Pick<Log, 'error' | 'info'>,
  onPast?: (past: PastRequest) => void,
): void {
  const state = stateOf(request);
  const { id, notes, startedAt } = state;
  const response = request.raw.res;
  const onClose = () => {
    const { method } = request;
    const path = request.path.slice(0, PATH_CHARACTERS_MAX).replace(SECRET_NAME, '$1…');
    const status = response.headersSent ? response.statusCode : 0;
    const ms = Math.round(performance.now() - startedAt);
    const aborted = !response.writableFinished;
    const write = () => {
      onPast?.({ method, route: request.route.path, status, ms, aborted, notes });
      const line = { request_id: id, method, path, status, ms, aborted, ...notes };
      if (notes.err !== undefined) log.error(line, 'request');
      else log.info(line, 'request');
    };
    if (state.call) state.call.onClosed = write;
    else write();
  };
  response.once('close', onClose);
}
