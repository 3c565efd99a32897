// Upstreams that fail, over real sockets: which route and which key is asked, and what the operator sees of it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, send, until } from '../../testkit/client.ts';
import { scrape } from '../../testkit/exposition.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { itTimed } from '../../testkit/timed.ts';
import { answerStatus, chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const KEYS = ['up-secret-key-1', 'up-secret-key-2', 'up-secret-key-3'];
const WELL = chatAnswer('Hello.');

describe('upstreams that fail', () => {
  let upstreams: TestUpstream[];
  let gateway: TestGateway;
  let account: TestAccount;

  beforeEach(async () => {
    upstreams = await Promise.all([startUpstream(WELL), startUpstream(WELL)]);
    const settings = upstreams.map(({ url }) => ({ baseUrl: `${url}/v1`, apiKey: 'up-secret-key-9' }));
    const model = { type: 'text', provider: 'Test', price: { input: '1000', output: '5000' } };
    const routes = [
      { upstream: 'first', model: 'm', cost: '900' },
      { upstream: 'second', model: 'm', cost: '300' },
    ];
    gateway = await startGateway({
      catalog: {
        upstreams: {
          first: { plugin: 'openai-compatible', settings: { ...settings[0], apiKey: KEYS } },
          second: { plugin: 'openai-compatible', settings: settings[1] },
        },
        models: [
          { ...model, id: 'model-a', routes },
          { ...model, id: 'cheap', order: 'price', routes },
          { ...model, id: 'fast', order: 'latency', routes },
          { ...model, id: 'single', routes: routes.slice(0, 1) },
        ],
      },
      env: { METRICS_PORT: '0' },
    });
    account = await gateway.account();
  });
  afterEach(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    for (const upstream of upstreams) await upstream.close();
  });

  const up = (index: number) => upstreams[index] as TestUpstream;
  const counts = () => upstreams.map(({ calls }) => calls.length);
  const keysAsked = () => up(0).calls.map(({ request }) => KEYS.indexOf(`${request.headers.authorization}`.slice(7)));
  async function call(model = 'model-a', path: string = CHAT): Promise<number> {
    return (await send(gateway.url + path, { key: account.key, body: ask('hi', { model }) })).status;
  }
  const operator = () => (gateway.gateway.facts.metricsUrl ?? '').replace(/\/metrics$/, '');
  async function verbose() {
    return (await send(`${operator()}/readyz?verbose`)).json.upstreams;
  }
  const logLines = async (part: string) => {
    const lines = () => readLogLines(gateway).filter((line) => JSON.stringify(line).includes(part));
    await until(() => lines().length > 0);
    return lines();
  };

  itTimed(
    'are passed by after three failures, tried by one call when they are due, and asked first again when well',
    async () => {
      up(0).behave(answerStatus(500));
      for (let count = 0; count < 5; count += 1) expect(await call('model-a', DIALECTS[count % 2])).to.equal(200);
      expect(counts()).to.deep.equal([3, 5]);
      expect((await verbose()).first).to.include({ routes: 1, routes_open: 1 });
      up(0).behave(WELL);
      await until(async () => {
        expect(await call()).to.equal(200);
        return (await verbose()).first.routes_open === 0;
      });
      const [, second] = counts();
      expect(await call()).to.equal(200);
      expect(counts()[1]).to.equal(second);
      const [opened, ...moreOpened] = await logLines('a route keeps failing');
      expect(opened).to.include({ level: 'warn', upstream: 'first', route: 'text first m', kind: 'server' });
      const [closed, ...moreClosed] = await logLines('a route has recovered');
      expect(closed).to.include({ level: 'info', upstream: 'first' });
      expect(closed.open_ms).to.be.within(990, 4000);
      expect([moreOpened, moreClosed]).to.deep.equal([[], []]);
    },
  );

  it('are asked if there is no other route, and answer as soon as they recover', async () => {
    up(0).behave(answerStatus(503));
    for (let count = 0; count < 6; count += 1) expect(await call('single')).to.equal(502);
    expect(counts()).to.deep.equal([6, 0]);
    up(0).behave(WELL);
    expect(await call('single')).to.equal(200);
  });

  it("are asked in the model's order: as listed, by cost, or by time to the first fragment", async () => {
    const slow = (ms: number) => async (incoming: Parameters<typeof WELL>[0]) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      await WELL(incoming);
    };
    await call();
    expect(counts()).to.deep.equal([1, 0]);
    await call('cheap');
    expect(counts()).to.deep.equal([1, 1]);
    up(0).behave(slow(400));
    for (let count = 0; count < 4; count += 1) await call('fast');
    const [first = 0, second = 0] = counts();
    up(1).behave(slow(1500));
    up(0).behave(WELL);
    expect(first + second).to.equal(6);
    for (let count = 0; count < 6; count += 1) await call('fast');
    expect(counts()[0]).to.be.above(first + 2);
  });

  it('are asked with another key when one is refused, and the alert says which', async () => {
    up(0).behave((incoming) => {
      const isFirst = incoming.request.headers.authorization === `Bearer ${KEYS[0]}`;
      return (isFirst ? answerStatus(402) : WELL)(incoming);
    });
    for (let count = 0; count < 5; count += 1) expect(await call('single')).to.equal(200);
    expect(keysAsked()).to.deep.equal([0, 1, 2, 1, 1, 2]);
    const shown = await verbose();
    expect(shown.first).to.deep.equal({ routes: 1, routes_open: 0, keys: 3, keys_resting: 1 });
    expect(shown.second).to.deep.equal({ routes: 1, routes_open: 0, keys: 1, keys_resting: 0 });
    const [line, ...more] = await logLines('refuses one of our keys');
    expect(line).to.include({ level: 'error', alert: 'upstream', upstream: 'first', key: '1 of 3', kind: 'quota' });
    expect([line.status, more]).to.deep.equal([402, []]);
  });

  it('are shown to the operator without keys and addresses, on request only', async () => {
    up(0).behave(answerStatus(401));
    await call('single');
    const { text, json, status, headers } = await send(`${operator()}/readyz?verbose`);
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json; charset=utf-8']);
    expect(json).to.have.all.keys('status', 'store', 'models', 'upstreams');
    expect(text).not.to.match(/secret|127\.0\.0\.1|localhost|http|v1/);
    const brief = { status: 'ok', store: true, models: 4 };
    expect((await send(`${operator()}/readyz`)).json).to.deep.equal(brief);
    // Whoever uses the service learns nothing of what is behind it.
    for (const query of ['', '?verbose', '?verbose=1', '?upstreams&verbose=true']) {
      expect((await send(`${gateway.url}/readyz${query}`)).json, query).to.deep.equal(brief);
    }
    const log = readFileSync(join(gateway.folder, 'log'), 'utf8');
    for (const key of KEYS) expect(log).not.to.contain(key);
  });

  it('are counted from the start', async () => {
    const url = gateway.gateway.facts.metricsUrl ?? '';
    const all = await scrape(url);
    for (const upstream of ['first', 'second']) {
      const names = all.samples.filter(({ labels }) => labels.upstream === upstream).map(({ name }) => name);
      expect(names).to.include.members([
        'tollgate_upstream_route_openings_total',
        'tollgate_upstream_routes_open',
        'tollgate_upstream_keys_resting',
      ]);
    }
    up(0).behave(answerStatus(429, {}));
    for (let count = 0; count < 3; count += 1) await call('single');
    const after = await scrape(url);
    const first = { upstream: 'first' };
    expect(after.sum('tollgate_upstream_route_openings_total', first)).to.equal(1);
    expect(after.sum('tollgate_upstream_routes_open', first)).to.equal(1);
    expect(after.sum('tollgate_upstream_keys_resting', { ...first, kind: 'rate' })).to.equal(3);
    expect(after.sum('tollgate_upstream_keys_resting')).to.equal(3);
  });
});
