// All endpoints, and the answers to a method that a path does not take and to a path that is not there.
import type { Server, ServerRoute } from '@hapi/hapi';
import { fault } from '../faults.ts';
import { balanceRoute } from './balance.ts';
import { healthRoutes } from './health.ts';
import { modelsRoute } from './models.ts';
import { openapiRoute } from './openapi.ts';
import type { Services } from './services.ts';
import { textRoutes } from './text.ts';

export function registerRoutes(server: Server, services: Services): void {
  const routes = [
    ...textRoutes(services),
    modelsRoute(services),
    balanceRoute(services),
    ...healthRoutes(services),
    openapiRoute(services),
  ];
  server.route([...routes, ...refuseOtherMethods(routes), nothingHere]);
}

/** hapi's own route for what is not there reads the body to its end before it answers. */
const nothingHere: ServerRoute = {
  method: '*',
  path: '/{p*}',
  options: { auth: false },
  handler: () => {
    throw fault('not_found');
  },
};

function refuseOtherMethods(routes: readonly ServerRoute[]): readonly ServerRoute[] {
  const methods = new Map<string, string[]>();
  for (const { path, method } of routes) methods.set(path, [...(methods.get(path) ?? []), String(method)]);
  return [...methods].map(([path, allowed]) => ({
    method: '*',
    path,
    options: { auth: false },
    handler: () => {
      throw fault('method_not_allowed', { hint: allowed.join(', ') });
    },
  }));
}
