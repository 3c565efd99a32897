// What one socket, with or without a key, may cost the service.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import {
  ask,
  CHAT,
  DIALECTS,
  MESSAGES,
  RESPONSES,
  open as request,
  sayFor,
  send,
  until,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';
import { chatAnswer, chatStall, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const MIB = 1024 * 1024;

describe('edges', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  const sockets: Socket[] = [];

  before(async () => {
    upstream = await startUpstream();
    upstream.behave(chatAnswer('Hello.'));
    gateway = await startGateway({
      catalog: chatCatalog(upstream.url),
      env: { CLIENT_STALL_MS: '600' },
      timings: { bodyLimits: { roomMs: 200 } },
    });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway.checkMoney();
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  interface Exchange {
    readonly socket: Socket;
    text(): string;
    /** Waits for the status of the first reply. */
    status(): Promise<number>;
  }

  function open(bytes: string | Buffer): Exchange {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
    });
    socket.write(bytes);
    return {
      socket,
      text: () => text,
      async status() {
        await until(() => text.startsWith('HTTP/1.1 '));
        return Number(text.split(' ')[1]);
      },
    };
  }

  const head = (path: string, { key }: Pick<TestAccount, 'key'>, lines: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${lines}\r\n\r\n`;
  const logged = () => readLogLines(gateway);
  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

  describe('of bodies', () => {
    for (const [at, path] of DIALECTS.entries()) {
      // What the bodies may take does not depend on the format.
      const itOnce = at === 0 ? it : itLong;
      it(`${path}: does not read a long body for an empty wallet`, async () => {
        const penniless = await gateway.account('0');
        for (const lines of [`content-length: ${40 * MIB}`, 'transfer-encoding: chunked']) {
          const { status, text } = open(head(path, penniless, lines));
          expect(await status()).to.equal(402);
          await until(() => text().includes('never been topped up'));
          expect(text().toLowerCase()).to.contain('connection: close').and.to.contain('x-should-retry: false');
        }
      });

      it(`${path}: reads a short body, and reports its mistakes first`, async () => {
        const { key } = await gateway.account('0');
        const replies = [
          await send(gateway.url + path, { key, body: ask('hi', { max_tokens: 0 }) }),
          await send(gateway.url + path, { key, body: ask('hi', { model: 'nope' }) }),
          await send(gateway.url + path, { key, body: ask('hi') }),
        ];
        expect(replies.map(({ status }) => status)).to.deep.equal([400, 400, 402]);
      });

      itOnce(`${path}: gives the bodies of one key a memory budget, and frees it again`, async () => {
        const account = await gateway.account();
        const length = `content-length: ${40 * MIB}`;
        const first = open(`${head(path, account, length)}{`);
        await sleep(100);
        const second = open(`${head(path, account, length)}{`);
        expect(await second.status()).to.equal(503);
        await until(() => second.text().includes('Nothing was charged.'));
        expect(second.text()).to.contain('"api_error"').and.to.contain('connection: close');
        expect((await send(gateway.url + path, { key: account.key, body: ask('hi') })).status).to.equal(200);
        first.socket.destroy();
        await sleep(100);
        const third = open(`${head(path, account, length)}{`);
        await sleep(200);
        expect(third.text()).to.equal('');
      });

      itOnce(`${path}: gives all bodies a memory budget that leaves room for short ones`, async () => {
        const accounts = await Promise.all(Array.from({ length: 5 }, () => gateway.account()));
        const length = `content-length: ${30 * MIB}`;
        const calls = [];
        for (const account of accounts) {
          calls.push(open(`${head(path, account, length)}{`));
          await sleep(50);
        }
        expect(await calls[4]?.status()).to.equal(503);
        expect(calls.slice(0, 2).map(({ text }) => text())).to.deep.equal(['', '']);
        const body = ask('x'.repeat(60_000));
        expect((await send(gateway.url + path, { key: accounts[4]?.key as string, body })).status).to.equal(200);
        // The wallet is looked at before a body waits for room, and its length before the wallet.
        expect(await open(head(path, await gateway.account('0'), length)).status()).to.equal(402);
        const endless = `content-length: ${10 ** 12}`;
        expect(await open(head(path, accounts[4] as TestAccount, endless)).status()).to.equal(413);
      });
    }

    itLong('count as long as a call may need their text', async function () {
      this.timeout(90_000);
      const account = await gateway.account('100000');
      // One key has half of 96 MiB.
      const options = { key: account.key, body: ask('x'.repeat(25 * MIB)) };
      upstream.behave(chatStall());
      const arrived = upstream.nextCall();
      const waiting = request(gateway.url + CHAT, options).on('error', () => undefined);
      await arrived;
      // Only its head: a busy machine sends the rest for longer than a refused body is read.
      const length = `content-length: ${25 * MIB}`;
      expect(await open(`${head(CHAT, account, length)}{`).status()).to.equal(503);
      waiting.destroy();
      upstream.behave(chatAnswer('Hello.'));
      await until(async () => (await gateway.wallet(account)).held === 0n);
    });

    it('answers 600 KB like a short body', async () => {
      const { key } = await gateway.account();
      for (const path of DIALECTS.filter((_, index) => longer(index === 2, true))) {
        const reply = await send(gateway.url + path, { key, body: ask('слово '.repeat(60_000)) });
        expect(reply.status).to.equal(200);
        const refused = await send(gateway.url + path, { key, body: ask('x'.repeat(600_000), { max_tokens: -1 }) });
        expect([refused.status, refused.json.error.message]).to.deep.equal([
          400,
          `Invalid \`${path === RESPONSES ? 'max_output_tokens' : 'max_tokens'}\`: must be a whole number above zero.`,
        ]);
        const unknown = await send(gateway.url + path, { key, body: ask('x'.repeat(600_000), { model: 'nope' }) });
        expect([unknown.status, unknown.json.error.message]).to.deep.equal([
          400,
          'Unknown model `nope`. See GET /api/v1/models for the list.',
        ]);
        const dear = await send(gateway.url + path, { key, body: ask('word'.padEnd(5).repeat(800_000)) });
        expect([dear.status, dear.json.error.message.slice(0, 73)]).to.deep.equal([
          402,
          'The balance is too low: this call needs a reserve of 1005.004 RUB and the',
        ]);
      }
    });

    itTimed('delay no reply if unread, and do not last', async () => {
      const lines = ['content-length: 1000000000000', 'transfer-encoding: chunked'];
      const wanted = {
        '/nope': 404,
        '/healthz': 405,
        '/api/v1/balance': 405,
        [`${CHAT}/x`]: 404,
        '/openapi.json': 405,
      };
      for (const [path, status] of Object.entries(wanted)) {
        for (const line of lines) {
          const startedAt = performance.now();
          const call = open(`POST ${path} HTTP/1.1\r\nhost: x\r\n${line}\r\n\r\n`);
          expect([path, await call.status()]).to.deep.equal([path, status]);
          expect(performance.now() - startedAt).to.be.below(1000);
        }
      }
      const pouring = open(`GET /healthz HTTP/1.1\r\nhost: x\r\n${lines[0]}\r\n\r\n`);
      const piece = Buffer.alloc(MIB);
      while (!pouring.socket.closed) if (!pouring.socket.write(piece)) await sleep(1);
      expect(pouring.text()).to.match(/^HTTP\/1\.1 200 /);
      expect(pouring.socket.bytesWritten - pouring.socket.writableLength).to.be.below(100 * MIB);
    }).timeout(20_000);

    it('that break off are not our failure', async () => {
      const account = await gateway.account();
      const before = logged().length;
      open(`${head(CHAT, account, 'content-length: 1000')}{"model"`).socket.end();
      const reset = open(`${head(MESSAGES, account, 'transfer-encoding: chunked')}${chunk('{"model"')}`);
      await sleep(100);
      reset.socket.resetAndDestroy();
      const bad = open(`${head(CHAT, account, 'transfer-encoding: chunked')}${chunk('{"model"')}zz\r\n`);
      expect(await bad.status()).to.equal(400);
      open('POST /nope HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nab').socket.destroy();
      await until(() => logged().length >= before + 5);
      for (const line of logged().slice(before)) {
        expect(line.level, JSON.stringify(line)).to.equal('info');
        expect(line).not.to.have.property('err');
        expect(line.status).not.to.equal(500);
      }
    });
  });

  for (const path of DIALECTS.filter((_, index) => longer(index === 0, true))) {
    it(`${path}: a key that is revoked, or an account suspended, while a body comes has no say any more`, async function () {
      this.timeout(20_000);
      const accounts = createAccounts({ store: gateway.store, keyPrefix: 'tg-' });
      const revoked = await gateway.account();
      const suspended = await gateway.account();
      const body = JSON.stringify(sayFor(path, ask('hi')));
      const calls = [revoked, suspended].map((account) =>
        open(head(path, account, `content-length: ${body.length}`) + body.slice(0, 10)),
      );
      await sleep(100);
      await accounts.revokeKey(revoked.keyId);
      await accounts.suspend(suspended.id);
      await sleep(1000);
      for (const { socket } of calls) socket.write(body.slice(10));
      expect(await Promise.all(calls.map(({ status }) => status()))).to.deep.equal([401, 403]);
      for (const account of [revoked, suspended]) {
        expect(await gateway.wallet(account)).to.include({ held: 0n, charged: 0n });
        expect(await gateway.store.ledger.charges(account.id, { limit: 5 })).to.deep.equal([]);
      }
    });
  }

  it('answers an invalid target with 400 without a stack, and truncates it in the log', async () => {
    const before = logged().length;
    const long = `/${'a'.repeat(5000)}`;
    for (const [target, status] of [
      ['*', 400],
      ['http://[', 400],
      ['http://', 400],
      [long, 404],
    ] as const) {
      const { status: answered } = open(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect([target, await answered()]).to.deep.equal([target, status]);
    }
    await until(() => logged().length >= before + 4);
    for (const line of logged().slice(before)) {
      expect(line.level).to.equal('info');
      expect(JSON.stringify(line)).not.to.contain('stack').and.not.to.contain('node_modules');
      expect(line.path.length).to.be.at.most(256);
    }
  });
});
