// POST /api/v1/responses: text in the responses dialect, which stores nothing.
import type { ServerRoute } from '@hapi/hapi';
import { responsesDialect } from '../dialects/responses/dialect.ts';
import type { Services } from '../services.ts';
import { textRoute } from './text.ts';

const PATH = '/api/v1/responses';

export function responsesRoutes(services: Services): readonly ServerRoute[] {
  return [textRoute(PATH, responsesDialect, services)];
}
