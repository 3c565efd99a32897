// GET /healthz and /readyz: whether the process is alive, and whether it can serve calls. The state of the upstreams is
// served on the metrics port only.
import type { ServerRoute } from '@hapi/hapi';
import { readReadiness } from '../../calls/readiness.ts';
import type { Services } from '../services.ts';

export function healthRoutes({ store, catalog }: Pick<Services, 'store' | 'catalog'>): readonly ServerRoute[] {
  return [
    { method: 'GET', path: '/healthz', options: { auth: false }, handler: () => ({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      options: { auth: false },
      handler: async (_request, h) => {
        const readiness = await readReadiness({ catalog, ping: store.ping });
        return h.response(readiness).code(readiness.status === 'ok' ? 200 : 503);
      },
    },
  ];
}
