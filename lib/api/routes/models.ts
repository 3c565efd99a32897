// GET /api/v1/models and /api/v1/models/{id}: the catalog with current prices; not rate limited.
import type { ServerRoute } from '@hapi/hapi';
import { readWallet } from '../../accounts/read-wallet.ts';
import { listModels, listOne } from '../../catalog/listing.ts';
import { toRub } from '../../money/money.ts';
import { getKeyHolder } from '../auth.ts';
import type { Services } from '../services.ts';

const PATH = '/api/v1/models';

export function modelsRoutes({ store, catalog }: Services): readonly ServerRoute[] {
  return [
    {
      method: 'GET',
      path: PATH,
      handler: async (request) => {
        const { account, limits } = getKeyHolder(request);
        const wallet = await readWallet(store, account);
        const data = listModels(catalog(), { limits });
        return { object: 'list', currency: 'RUB', balance_rub: toRub(wallet.avail), data };
      },
    },
    {
      method: 'GET',
      path: `${PATH}/{id}`,
      handler: (request) => listOne(catalog(), String(request.params.id), getKeyHolder(request).limits),
    },
  ];
}
