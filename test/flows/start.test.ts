// The first start and the ones after it: the sandbox and its demo key, real mode and its memory, and the time it takes.
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { createGateway, type GatewayFacts } from '../../lib/gateway.ts';
import { createLog } from '../../lib/http/log.ts';
import { findBilling, joinText, MESSAGES, parseEvents, send } from '../../testkit/client.ts';
import { chatCatalog } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import {
  type Exit,
  type Home,
  makeHome,
  openBooks,
  type Service,
  spawnChild,
  startService,
} from '../../testkit/process.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { spawnCommand } from '../cli/command.ts';

const KEY = /tg-sk-[0-9A-Za-z]{49}/g;

describe('start', () => {
  let upstream: TestUpstream;
  let home: Home;
  const log = createLog({ level: 'silent', keyPrefix: 'tg-' });

  before(async () => {
    upstream = await startUpstream();
  });
  beforeEach(() => {
    // Switched on by a variable, as the shipped catalog is.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the catalog's own notation
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: '${UP_API_KEY}' };
    home = makeHome(chatCatalog('', { upstreams: { up: { plugin: 'openai-compatible', settings } } }));
  });
  afterEach(() => home.remove());
  after(() => upstream.close());

  /** Starts, looks, stops; resolves to what the process printed. */
  async function run(env: Record<string, string>, look?: (service: Service) => Promise<void>): Promise<Exit> {
    const service = await startService(home, { env });
    try {
      await look?.(service);
    } finally {
      service.kill('SIGTERM');
      await service.exit;
    }
    const exit = await service.exit;
    expect(exit).to.include({ code: 0, stderr: '' });
    return exit;
  }

  /** The same inside this process; resolves to what the process would tell. */
  async function startInside(
    env: Record<string, string>,
    look?: (url: string) => Promise<void>,
  ): Promise<GatewayFacts> {
    const gateway = await createGateway(readConfig({ ...home.env, ...env }), log);
    try {
      await gateway.start();
      await look?.(`http://127.0.0.1:${gateway.server.info.port}`);
      return gateway.facts;
    } finally {
      await gateway.stop();
    }
  }

  const keysIn = ({ stdout }: Exit) => new Set(stdout.match(KEY) ?? []);
  const isSandbox = ({ stdout }: Exit) => stdout.includes('Sandbox mode');
  const UP = { UP_API_KEY: 'up-secret-key-1' };

  it('comes up as a sandbox the first time, with a demo key and a curl line that works, shown once', async () => {
    let key = '';
    const first = await run({}, async (service) => {
      key = /^ {2}(tg-sk-\S+)$/m.exec(service.stdout())?.[1] ?? '';
      const balance = await send(`${service.url}/api/v1/balance`, { key });
      expect(balance.json).to.include({ balance_rub: 1000, topped_up_total_rub: 1000 });

      const [curl = ''] = /^ {2}curl .*\\\n.*$/m.exec(service.stdout()) ?? [];
      const { code, stdout } = await spawnChild('sh', ['-c', curl], { PATH: process.env.PATH ?? '' }).exit;
      expect(code).to.equal(0);
      const events = parseEvents(stdout);
      expect(joinText(events)).to.contain('Hello!');
      expect(findBilling(events).balance_rub).to.equal(999.5);
    });
    expect(isSandbox(first)).to.equal(true);
    expect([...keysIn(first)]).to.deep.equal([key]);
    // In the greeting and in the curl line, and nowhere in the log.
    expect(first.stdout.match(KEY)).to.have.length(2);

    const second = await startInside({}, async (url) => {
      expect((await send(`${url}/api/v1/balance`, { key })).json.balance_rub).to.equal(999.5);
      const body = { model: 'sandbox-lite', messages: [{ role: 'user', content: 'again' }] };
      expect((await send(url + MESSAGES, { key, body })).status).to.equal(200);
    });
    expect(second).to.include({ sandbox: true, demoKey: undefined });
  });

  itLong('says how to get another key when that of the demo account is lost', async () => {
    await run({});
    await run({}, async (service) => {
      const [, command = ''] = /^Lost the key .*: tollgate (key issue acc_.*)$/m.exec(service.stdout()) ?? [];
      const { code, stdout } = await spawnCommand([...command.split(' '), '--json'], home.env);
      expect(code).to.equal(0);
      const balance = await send(`${service.url}/api/v1/balance`, { key: JSON.parse(stdout).key });
      expect(balance.json).to.include({ balance_rub: 1000 });
    });
  });

  itLong('leaves the sandbox for good when an upstream is set, and warns of the demo account', async () => {
    let key = '';
    await run({}, async (service) => {
      key = /^ {2}(tg-sk-\S+)$/m.exec(service.stdout())?.[1] ?? '';
    });
    const real = await run(UP, async ({ url }) => {
      const { data } = (await send(`${url}/api/v1/models`, { key })).json;
      expect(data.map(({ id }: { id: string }) => id)).to.deep.equal(['model-a']);
      const body = { model: 'sandbox-lite', messages: [{ role: 'user', content: 'fake?' }] };
      expect((await send(url + MESSAGES, { key, body })).status).to.equal(400);
    });
    expect([isSandbox(real), keysIn(real).size]).to.deep.equal([false, 0]);
    expect(real.stdout).to.match(/"level":"warn".*the sandbox's demo account/);

    // A mistyped variable must not sell fakes.
    const mistyped = await run({ UP_KEI: 'x', SANDBXO: 'on' }, async ({ url }) => {
      expect((await send(`${url}/api/v1/models`, { key })).json.data).to.deep.equal([]);
    });
    expect(isSandbox(mistyped)).to.equal(false);
    expect(mistyped.stdout).to.match(/"level":"warn".*the variable SANDBXO is not read: is SANDBOX meant\?/);
    expect(mistyped.stdout).to.contain(
      'No upstream is switched on. An operator adds one on /admin/upstreams (set SECRETS_KEY for its key). Or set one of: up (UP_API_KEY); or SANDBOX=on for made-up answers.',
    );
  });

  it('remembers its mode', async () => {
    const seen = [];
    for (const env of [{ ...UP, SANDBOX: 'on' }, UP, {}]) seen.push((await startInside(env)).sandbox);
    expect(seen).to.deep.equal([true, false, false]);
  });

  it('is not a sandbox on a store that already has accounts', async () => {
    const books = await openBooks(home);
    await books.account();
    await books.close();
    expect(await startInside({})).to.include({ sandbox: false, demoKey: undefined });
  });

  it('shows the demo key at the first start that succeeds', async () => {
    const port = new URL(upstream.url).port;
    const failed = await startInside({ PORT: port }).catch((error: Error) => error.message);
    expect(failed).to.contain('the port is in use');
    expect((await startInside({})).demoKey).to.match(KEY);
    expect((await startInside({})).demoKey).to.equal(undefined);
  });
});
