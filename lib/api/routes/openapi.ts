// GET /openapi.json: the API document; needs no key.
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
      // Kept as bytes, which all pending replies share.
      document ??= Buffer.from(JSON.stringify(describeApi(publicUrl())));
      return h.response(document).type('application/json');
    },
  };
}
