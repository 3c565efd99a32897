// GET /healthz and /readyz: whether the process lives, and whether it can do its work.
import type { ServerRoute } from '@hapi/hapi';
import { listModels } from '../../catalog/listing.ts';
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
        const models = listModels(catalog()).length;
        const ready = answers && models > 0;
        const body = { status: ready ? 'ok' : 'unavailable', store: answers, models };
        return h.response(body).code(ready ? 200 : 503);
      },
    },
  ];
}
