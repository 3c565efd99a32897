// POST /api/v1/responses: text in the responses dialect, which stores nothing.
import type { ServerRoute } from '@hapi/hapi';
import { fault } from '../../base/faults.ts';
import { responsesDialect } from '../dialects/responses/dialect.ts';
import type { Services } from '../services.ts';
import { textRoute } from './text.ts';

const PATH = '/api/v1/responses';

export function responsesRoutes(services: Services): readonly ServerRoute[] {
  return [textRoute(PATH, responsesDialect, services)];
}

/** Nothing can be read, cancelled or deleted later. */
export const storedResponsesRoute: ServerRoute = {
  method: '*',
  path: `${PATH}/{p*}`,
  options: { auth: false },
  handler: () => {
    throw fault('not_found', { hint: `No response is stored: POST ${PATH} answers with all of it` });
  },
};
