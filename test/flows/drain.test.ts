// The service is told to stop: what runs may end, what cannot end is settled, and the process leaves with exit code 0.
import { Agent, type ClientRequest } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import {
  ask,
  CHAT,
  DIALECTS,
  findBilling,
  joinText,
  MESSAGES,
  open,
  parseEvents,
  readHead,
  send,
  until,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount } from '../../testkit/gateway.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { type Books, lockDatabase, type Service } from '../../testkit/process.ts';
import { openRig, type Rig } from '../../testkit/rig.ts';
import { itTimed } from '../../testkit/timed.ts';
import {
  type Behaviour,
  chatAnswer,
  chatChunk,
  chatHeld,
  chatStall,
  SSE,
  type TestUpstream,
} from '../../testkit/upstream.ts';

describe('drain', () => {
  let upstream: TestUpstream;
  let rig: Rig;
  let books: Books;
  let service: Service;

  before(async () => {
    rig = await openRig();
    ({ upstream, books } = rig);
  });
  afterEach(async () => {
    service?.kill('SIGKILL');
    await service?.exit;
    await books.checkMoney();
  });
  after(() => rig.close());

  const start = async (drainMs: number, delayMs = 0) => {
    service = await rig.start({ env: { DRAIN_MS: String(drainMs), SHUTDOWN_DELAY_MS: String(delayMs) } });
  };

  /** Sends the signal; resolves to how long the process took to leave. */
  async function leave(signal: NodeJS.Signals): Promise<number> {
    const startedAt = performance.now();
    service.kill(signal);
    const { code, stderr } = await service.exit;
    expect([code, stderr]).to.deep.equal([0, '']);
    return performance.now() - startedAt;
  }

  /** A stream that has begun, and its whole text once it has ended. */
  async function beginStream(path: string, account: TestAccount, { url = service.url, firstChunk = true } = {}) {
    const sent = open(url + path, { key: account.key, body: ask('hi', { stream: true }) });
    const response = await readHead(sent);
    let text = '';
    const ended = new Promise<string>((resolve, reject) => {
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve(text)).once('error', reject);
    });
    if (firstChunk) await until(() => text.includes('first'));
    return { ended, sent };
  }

  const refused = (url: string) =>
    new Promise<string | undefined>((resolve) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      socket.once('connect', () => {
        socket.destroy();
        resolve(undefined);
      });
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    });

  itLong('exits at once when nothing runs, with or without open connections', async () => {
    await start(30_000);
    const agent = new Agent({ keepAlive: true });
    const idle: ClientRequest = open(`${service.url}/healthz`);
    idle.on('error', () => undefined);
    (await readHead(idle)).resume();
    const silent = connect(Number(new URL(service.url).port), '127.0.0.1');
    silent.on('error', () => undefined);
    await new Promise((resolve) => silent.once('connect', resolve));
    expect(await leave('SIGINT')).to.be.below(2500);
    agent.destroy();
  });

  for (const signal of longer<readonly NodeJS.Signals[]>(['SIGTERM'], ['SIGTERM', 'SIGINT'])) {
    it(`tells proxies first on ${signal}, still answers, then lets streams end, with their billing`, async () => {
      const delayMs = 1500;
      await start(30_000, delayMs);
      const account = await books.account();
      const { behaviour, finish } = chatHeld();
      upstream.behave(behaviour);
      const streams = await Promise.all(DIALECTS.map((path) => beginStream(path, account)));
      const leaving = leave(signal);
      const check = (path: string) => send(service.url + path);
      await until(async () => (await check('/healthz')).status === 503);
      expect((await check('/healthz')).json).to.deep.equal({ status: 'stopping' });
      expect((await check('/readyz')).json).to.include({ status: 'unavailable', store: true });
      upstream.behave(chatAnswer('Hello.'));
      const late = await books.account();
      expect((await send(service.url + CHAT, { key: late.key, body: ask('hi') })).status).to.equal(200);
      await until(async () => (await refused(service.url)) === 'ECONNREFUSED');
      finish();
      for (const { ended } of streams) {
        const events = parseEvents(await ended);
        expect(joinText(events)).to.equal('first last.');
        expect(findBilling(events).charged_rub).to.equal(2.007);
      }
      expect(await leaving).to.be.within(delayMs - 100, delayMs + 10_000);
      expect(await books.wallet(account)).to.include({ held: 0n, charged: 2_007_000n * BigInt(DIALECTS.length) });
    });
  }

  itTimed('ends calls that run too long, and settles them by what was delivered', async () => {
    const drainMs = 400;
    const { folder, database } = rig.home;
    const options = { catalog: chatCatalog(upstream.url), env: { DRAIN_MS: String(drainMs) } };
    const gateway = await startGateway({ ...options, folder, database: `sqlite:${database}` });
    const { url } = gateway;
    const words: Record<string, Behaviour> = {
      'mid-stream': chatStall(['first ']),
      'long mid-stream': chatStall(['first ', ' word'.repeat(500)]),
      'before the first fragment': chatStall(),
    };
    const running = [];
    for (const [name, behaviour] of Object.entries(words)) {
      upstream.behave(behaviour);
      for (const path of DIALECTS) {
        const account = await books.account();
        const { ended } = await beginStream(path, account, { url, firstChunk: name.includes('mid-stream') });
        running.push({ name, path, account, ended });
      }
    }
    const plain = await Promise.all(
      DIALECTS.map(async (path) => {
        const account = await books.account();
        const called = upstream.nextCall();
        const reply = send(url + path, { key: account.key, body: ask('hi') });
        await called;
        return { path, account, reply };
      }),
    );
    const startedAt = performance.now();
    const tookMs = gateway.stop().then(() => performance.now() - startedAt);
    const chargedByOutcome: Record<string, bigint> = {
      'mid-stream': 500_000n,
      // 502 tokens of output; 5 of input.
      'long mid-stream': 2_515_000n,
      'before the first fragment': 0n,
    };
    for (const { name, account, ended, path } of running) {
      const events = parseEvents(await ended);
      const failures = events.map(({ event, data }) => ({ event, error: data.response?.error ?? data.error }));
      const failure = failures.find(({ error }) => error);
      const refund = name === 'before the first fragment' ? ' Charge refunded.' : '';
      expect(failure?.error, name).to.include({
        type: 'api_error',
        message: `The service is restarting.${refund}`,
        ...(path !== MESSAGES && { code: 'upstream_error' }),
      });
      if (path === MESSAGES) expect(failure?.event).to.equal('error');
      else if (path === CHAT) expect(events.at(-1)?.data).to.equal('[DONE]');
      else expect(events.at(-1)?.event).to.equal('response.failed');
      expect(await books.wallet(account), `${name} ${path}`).to.include({ held: 0n, charged: chargedByOutcome[name] });
    }
    for (const { account, path, reply } of plain) {
      const { status, json } = await reply;
      expect(status, path).to.equal(503);
      expect(json.error).to.include({ type: 'api_error', message: 'The service is restarting. Charge refunded.' });
      expect(await books.wallet(account)).to.include({ held: 0n, charged: 0n });
    }
    expect(await tookMs).to.be.within(drainMs, drainMs + 2500);
  });

  itLong('does not wait for a reader that has stopped reading', async () => {
    await start(200);
    const account = await books.account();
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      const block = chatChunk('z'.repeat(100_000));
      const fill = () => {
        while (!response.destroyed && response.write(block));
      };
      response.on('drain', fill);
      fill();
    });
    const sent = open(service.url + DIALECTS[0], { key: account.key, body: ask('hi', { stream: true }) });
    sent.on('error', () => undefined);
    const response = await readHead(sent);
    response.on('error', () => undefined).pause();
    // The buffers on the way are full when the upstream can send no more.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await leave('SIGTERM')).to.be.below(4000);
    sent.destroy();
    const { charged } = await books.wallet(account);
    expect(charged).to.equal(5_005_000n);
  });

  itLong('exits although the store does not close', async () => {
    await start(200);
    const account = await books.account();
    const lock = await lockDatabase(rig.home.database);
    // A use of a key is counted: one more thing that the process would like to write.
    expect((await send(`${service.url}/api/v1/balance`, { key: account.key })).status).to.equal(200);
    expect(await leave('SIGTERM')).to.be.within(4500, 20_000);
    await lock.release();
    expect(service.stdout()).to.match(/"level":"error".*the store did not close in time/);
  });
});
