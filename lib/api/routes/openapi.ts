// GET /openapi.json: the API document; needs no key.
import type { ServerRoute } from '@hapi/hapi';
import type { Services } from '../services.ts';

export function openapiRoute({ publicUrl }: Pick<Services, 'publicUrl'>): ServerRoute {
  let document: Buffer | undefined;
  return {
    method: 'GET',
    path: '/openapi.json',
    options: { auth: false },
    handler: async (_request, h) => {
      if (document === undefined) {
        // Loaded for the first reader: the chapters and the converter of schemas take megabytes.
        const { describeApi } = await import('../openapi/document.ts');
        // Kept as bytes, which all pending replies share.
        document = Buffer.from(JSON.stringify(describeApi(publicUrl())));
      }
      return h.response(document).type('application/json');
    },
  };
}
