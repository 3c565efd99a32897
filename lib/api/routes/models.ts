// GET /api/v1/models and /api/v1/models/{id}: the catalog with current prices; not rate limited.

import type { ServerRoute } from '@hapi/hapi';
import { readWallet } from '../../accounts/read-wallet.ts';
import { chooseCatalog } from '../../catalog/catalog.ts';
import { listModels, listOne, type ModelListing } from '../../catalog/listing.ts';
import { listMessageFacts, type MessageFacts } from '../../catalog/text-facts.ts';
import { toRub } from '../../money/money.ts';
import { getKeyHolder } from '../auth.ts';
import { hasMessageVersion } from '../message-headers.ts';
import type { Services } from '../services.ts';

/** For clients of the messages format, which send its version; everything else stays as it is. */
function addMessageFacts(entry: ModelListing): ModelListing & MessageFacts {
  return { ...entry, ...listMessageFacts(entry) };
}

const PATH = '/api/v1/models';

export function modelsRoutes({ store, catalog }: Services): readonly ServerRoute[] {
  return [
    {
      method: 'GET',
      path: PATH,
      handler: async (request) => {
        const holder = getKeyHolder(request);
        const { account, limits } = holder;
        const wallet = await readWallet(store, account);
        const data = listModels(chooseCatalog(catalog(), holder), { limits });
        const list = { object: 'list', currency: 'RUB', balance_rub: toRub(wallet.avail) };
        if (!hasMessageVersion(request.raw.req.headers)) return { ...list, data };
        const page = { has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
        return { ...list, data: data.map(addMessageFacts), ...page };
      },
    },
    {
      method: 'GET',
      path: `${PATH}/{id}`,
      handler: (request) => {
        const holder = getKeyHolder(request);
        const entry = listOne(chooseCatalog(catalog(), holder), String(request.params.id), holder.limits);
        return hasMessageVersion(request.raw.req.headers) ? addMessageFacts(entry) : entry;
      },
    },
  ];
}
