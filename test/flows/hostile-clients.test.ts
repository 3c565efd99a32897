// Clients that come late, read nothing, never leave, or send what takes long to look at.
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, MESSAGES, sayFor, send, until } from '../../testkit/client.ts';
import { watchTicks } from '../../testkit/event-loop-ticks.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { makeHome, openBooks } from '../../testkit/process.ts';
import { itTimed } from '../../testkit/timed.ts';
import {
  chatAnswer,
  chatChunk,
  chatEnd,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

const STALL_MS = 300;

describe('hostile clients', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const catalog = chatCatalog(upstream.url) as { models: object[] };
    // The answers of this one are whole, however long.
    const buffered = { ...catalog.models[0], id: 'model-b', aliases: [], delivery: 'buffered' };
    gateway = await startGateway({
      catalog: { ...catalog, models: [...catalog.models, buffered] },
      env: { CLIENT_STALL_MS: String(STALL_MS) },
    });
  });
  beforeEach(async () => {
    account = await gateway.account('100000');
    upstream.behave(chatAnswer('Hello there.'));
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const dial = (url: string, allowHalfOpen = false): Socket => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen });
    socket.on('error', () => undefined);
    return socket;
  };
  const post = (path: string, key: string, body: object) => {
    const json = JSON.stringify(sayFor(path, body));
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n`;
    return `${head}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
  };
  const connections = () =>
    new Promise<number>((resolve) => gateway.gateway.server.listener.getConnections((_error, count) => resolve(count)));

  for (const stream of [false, true]) {
    for (const path of longer<readonly string[]>([MESSAGES], DIALECTS)) {
      it(`are cut off when they take nothing of a complete answer: ${path}, stream: ${stream}`, async () => {
        upstream.behave(({ response }) => {
          response.writeHead(200, SSE);
          for (let chunk = 0; chunk < 20; chunk += 1) response.write(chatChunk('word '.repeat(80_000)));
          response.end(chatEnd({ input: 7, output: 900 }));
        });
        await until(async () => (await connections()) === 0);
        const socket = dial(gateway.url);
        socket.pause();
        socket.write(post(path, account.key, ask('hi', { stream, model: 'model-b' })));
        await until(async () => (await gateway.wallet(account)).charged > 0n, 10_000);
        await until(async () => (await connections()) === 0, 10 * STALL_MS);
        socket.destroy();
      });
    }
  }

  it('are cut off when they send what is not HTTP and then neither read nor leave', async () => {
    await until(async () => (await connections()) === 0);
    const socket = dial(gateway.url, true);
    socket.resume().write('JUNK\r\n\r\n');
    await until(async () => (await connections()) === 1);
    await until(async () => (await connections()) === 0);
    socket.destroy();
  });

  itTimed('cut their own running call when they leave after they sent junk behind it', async () => {
    upstream.behave(chatStall(['first ']));
    const arrival = upstream.nextCall();
    const socket = dial(gateway.url);
    socket.resume().write(`${post(CHAT, account.key, ask('hi', { stream: true }))}JUNK\r\n\r\n`);
    const { closed } = await arrival;
    await new Promise((resolve) => setTimeout(resolve, 100));
    const leftAt = performance.now();
    socket.end();
    expect((await closed) - leftAt).to.be.below(100);
    await until(async () => (await gateway.wallet(account)).held === 0n);
    expect((await gateway.wallet(account)).charged).to.equal(500_000n);
  });

  itTimed('do not hold up others by a model name of many megabytes', async () => {
    const body = JSON.stringify(ask('hi', { model: '\u00a0\u2028'.repeat(longer(400_000, 8_000_000)) }));
    const ticks = watchTicks();
    const { status, json } = await send(gateway.url + MESSAGES, { key: account.key, body });
    ticks.stop();
    expect(status).to.equal(400);
    expect(json.error.message.length).to.be.below(300);
    expect(ticks.worstMs()).to.be.below(longer(300, 900));
  });

  it('may send any number of texts in one message', async () => {
    const content = [{ type: 'search_result', content: Array(longer(60_000, 190_000)).fill('a') }];
    for (const path of longer<readonly string[]>(DIALECTS.slice(0, 1), DIALECTS)) {
      const body = ask('hi', { messages: [{ role: 'user', content }] });
      expect((await send(gateway.url + path, { key: account.key, body })).status).to.equal(200);
    }
  });

  it('are told to retry when their request arrives after a shutdown has ended the last call', async () => {
    const home = makeHome();
    const books = await openBooks(home);
    const late = await books.account();
    const options = { catalog: chatCatalog(upstream.url), env: { DRAIN_MS: '20000' } };
    const ending = await startGateway({ ...options, folder: home.folder, database: home.env.DATABASE_URL ?? '' });
    upstream.behave(chatStall(['first ']));
    const request = post(CHAT, late.key, ask('hi', { stream: true }));
    const socket = dial(ending.url);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.write(request.slice(0, 60));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const ended = ending.stop();
    await new Promise((resolve) => setTimeout(resolve, 200));
    socket.write(request.slice(60));
    await ended;
    expect(text).to.match(/^HTTP\/1\.1 503 /);
    expect(text).to.contain('"code":"service_unavailable"');
    expect(await books.wallet(late)).to.include({ held: 0n, charged: 0n });
    await books.checkMoney();
    await books.close();
    home.remove();
  });
});
