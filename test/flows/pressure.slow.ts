// Pressure: readers that stop, upstreams that flood; no call may harm another, and money is settled all the same.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import { openStage, STOPPED_KB_MAX, stopReaders, untilStill } from '../../scripts/bench/pressure.ts';
import {
  ask,
  CHAT,
  DIALECTS,
  joinText,
  MESSAGES,
  open,
  parseEvents,
  readHead,
  send,
  until,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const KINDS = ['tiny-events', 'big-events', 'endless-line', 'comments', 'empty-deltas'];
const STALL_MS = 8000;
/** Many, so that what the gateway makes once weighs little. */
const STOPPED_READERS = 100;

describe('pressure', () => {
  let upstream: TestUpstream;
  let flood: ChildProcess;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream(chatAnswer('All is well.'));
    flood = fork(new URL('../../testkit/flood.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [{ port }] = (await once(flood, 'message')) as [{ port: number }];
    const catalog = chatCatalog(upstream.url) as { upstreams: object; models: object[] };
    const settings = { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'flood-key' };
    const floods = KINDS.map((id) => ({
      id,
      type: 'text',
      provider: 'Test',
      routes: [{ upstream: 'flood', model: id }],
      price: { input: '1000', output: '5000' },
    }));
    gateway = await startGateway({
      catalog: {
        ...catalog,
        upstreams: { ...catalog.upstreams, flood: { plugin: 'openai-compatible', settings } },
        models: [...catalog.models, ...floods],
      },
      env: { CLIENT_STALL_MS: String(STALL_MS), FIRST_TOKEN_TIMEOUT_MS: '1500', TOTAL_TIMEOUT_MS: '60000' },
    });
  });
  beforeEach(() => upstream.behave(chatAnswer('All is well.')));
  afterEach(async function () {
    this.timeout(20_000);
    await until(async () => (await gateway.checkMoney().catch(() => 'held')) !== 'held', 10_000);
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
    flood.disconnect();
  });

  const written = async () => {
    flood.send({});
    const [{ written: bytes }] = (await once(flood, 'message')) as [{ written: number }];
    return bytes;
  };

  for (const path of DIALECTS) {
    it(`${path}: a reader that stops pauses the upstream and is gone after the stall limit`, async function () {
      this.timeout(90_000);
      const account = await gateway.account('100000');
      const before = await written();
      // An event for each character: more than the buffers on the way take before the answer is cut.
      const body = ask('hi', { model: 'tiny-events', stream: true, max_tokens: 32_000 });
      const readers = Array.from({ length: 20 }, () => open(gateway.url + path, { key: account.key, body }));
      for (const reader of readers) reader.on('error', () => undefined);
      const responses = await Promise.all(readers.map(readHead));
      for (const response of responses) response.pause().on('error', () => undefined);
      await untilStill(flood);
      expect(await written()).to.be.above(before);
      expect((await gateway.wallet(account)).held > 0n).to.equal(true);
      // A client that reads nothing does not see the end either; the gateway's side is what counts.
      await until(async () => (await gateway.wallet(account)).held === 0n, STALL_MS + 10_000);
      for (const reader of readers) reader.destroy();
      const { charged } = await gateway.wallet(account);
      expect(charged > 0n).to.equal(true);
    });
  }

  it('holds little memory for a reader that stops, whatever the size of the events', async function () {
    this.timeout(180_000);
    const stage = await openStage();
    try {
      for (const model of ['tiny-events', 'big-events']) {
        const { usedKB } = await stopReaders(stage, { model, readers: STOPPED_READERS });
        expect(usedKB, model).to.be.below(STOPPED_KB_MAX);
      }
    } finally {
      stage.close();
    }
  });

  it('leaves other calls alone beside floods: the loop turns, calls are answered', async function () {
    this.timeout(40_000);
    const account = await gateway.account('100000');
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    for (const model of KINDS) {
      const sent = open(gateway.url + MESSAGES, { key: account.key, body: ask('hi', { model, stream: true }) });
      sent.on('error', () => undefined);
      const response = await readHead(sent);
      response.on('error', () => undefined).resume();
      for (let at = 0; at < 10; at += 1) {
        const startedAt = performance.now();
        const other = await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
        expect(other.status).to.equal(200);
        expect(performance.now() - startedAt).to.be.below(1000);
      }
      sent.destroy();
    }
    delay.disable();
    // Five times the bound of `npm run bench`: both ends of every flood are in this process, on a machine that may be busy.
    expect(delay.percentile(99) / 1e6).to.be.below(250);
  });

  it('fails an endless line and an endless silence of comments, and cuts an answer that does not end', async function () {
    this.timeout(40_000);
    const account = await gateway.account();
    for (const model of ['endless-line', 'comments', 'empty-deltas']) {
      const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi', { model }) });
      expect(reply.status, model).to.equal(502);
      expect(reply.json.error.message).to.contain('Charge refunded');
    }
    expect((await gateway.wallet(account)).charged).to.equal(0n);
    const reply = await send(gateway.url + CHAT, {
      key: account.key,
      body: ask('hi', { model: 'big-events', stream: true }),
    });
    const events = parseEvents(reply.text);
    expect(events.some(({ data }) => data.choices?.[0]?.finish_reason === 'length')).to.equal(true);
    expect(joinText(events).length).to.be.below(70_000);
    expect((await gateway.wallet(account)).charged).to.equal(5_005_000n);
  });
});
