// A service whose output nobody reads any more: it serves on, and ends when it is told to.
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { chatCatalog } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { type Home, makeHome, startService } from '../../testkit/process.ts';

describe('output that nobody reads', () => {
  let home: Home;

  beforeEach(() => {
    home = makeHome(chatCatalog('http://127.0.0.1:9'));
  });
  afterEach(() => home.remove());

  for (const pauseMs of longer([0, 600], [0, 100, 600])) {
    it(`keeps no service from ending, closed ${pauseMs} ms before`, async () => {
      const service = await startService(home, { env: { SANDBOX: 'off' } });
      service.process.stdout?.destroy();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (pauseMs > 0) expect((await send(`${service.url}/healthz`)).status).to.equal(200);
      const ended = new Promise((resolve) => service.process.once('exit', resolve));
      service.kill('SIGTERM');
      expect(await ended).to.equal(0);
    });
  }
});
