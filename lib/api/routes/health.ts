// GET /healthz and /readyz: whether the process lives, and whether it can do its work.
import type { ServerRoute } from '@hapi/hapi';
import type { Services } from '../services.ts';

export function healthRoutes({ store, catalog }: Services): readonly ServerRoute[] {
  return [
    { method: 'GET', path: '/healthz', options: { auth: false }, handler: () => ({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      options: { auth: false },
      handler: async (_request, h) => {
        const answers = await store.ping().then(
          () => true,
          () => false,
        );
        const ready = answers && catalog().models.length > 0;
        const body = { status: ready ? 'ok' : 'unavailable', store: answers, models: catalog().models.length };
        return h.response(body).code(ready ? 200 : 503);
      },
    },
  ];
}
