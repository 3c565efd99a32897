// GET /openapi.json: the API document, for people and tools; needs no key.
import type { ServerRoute } from '@hapi/hapi';
import { describeApi } from '../openapi/document.ts';
import type { Services } from '../services.ts';

export function openapiRoute({ publicUrl }: Pick<Services, 'publicUrl'>): ServerRoute {
  let document: Buffer | undefined;
  return {
    method: 'GET',
    path: '/openapi.json',
    options: { auth: false },
    handler: (_request, h) => {
      // As bytes, it is in memory only once, however many replies are waiting to be read.
      document ??= Buffer.from(JSON.stringify(describeApi(publicUrl())));
      return h.response(document).type('application/json');
    },
  };
}
