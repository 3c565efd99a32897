// GET /healthz and /readyz: whether the process is alive, and whether it can serve calls.
import type { ServerRoute } from '@hapi/hapi';
import type { UpstreamHealth } from '../../call/upstreams.ts';
import { listModels } from '../../catalog/listing.ts';
import type { Services } from '../services.ts';

export function healthRoutes({ store, catalog, upstreams }: Services): readonly ServerRoute[] {
  return [
    { method: 'GET', path: '/healthz', options: { auth: false }, handler: () => ({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      options: { auth: false },
      handler: async ({ query }, h) => {
        const answers = await store.ping().then(
          () => true,
          () => false,
        );
        const models = listModels(catalog()).length;
        const ready = answers && models > 0;
        const verbose = 'verbose' in query && { upstreams: Object.fromEntries(upstreams().map(entryOf)) };
        const body = { status: ready ? 'ok' : 'unavailable', store: answers, models, ...verbose };
        return h.response(body).code(ready ? 200 : 503);
      },
    },
  ];
}

/** Public: numbers, and no names but those of the catalog. */
function entryOf({ upstream, routes, routesOpen, keys: { keys, ...resting } }: UpstreamHealth): [string, object] {
  const keysResting = Object.values(resting).reduce((sum, count) => sum + count, 0);
  return [upstream, { routes, routes_open: routesOpen, keys, keys_resting: keysResting }];
}
