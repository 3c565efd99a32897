// The words for the states of image jobs, in whatever case a vendor writes them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { ImageCall, ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import { createProvider } from '../../lib/upstream/host/settings.ts';
import bfl from '../../providers/bfl/index.ts';
import fal from '../../providers/fal/index.ts';
import replicate from '../../providers/replicate/index.ts';

const URL = 'https://files.example/image.png';
const CALL: ImageCall = { model: 'owner/name', prompt: 'a square', aspect: '1:1', images: [], options: {} };

/** What the vendor calls the end, and what it answers to everything else. */
const VENDORS: readonly [ProviderPlugin<never>, done: string, failed: string, answer: object][] = [
  [bfl as never, 'Ready', 'Content Moderated', { result: { sample: URL } }],
  [fal as never, 'COMPLETED', 'FAILED', { request_id: 'job-1', images: [{ url: URL }] }],
  [replicate as never, 'succeeded', 'failed', { output: URL }],
];

describe('the end of an image job', () => {
  for (const [plugin, done, failed, answer] of VENDORS) {
    it(`is known in any case: ${plugin.name}`, async () => {
      let word = '';
      const server = createServer(async (request, response) => {
        await request.toArray();
        response.end(JSON.stringify({ id: 'job-1', ...answer, status: word }));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const settings = { baseUrl, apiKey: 'sk-images' };
      const { provider, close } = createProvider({ plugin, upstream: 'main', settings, log: { warn() {} } });
      const make = () => provider.image?.(CALL, AbortSignal.timeout(1_500)).catch(({ name }) => name);
      try {
        for (word of [done, done.toUpperCase(), done.toLowerCase()]) {
          expect(await make(), word).to.deep.equal({ images: [{ url: URL }] });
        }
        for (word of [failed, failed.toUpperCase(), failed.toLowerCase()]) {
          expect(await make(), word).to.equal('UpstreamFault');
        }
      } finally {
        await close();
        server.closeAllConnections();
        server.close();
      }
    });
  }
});
