// GET /openapi.json: the API document; needs no key.
import { Worker } from 'node:worker_threads';
import type { ServerRoute } from '@hapi/hapi';
import type { DocumentOrder } from '../openapi/document-thread.ts';
import type { Services } from '../services.ts';

/** `tsc` does not rewrite this path. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../openapi/document-thread.ts' : '../openapi/document-thread.js',
  import.meta.url,
);

export function openapiRoute({ publicUrl }: Pick<Services, 'publicUrl'>): ServerRoute {
  let document: Promise<Buffer> | undefined;
  return {
    method: 'GET',
    path: '/openapi.json',
    options: { auth: false },
    handler: async (_request, h) => {
      // Made for the first reader, and kept as bytes, which all pending replies share.
      document ??= makeDocument({ publicUrl: publicUrl() });
      try {
        return h.response(await document).type('application/json');
      } catch (error) {
        document = undefined;
        throw error;
      }
    },
  };
}

/** On a thread, so that no call waits meanwhile. */
function makeDocument(order: DocumentOrder): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, { name: 'tollgate-document', workerData: order });
    thread.once('message', (bytes: Uint8Array) => resolve(Buffer.from(bytes.buffer)));
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the thread of the API document exited')));
  });
}
