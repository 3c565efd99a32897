// One line per request, written when its reply is over.
import type { Request } from '@hapi/hapi';
import type { Logger } from 'pino';
import { stateOf } from './context.ts';

/** Logs the request once its response is finished or its connection is gone. */
export function logRequest(request: Request, log: Logger): void {
  const { id, notes, startedAt } = stateOf(request);
  const response = request.raw.res;
  const write = () => {
    const line = {
      request_id: id,
      method: request.method,
      path: request.path,
      status: response.headersSent ? response.statusCode : 0,
      ms: Math.round(performance.now() - startedAt),
      aborted: !response.writableFinished,
      ...notes,
    };
    if (notes.err !== undefined) log.error(line, 'request');
    else log.info(line, 'request');
  };
  response.once('close', write);
}
