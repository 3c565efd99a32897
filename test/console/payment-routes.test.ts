// The routes for payment providers and payers, over real sockets: webhooks, and the pages of test providers.
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Bank, startBank, TILLS } from '../../testkit/bank.ts';
import { type Reply, send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';
import { RUB } from '../contract/store/context.ts';
import { newOrder } from '../contract/store/payments.ts';

describe('payment routes', () => {
  let bank: Bank;
  let gateway: TestGateway;
  let wallet: string;

  before(async () => {
    bank = await startBank();
    const payments = { till: { plugin: 'till', settings: { baseUrl: bank.url, noticeReply: 'OK' } } };
    gateway = await startGateway({ catalog: { upstreams: {}, models: [], payments }, env: { PAYMENTS_PATH: TILLS } });
  });
  beforeEach(async () => {
    wallet = (await gateway.account('0')).id;
    bank.hook = () => undefined;
  });
  after(async () => {
    await gateway.stop();
    await bank.close();
  });

  const post = (body: string, path = '/payments/till/notice') => fetch(gateway.url + path, { method: 'POST', body });

  /** A payment that its payer has made at the bank. */
  async function paid(): Promise<{ readonly ref: string; readonly id: string }> {
    const order = newOrder(wallet, { test: false, amount: 1000n * RUB });
    await gateway.store.payments.create(order);
    const asked = { id: order.id, idempotenceKey: order.id, amount: String(order.amount) };
    await fetch(`${bank.url}/payments`, { method: 'POST', body: JSON.stringify(asked) });
    return { ref: bank.pay(order.id).id, id: order.id };
  }

  it('answer 200 only when the credit is stored', async () => {
    const { ref, id } = await paid();
    bank.hook = () => 503;
    expect((await post(JSON.stringify({ id: ref }))).status).to.equal(503);
    expect((await gateway.store.payments.get(id))?.phase).to.equal('created');
    bank.hook = () => undefined;
    const replies = await Promise.all([1, 2, 3, 4, 5].map(() => post(JSON.stringify({ id: ref }))));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    expect(await Promise.all(replies.map((reply) => reply.text()))).to.deep.equal(Array(5).fill('OK'));
    expect((await gateway.store.payments.get(id))?.phase).to.equal('credited');
    expect((await gateway.store.ledger.wallet(wallet))?.topped).to.equal(1000n * RUB);
    await gateway.checkMoney();
  });

  it('refuse invalid and too long webhooks, and unknown providers', async () => {
    expect((await post('{}')).status).to.equal(400);
    expect((await post('not JSON')).status).to.equal(400);
    expect((await post('x'.repeat(8 * 1024))).status).to.equal(400);
    const long = await post('x'.repeat(8 * 1024 + 1));
    expect([long.status, await long.text()]).to.satisfy(
      ([status, text]: [number, string]) => status === 413 && text.includes('8 KiB'),
    );
    expect((await post('{}', '/payments/nobody/notice')).status).to.equal(404);
    expect((await post('{}', '/payments/till')).status).to.equal(404);
    const page = await fetch(`${gateway.url}/payments/till/page/1`);
    expect([page.status, page.headers.get('content-type')]).to.deep.equal([404, 'text/html; charset=utf-8']);
    const rows = await gateway.store.payments.webhooks({ limit: 3 });
    expect(rows.map(({ verdict }) => verdict)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    expect(Math.max(...rows.map(({ body, headers }) => body.length + headers.length))).to.equal(300);
  });

  it('read at most 8 KiB of a webhook without a length', async () => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write('POST /payments/till/notice HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`;
    let reply = '';
    socket.on('data', (data) => {
      reply += data;
    });
    socket.on('error', () => {});
    for (let at = 0; at < 4 && reply === ''; at += 1) {
      socket.write(chunk);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(reply)
      .to.match(/^HTTP\/1.1 413 /)
      .and.to.match(/\r\nconnection: close\r\n/i);
    socket.destroy();
  });

  itOnSqlite('answer 503 to a webhook that the store cannot write', async () => {
    const { ref, id } = await paid();
    const lock = new DatabaseSync(gateway.databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
    lock.exec('BEGIN IMMEDIATE');
    const refused = await post(JSON.stringify({ id: ref })).finally(() => {
      lock.exec('ROLLBACK');
      lock.close();
    });
    expect(refused.status).to.equal(503);
    expect((await gateway.store.payments.get(id))?.phase).to.equal('created');
    expect((await post(JSON.stringify({ id: ref }))).status).to.equal(200);
    expect((await gateway.store.payments.get(id))?.phase).to.equal('credited');
  });
});

describe('payment routes of play money', () => {
  it('show the page of a provider, and answer its webhooks with ok', async () => {
    const settings = { baseUrl: 'http://127.0.0.1:1', live: false };
    const payments = { till: { plugin: 'till', settings } };
    const gateway = await startGateway({
      catalog: { upstreams: {}, models: [], payments },
      env: { PAYMENTS_PATH: TILLS },
    });
    const notice = await fetch(`${gateway.url}/payments/till/notice`, { method: 'POST', body: '{"id":"any"}' });
    expect([notice.status, await notice.text()]).to.deep.equal([200, 'ok']);
    const page = await fetch(`${gateway.url}/payments/till/page/sb-1`);
    expect([page.status, await page.text()]).to.deep.equal([200, 'till /sb-1']);
    await gateway.stop();
  });
});

describe('notices', () => {
  it('are limited to three hundred a minute per address', async () => {
    const gateway = await startGateway({ catalog: { upstreams: {}, models: [] } });
    const post = (agent: Agent) => send(`${gateway.url}/payments/nobody/notice`, { method: 'POST', body: '{}', agent });
    const [near, far] = [{}, { localAddress: '127.0.0.2' }].map((from) => new Agent({ keepAlive: true, ...from }));
    const replies: Reply[] = [];
    // More than one, in case a new minute begins.
    for (let times = 0; times < 610 && replies.at(-1)?.status !== 429; times += 1)
      replies.push(await post(near as Agent));
    const last = replies.pop();
    expect(replies.every(({ status }) => status === 404)).to.equal(true);
    expect(replies.length).to.be.at.least(300);
    expect([last?.status, Number(last?.headers['retry-after']) > 0]).to.deep.equal([429, true]);
    expect((await post(far as Agent)).status).to.equal(404);
    for (const agent of [near, far]) agent?.destroy();
    await gateway.stop();
  });

  itLong('are limited to six hundred a minute per provider, with its own senders counted apart', async function () {
    this.timeout(60_000);
    const settings = { baseUrl: 'http://127.0.0.1:1', senders: ['127.0.0.9'] };
    const payments = { till: { plugin: 'till', settings } };
    const catalog = { upstreams: {}, models: [], payments };
    const gateway = await startGateway({ catalog, env: { PAYMENTS_PATH: TILLS } });
    const agents = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.9'].map(
      (localAddress) => new Agent({ keepAlive: true, localAddress }),
    );
    const post = async (at: number) => {
      const { status } = await send(`${gateway.url}/payments/till/notice`, {
        method: 'POST',
        body: '{}',
        agent: agents[at] as Agent,
      });
      return status;
    };
    const statuses: number[] = [];
    // More than one minute's, in case a new one begins.
    for (let times = 0; times < 1300 && statuses.at(-1) !== 429; times += 1) statuses.push(await post(times % 3));
    expect(statuses.pop()).to.equal(429);
    expect(statuses.length).to.be.at.least(600);
    expect([await post(0), await post(1), await post(2), await post(3)]).to.deep.equal([429, 429, 429, 400]);
    for (const agent of agents) agent.destroy();
    await gateway.stop();
  });
});
