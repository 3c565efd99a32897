// GET /openapi.json: the API document, for people and tools; no key is taken.
import type { ServerRoute } from '@hapi/hapi';
import { describeApi } from './openapi/document.ts';
import type { Services } from './services.ts';

export function openapiRoute({ publicUrl }: Pick<Services, 'publicUrl'>): ServerRoute {
  let document: string | undefined;
  return {
    method: 'GET',
    path: '/openapi.json',
    options: { auth: false },
    handler: (_request, h) => {
      document ??= JSON.stringify(describeApi(publicUrl()));
      return h.response(document).type('application/json');
    },
  };
}
