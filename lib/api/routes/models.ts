// GET /api/v1/models: the catalog with current prices; outside the rate limit.
import type { ServerRoute } from '@hapi/hapi';
import { listModels } from '../../catalog/listing.ts';
import { toRub } from '../../money/money.ts';
import { holderOf } from '../auth.ts';
import type { Services } from '../services.ts';
import { readWallet } from '../wallet.ts';

export function modelsRoute({ store, catalog }: Services): ServerRoute {
  return {
    method: 'GET',
    path: '/api/v1/models',
    handler: async (request) => {
      const { account, limits } = holderOf(request);
      const wallet = await readWallet(store, account);
      const data = listModels(catalog(), { limits });
      return { object: 'list', currency: 'RUB', balance_rub: toRub(wallet.avail), data };
    },
  };
}
