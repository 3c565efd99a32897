// What decides about a call for embeddings before and around it: the order of checks, limits of keys, edits of the catalog,
// a service that stops.
import { request } from 'node:http';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { ask, CHAT, type Reply, readHead, send, until } from '../../testkit/client.ts';
import { EMBEDDINGS, embedAnswer, embeddingCatalog } from '../../testkit/embeddings.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const MINIMUM = 500_000n;

describe('the rules of embeddings', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  const open = async (env: Readonly<Record<string, string>> = {}) => {
    gateway = await startGateway({ catalog: embeddingCatalog(upstream.url), env });
    account = await gateway.account();
  };
  const embed = (more: object = {}, key = account.key): Promise<Reply> =>
    send(gateway.url + EMBEDDINGS, { key, body: { model: 'embed-a', input: 'hi', ...more } });

  before(async () => {
    upstream = await startUpstream();
  });
  beforeEach(() => {
    upstream.calls.length = 0;
    upstream.behave(embedAnswer());
  });
  afterEach(async () => {
    await gateway.stop();
  });
  after(() => upstream.close());

  it('are counted in the bucket that text and images share', async () => {
    await open({ RATE_LIMIT_PER_MINUTE: '2' });
    expect((await embed({ input: '' })).status).to.equal(400);
    await send(gateway.url + CHAT, { key: account.key, body: ask('hi', { model: 'nothing' }) });
    const { status, headers, json } = await embed();
    expect(status).to.equal(429);
    expect(Number(headers['retry-after'])).to.be.within(1, 59);
    expect(json.error.code).to.equal('rate_limit_exceeded');
  });

  it('are checked in the order of other endpoints, and nothing costs anything before the hold', async () => {
    await open();
    const empty = await gateway.account('0');
    // A bad field is told to an empty wallet, too; a key comes before both.
    expect((await embed({ dimensions: -1 }, empty.key)).status).to.equal(400);
    const long = await embed({ dimensions: 4 }, empty.key);
    expect([long.status, long.json.error.message]).to.deep.equal([
      400,
      'Invalid `dimensions`: must be from 1 to 3 for model `embed-a`.',
    ]);
    expect((await embed({}, empty.key)).status).to.equal(402);
    expect((await embed({ dimensions: -1 }, 'nothing')).status).to.equal(401);
    await gateway.store.accounts.setStatus(empty.id, 'suspended');
    expect((await embed({ dimensions: -1 }, (await gateway.account()).key)).status).to.equal(400);
    expect(upstream.calls).to.have.length(0);
  });

  it('keep a key to its models and its budget', async () => {
    await open();
    const accounts = createAccounts({ store: gateway.store, keyPrefix: 'tg-' });
    const narrow = await accounts.issueKey(account.id, 'narrow', { models: ['embed-open'] });
    const { status, json } = await embed({}, narrow.key);
    expect(json.error.message).to.include('may not be used for model');
    expect(status).to.equal(403);
    expect((await embed({ model: 'embed-open' }, narrow.key)).status).to.equal(200);
    const small = await accounts.issueKey(account.id, 'small', { budget: MINIMUM });
    expect((await embed({}, small.key)).status).to.equal(200);
    expect((await embed({}, small.key)).status).to.equal(402);
    expect((await gateway.wallet(account)).charged).to.equal(2n * MINIMUM);
  });

  it('know aliases, retired models, and models of other endpoints', async () => {
    await open();
    expect((await embed({ model: 'ea' })).json.model).to.equal('embed-a');
    expect((await embed({ model: 'old-embed' })).json.error.message).to.include('Use `embed-a` instead');
    expect((await embed({ model: 'embed-b' })).json.error.message).to.include('Did you mean `embed-a`');
    const { status, json } = await send(gateway.url + CHAT, {
      key: account.key,
      body: ask('hi', { model: 'embed-a' }),
    });
    expect(status).to.equal(400);
    expect(json.error.message).to.include('Use it with POST /api/v1/embeddings');
    expect((await gateway.wallet(account)).charged).to.equal(MINIMUM);
  });

  it('keep the price that they were made with while the catalog changes', async () => {
    await open();
    const { promise: asked, resolve: goOn } = Promise.withResolvers<void>();
    upstream.behave(async (call) => {
      await asked;
      return embedAnswer({ tokens: 1000 })(call);
    });
    const running = embed({ input: 'word '.repeat(2000) });
    await until(() => upstream.calls.length === 1);
    const catalog = embeddingCatalog(upstream.url) as { models: { id: string; price: object }[] };
    const models = catalog.models.map((model) =>
      model.id === 'embed-a' ? { ...model, price: { input: '9000' } } : model,
    );
    gateway.writeCatalog({ ...catalog, models });
    await gateway.gateway.reload();
    goOn();
    expect((await running).json.billing).to.include({ charged_rub: 1, rub_per_mtok_in: 1000 });
    expect((await embed({ input: 'word '.repeat(2000) })).json.billing).to.include({ charged_rub: 9 });
    await gateway.checkMoney();
  });

  it('refund what a stop of the service ends', async () => {
    await open({ DRAIN_MS: '50' });
    upstream.behave(() => undefined);
    const running = embed().catch((error: Error) => error);
    await until(() => upstream.calls.length === 1);
    const { store, gateway: service } = gateway;
    await service.stop();
    expect((await running) as Reply).to.satisfy(
      (reply: Reply | Error) => reply instanceof Error || reply.status >= 500,
    );
    const wallet = await store.ledger.wallet(account.id);
    expect(wallet).to.include({ held: 0n, charged: 0n });
  });

  it('drop a client that reads nothing of a long reply, which is paid', async () => {
    await open({ CLIENT_STALL_MS: '1000' });
    const vector = Array.from({ length: 4000 }, (_, at) => Math.sin(at));
    upstream.behave(embedAnswer({ vectors: Array(200).fill(vector) }));
    const sent = request(gateway.url + EMBEDDINGS, {
      method: 'POST',
      agent: false,
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    });
    sent.end(JSON.stringify({ model: 'embed-open', input: Array(200).fill('x') }));
    const response = await readHead(sent);
    response.pause();
    const closed = new Promise<void>((resolve) => response.once('close', resolve).once('error', () => resolve()));
    await until(async () => (await gateway.wallet(account)).charged === MINIMUM);
    // Its memory is free again once it is dropped.
    const { listener } = gateway.gateway.server;
    await until(async () => (await promisify(listener.getConnections).call(listener)) === 0);
    response.resume();
    await closed;
    expect(response.complete).to.equal(false);
    await gateway.checkMoney();
  });

  it('keep the memory of their body for their texts while other bodies wait for it', async () => {
    await open();
    const mib = 1024 * 1024;
    const rich = await gateway.account('20000');
    const others = await Promise.all([1, 2, 3].map(() => gateway.account()));
    // Announced, and never sent.
    const announce = ({ key }: TestAccount, bytes: number) => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': `${bytes}` };
      const sent = request(gateway.url + EMBEDDINGS, { method: 'POST', agent: false, headers });
      sent.on('error', () => undefined).flushHeaders();
      return sent;
    };
    const held = others.slice(0, 2).map((other, at) => announce(other, (at === 0 ? 40 : 36) * mib));
    const body = Buffer.from(JSON.stringify({ model: 'embed-a', input: Array(1200).fill('word '.repeat(1000)) }));
    const embedding = announce(rich, body.length);
    const answered = readHead(embedding);
    await new Promise((resolve) => setTimeout(resolve, 200));
    held.push(announce(others[2] as TestAccount, 7 * mib));
    await new Promise((resolve) => setTimeout(resolve, 200));
    embedding.end(body);
    const response = await answered;
    for (const sent of held) sent.destroy();
    response.resume();
    expect(response.statusCode).to.equal(200);
    await gateway.checkMoney();
  });

  it('tell the operator of an account that an upstream refuses, and the client nothing of it', async () => {
    await open();
    upstream.behave(answerStatus(401, { error: { message: 'Incorrect API key provided: up-secret-key-1' } }));
    const { status, text } = await embed();
    expect(status).to.equal(502);
    expect(text).to.not.include('API key').and.not.include('secret');
    await gateway.checkMoney();
  });
});
