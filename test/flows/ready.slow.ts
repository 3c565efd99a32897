// How soon a start is ready; other tests beside it would be measured too.
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { chatCatalog } from '../../testkit/gateway.ts';
import { type Home, makeHome, startService } from '../../testkit/process.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const READY_MS_MAX = 1500;

describe('a start', () => {
  let upstream: TestUpstream;
  let home: Home;

  before(async () => {
    upstream = await startUpstream();
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: 'up-secret-key-1' };
    home = makeHome(chatCatalog('', { upstreams: { up: { plugin: 'openai-compatible', settings } } }));
  });
  after(async () => {
    home.remove();
    await upstream.close();
  });

  it('is ready within 1.5 s in the best of five', async () => {
    let readyMs = Number.POSITIVE_INFINITY;
    for (let count = 0; count < 5 && readyMs >= READY_MS_MAX; count += 1) {
      const service = await startService(home, {});
      try {
        readyMs = Math.min(readyMs, service.readyMs);
        expect((await send(`${service.url}/readyz`)).json).to.deep.equal({ status: 'ok', store: true, models: 1 });
      } finally {
        service.kill('SIGTERM');
        await service.exit;
      }
    }
    expect(readyMs).to.be.below(READY_MS_MAX);
  });
});
