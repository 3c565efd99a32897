// The startup report by settings; and that a failed start leaves nothing behind.
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { chatCatalog } from '../testkit/gateway.ts';
import { itLong } from '../testkit/long.ts';
import { type Exit, type Home, makeHome, openBooks, spawnService, startService } from '../testkit/process.ts';

const LOOPBACK = /PUBLIC_URL is not set: links to stored media will point to the loopback address/;
/** A container may have no IPv6. */
const hasIpv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ address }) => address === '::1'));
const NO_MODEL = { upstreams: {}, models: [] };

describe('the startup report', () => {
  let home: Home;
  beforeEach(() => {
    home = makeHome(chatCatalog('http://127.0.0.1:9'));
  });
  afterEach(() => home.remove());

  /** Starts and stops, by two signals at once; resolves to what was printed. */
  async function run(env: Record<string, string>): Promise<Exit> {
    const service = await startService(home, { env });
    service.kill('SIGTERM');
    service.kill('SIGINT');
    const exit = await service.exit;
    expect(exit).to.include({ code: 0, stderr: '' });
    expect(exit.stdout.match(/"msg":"stopping"/g), 'stopped once').to.have.length(1);
    return exit;
  }

  it('shows the key of a new demo account, and at later starts how to issue another', async () => {
    const first = await run({ SANDBOX: 'on', HOST: '0.0.0.0', METRICS_PORT: '0' });
    expect(first.stdout).to.match(/^Tollgate is listening on http:\/\/0\.0\.0\.0:\d+ \(\d+ models\)$/m);
    expect(first.stdout).to.match(/^Metrics: http:\/\/127\.0\.0\.1:\d+\/metrics$/m);
    expect(first.stdout)
      .to.match(/^Sandbox mode: /m)
      .and.to.match(/^ {2}tg-sk-\w{49}$/m)
      .and.to.match(/^ {2}curl -N http:\/\/127\.0\.0\.1:\d+\/api\/v1\/messages /m);
    expect(first.stdout).to.not.contain('Lost the key');
    expect(first.stdout).to.match(LOOPBACK);
    expect(first.stdout.match(/setup\?token=/g), 'links for the demo pages and for an operator').to.have.length(2);

    const second = await run({ SANDBOX: 'on', HOST: '0.0.0.0', PUBLIC_URL: 'https://gateway.example' });
    expect(second.stdout).to.match(/^Lost the key of the demo account\? .*: tollgate key issue acc_\w+ --name demo$/m);
    expect(second.stdout).to.not.match(/tg-sk-/);
    expect(second.stdout).to.not.match(LOOPBACK).and.to.not.contain('Metrics: ');
  });

  itLong(
    'writes IPv6 addresses in brackets, and names the missing variables if no upstream is switched on',
    async () => {
      home.writeCatalog(NO_MODEL);
      const { stdout } = await run({ SANDBOX: 'off', HOST: hasIpv6 ? '::1' : 'localhost' });
      const [, host] = /^Tollgate is listening on http:\/\/(.*):\d+ \(0 models\)$/m.exec(stdout) ?? [];
      expect(host).to.equal(hasIpv6 ? '[::1]' : 'localhost');
      expect(stdout).to.contain('Or set one of: (the catalog has none); or SANDBOX=on');
      expect(stdout).to.not.match(LOOPBACK).and.to.not.contain('Sandbox mode');
    },
  );

  it('is not printed if the port is taken, and no gateway stays on the store', async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
    });
    // The log warns of the catalog.
    const env = { ...home.env, SANDBOX: 'off', PORT: `${port}`, LOG_LEVEL: 'error' };
    const { code, stdout, stderr } = await spawnService(env).exit;
    taken.close();
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^tollgate: Cannot listen on 127\.0\.0\.1:\d+ \(PORT\): the port is in use\n$/);
    const books = await openBooks(home);
    expect(await books.store.gateways()).to.deep.equal([]);
    await books.close();
  });
});
