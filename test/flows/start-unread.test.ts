// A service whose output nobody reads any more: it serves on, and ends when it is told to.
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import { freePorts } from '../../testkit/cluster.ts';
import { chatCatalog } from '../../testkit/gateway.ts';
import { describeLong } from '../../testkit/long.ts';
import { type Home, makeHome, spawnService, startService } from '../../testkit/process.ts';

describeLong('output that nobody reads', () => {
  let home: Home;

  beforeEach(() => {
    home = makeHome(chatCatalog('http://127.0.0.1:9'));
  });
  afterEach(() => home.remove());

  for (const pauseMs of [0, 100, 600]) {
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

  it('keeps no service from starting, closed before the greeting', async () => {
    const [port] = await freePorts(1);
    const service = spawnService({ ...home.env, SANDBOX: 'off', PORT: `${port}` });
    service.process.stdout?.destroy();
    const health = () => send(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    await until(async () => (await health())?.status === 200, 60_000);
    // The greeting comes a moment after the first answer.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await health())?.status).to.equal(200);
    const ended = new Promise((resolve) => service.process.once('exit', resolve));
    service.kill('SIGTERM');
    expect(await ended).to.equal(0);
  });
});
