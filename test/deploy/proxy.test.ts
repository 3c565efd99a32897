import { readFileSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { parse } from 'yaml';
import { makeSecret } from '../../lib/base/base62.ts';
import { ask, CHAT, DIALECTS, joinText, open, parseEvents, readHead, send, until } from '../../testkit/client.ts';
import { freePorts, type ProxyProcess, proxyProblem, startProxy } from '../../testkit/cluster.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { createVisitor, PASSWORD, setUpOwner } from '../../testkit/pages.ts';
import {
  answerStatus,
  chatChunk,
  chatEnd,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

/** A gateway's place taken by a server that only notes what reaches it. */
async function startListener(answer: Parameters<typeof createServer>[1]): Promise<{
  readonly host: string;
  readonly seen: IncomingMessage[];
  readonly server: Server;
}> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/healthz') return void response.end('{}');
    seen.push(request);
    request.resume().once('end', () => answer?.(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  started.push(() => close(server));
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server };
}

/** What a test started, to be ended whatever became of it. */
const started: (() => Promise<void>)[] = [];

async function startBefore(first: string, second: string): Promise<ProxyProcess> {
  const proxy = await startProxy(first, second);
  started.push(proxy.stop);
  return proxy;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

describe('deploy/Caddyfile', () => {
  before(function () {
    const problem = proxyProblem();
    if (problem === undefined) return;
    console.log(`    ${problem}: deploy/Caddyfile is not tried`);
    this.skip();
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((end) => end()));
  });

  describe('before a gateway', () => {
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;
    let proxy: ProxyProcess;
    before(async () => {
      upstream = await startUpstream();
      gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
      account = await gateway.account();
      const [unused] = await freePorts(1);
      proxy = await startProxy(new URL(gateway.url).host, `127.0.0.1:${unused}`);
    });
    after(async () => {
      await proxy?.stop();
      await gateway?.stop();
      await upstream?.close();
    });

    for (const path of DIALECTS) {
      it(`forwards each fragment as it arrives: ${path}`, async () => {
        const next: (() => void)[] = [];
        upstream.behave(async ({ response }) => {
          response.writeHead(200, SSE);
          for (const word of ['one ', 'two ', 'three ']) {
            response.write(chatChunk(word));
            await new Promise<void>((resolve) => next.push(resolve));
          }
          response.end(chatEnd());
        });
        const response = await readHead(
          open(proxy.url + path, { key: account.key, body: ask('hi', { stream: true }) }),
        );
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        // The upstream goes on only when the client has what it sent before.
        for (const word of ['one ', 'two ', 'three ']) {
          await until(() => text.includes(word));
          next.shift()?.();
        }
        await until(() => response.complete);
        expect(joinText(parseEvents(text))).to.equal('one two three ');
        expect(response.headers['content-type']).to.match(/^text\/event-stream/);
      });

      for (const stream of [true, false]) {
        it(`drops the upstream call when the client leaves: ${path}${stream ? ', streaming' : ''}`, async () => {
          upstream.behave(chatStall(stream ? ['word '] : []));
          const arrived = upstream.nextCall();
          const sent = open(proxy.url + path, { key: account.key, body: ask('hi', { stream }) });
          sent.on('error', () => undefined);
          // Headers of a stream come before the upstream is asked.
          const begun = new Promise((resolve) => sent.once('response', (answer) => answer.once('data', resolve)));
          const call = await arrived;
          if (stream) await begun;
          sent.destroy();
          await call.closed;
          await until(() =>
            gateway.checkMoney().then(
              () => true,
              () => false,
            ),
          );
        });
      }
    }

    it('passes on the errors of the gateway as they are', async () => {
      upstream.behave(answerStatus(500));
      const reply = await send(proxy.url + CHAT, { key: account.key, body: ask('hi') });
      expect(reply.status).to.equal(502);
      expect(reply.json.error.message).to.contain('refunded');
      expect(reply.headers['x-request-id']).to.be.a('string');
    });

    it('hides metrics', async () => {
      for (const path of ['/metrics', '/metrics/', '//metrics', '/%6detrics', '/METRICS', '/metrics?x=1']) {
        const reply = await send(proxy.url + path);
        expect([path, reply.status, reply.json.error.message]).to.deep.equal([path, 404, 'There is nothing here.']);
        expect(reply.headers['x-content-type-options'], path).to.equal('nosniff');
      }
      expect((await send(`${proxy.url}/healthz`)).status).to.equal(200);
    });
  });

  it('tells the gateway the address it sees, not the one that a client claims', async () => {
    const listener = await startListener((_, response) => response.end('{}'));
    const proxy = await startBefore(listener.host, '127.0.0.1:1');
    await send(proxy.url + CHAT, { headers: { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' } });
    const { headers } = listener.seen.find(({ url }) => url === CHAT) ?? {};
    expect([headers?.['x-forwarded-for'], headers?.['x-forwarded-proto']]).to.deep.equal(['127.0.0.1', 'http']);
  });

  itLong('lets the gateway tell people apart by address: guessing delays nobody else', async () => {
    const { services } = parse(readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8'));
    const trusted = /\$\{TRUSTED_PROXIES:-(.+)\}/.exec(services['gateway-1'].environment.TRUSTED_PROXIES)?.[1] ?? '';
    const test = await startGateway({ catalog: { upstreams: {}, models: [] }, env: { TRUSTED_PROXIES: trusted } });
    started.push(test.stop);
    const proxy = await startBefore(new URL(test.url).host, '127.0.0.1:1');
    const { email } = await setUpOwner(test, (await test.account()).id);
    const signIn = async (localAddress: string, claimed: string, password = PASSWORD) => {
      const agent = new Agent({ localAddress });
      const options = { agent, headers: { 'x-forwarded-for': claimed } };
      const whom = password === PASSWORD ? email : `nobody-${claimed}@example.com`;
      const { status } = await createVisitor(proxy.url).submit('/login', { email: whom, password, code: '' }, options);
      agent.destroy();
      return status;
    };
    const guesses: number[] = [];
    // Each as if it came from somewhere else.
    for (let time = 1; time <= 24; time += 1) guesses.push(await signIn('127.0.0.2', `203.0.113.${time}`, 'a guess'));
    expect(guesses.slice(0, 20)).to.deep.equal(new Array(20).fill(401));
    expect(guesses).to.include(429);
    expect(await signIn('127.0.0.3', '127.0.0.2')).to.equal(303);
    const [session] = await test.store.sessions.list((await test.store.users.find(email))?.id ?? '');
    expect(session?.address).to.equal('127.0.0.3');
  });

  it('writes no whole name of a stored file into its log', async () => {
    const gateway = await startListener((_request, response) => void response.end());
    const proxy = await startBefore(gateway.host, gateway.host);
    const name = makeSecret();
    for (const path of [`/media/${name}.png`, `/media/${name}.mp4?download=1`]) await send(proxy.url + path);
    await until(() => proxy.log().includes(`/media/${name.slice(0, 6)}....mp4`));
    expect(proxy.log()).not.to.contain(name.slice(0, 10));
    expect(gateway.seen.map(({ url }) => url)).to.include(`/media/${name}.png`);
  });

  it('writes no secret of a one-time link into its log, nor any key, also where an answer breaks off', async () => {
    const gateway = await startListener((request, response) => {
      if (!request.url?.startsWith('/media/')) return void response.end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n', () => setTimeout(() => response.destroy(), 50));
    });
    const proxy = await startBefore(gateway.host, gateway.host);
    const token = makeSecret();
    const paths = [
      `/setup?token=${token}`,
      `/reset?lang=en&token=${token}&x=1`,
      `/login?next=${encodeURIComponent(`/account/join?token=${token}`)}`,
      `/media/${token}.png?token=${token}`,
    ];
    const headers = { cookie: 'session=secret-2', authorization: 'Bearer tg-sk-secret-3' };
    for (const path of paths) await send(proxy.url + path, { key: 'tg-sk-secret-1', headers }).catch(() => undefined);
    await until(() => proxy.log().includes('aborting with incomplete response'));
    await until(() => proxy.log().split(`/media/${token.slice(0, 6)}....png?token=...`).length > 2);
    expect(proxy.log()).to.contain('/reset?lang=en&token=...&x=1');
    expect(proxy.log()).not.to.contain(token.slice(0, 10)).and.not.to.contain('secret-');
    expect(gateway.seen.map(({ url }) => url)).to.deep.equal(paths);
  });

  it('writes no key into its log', async () => {
    const listener = await startListener((_, response) => response.end('{}'));
    const proxy = await startBefore(listener.host, '127.0.0.1:1');
    await send(proxy.url + CHAT, { key: 'tg-sk-secret-1', headers: { authorization: 'Bearer tg-sk-secret-2' } });
    await until(() => proxy.log().includes(CHAT));
    expect(proxy.log()).not.to.contain('secret');
  });

  it('never resends a call that a gateway may have seen', async () => {
    const reset = await Promise.all([1, 2].map(() => startListener((request) => request.socket.resetAndDestroy())));
    const proxy = await startBefore(...(reset.map(({ host }) => host) as [string, string]));
    const reply = await send(proxy.url + CHAT, { body: ask('hi') });
    expect([reply.status, reply.json.error.type]).to.deep.equal([502, 'api_error']);
    const calls = reset.flatMap(({ seen }) => seen).filter(({ method }) => method === 'POST');
    expect(calls.length).to.equal(1);
  });

  it('skips a gateway that accepts no connections, and says so in JSON when none does', async () => {
    const first = await startListener((_, response) => response.end('{}'));
    const second = await startListener((_, response) => response.end('{}'));
    const proxy = await startBefore(first.host, second.host);
    await close(first.server);
    for (let call = 0; call < 10; call += 1) expect((await send(proxy.url + CHAT, { body: {} })).status).to.equal(200);
    await close(second.server);
    const reply = await send(proxy.url + CHAT, { body: {} });
    expect(reply.status).to.be.oneOf([502, 503]);
    expect([reply.json.error.type, reply.json.error.code]).to.deep.equal(['api_error', 'service_unavailable']);
    expect(reply.headers['x-content-type-options']).to.equal('nosniff');
  });
});
