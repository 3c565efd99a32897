// GET /healthz and /readyz: whether the process is alive, and whether it can serve calls. The state of the upstreams is
// served on the metrics port only.
import type { ServerRoute } from '@hapi/hapi';
import { readReadiness } from '../../calls/readiness.ts';
import type { Services } from '../services.ts';

export function healthRoutes({
  pingStore,
  catalog,
  shutdown,
}: Pick<Services, 'pingStore' | 'catalog' | 'shutdown'>): readonly ServerRoute[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      options: { auth: false },
      handler: (_request, h) =>
        shutdown.isUnderWay() ? h.response({ status: 'stopping' }).code(503) : { status: 'ok' },
    },
    {
      method: 'GET',
      path: '/readyz',
      options: { auth: false },
      handler: async (_request, h) => {
        const readiness = await readReadiness({ catalog, ping: pingStore });
        const status = shutdown.isUnderWay() ? 'unavailable' : readiness.status;
        return h.response({ ...readiness, status }).code(status === 'ok' ? 200 : 503);
      },
    },
  ];
}
