// What is seen of a text call while it runs, and which model a long one has to be paid for.
import { expect } from 'chai';
import { ask, CHAT, MESSAGES, send } from '../../testkit/client.ts';
import { scrape } from '../../testkit/exposition.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { chatHeld, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const text = (id: string, output: string) => ({
  id,
  type: 'text',
  provider: 'Test',
  price: { input: '1', output },
  routes: [{ upstream: 'up', model: id }],
});

describe('a text call', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const catalog = {
      upstreams: { up: { plugin: 'openai-compatible', settings: { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' } } },
      models: [text('dear', '1000000000'), text('middle', '900000000'), text('cheap', '5000')],
      smart: { lite: ['dear'], standard: ['middle'], heavy: ['cheap'] },
    };
    gateway = await startGateway({ catalog, env: { METRICS_PORT: '0' } });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const post = (path: string, body: object) => send(gateway.url + path, { key: account.key, body });
  const streams = async () => (await scrape(gateway.gateway.facts.metricsUrl ?? '')).sum('tollgate_open_streams');

  for (const stream of [true, false]) {
    it(`is counted as an open stream if it streams, and its hold is no part of the balance: ${stream}`, async () => {
      const { behaviour, finish } = chatHeld();
      upstream.behave(behaviour);
      const called = upstream.nextCall();
      const answered = post(CHAT, ask('hi', { model: 'cheap', max_tokens: 1000, stream }));
      await called;
      const { avail, held } = await gateway.wallet(account);
      expect(held > 0n).to.equal(true);
      const { json } = await send(`${gateway.url}/api/v1/balance`, { key: account.key });
      expect(json.balance_rub).to.equal(Number(avail) / 1e6);
      expect(await streams()).to.equal(stream ? 1 : 0);
      finish();
      expect((await answered).status).to.equal(200);
      expect(await streams()).to.equal(0);
    });
  }

  it('that is long needs money for the cheapest tier at first, because smart has not chosen yet', async () => {
    const { behaviour, finish } = chatHeld();
    finish();
    upstream.behave(behaviour);
    const long = `Prove that this holds for every prime, and refactor this code:\n${'const sum = (a, b) => a + b;\n'.repeat(12_000)}`;
    const reply = await post(MESSAGES, ask(long, { model: 'smart', max_tokens: 1000 }));
    expect([reply.status, reply.json.model], reply.text.slice(0, 300)).to.deep.equal([200, 'cheap']);
  });
});
