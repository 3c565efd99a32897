// The client leaves at every stage: the upstream socket closes within 100 ms, and exactly what was produced is charged.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { ask, DIALECTS, open, responseOf, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import {
  chatChunk,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
  type UpstreamCall,
} from '../../testkit/upstream.ts';

const ROUNDS = 20;
const CLOSED_WITHIN_MS = 100;

describe('a client that leaves', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const settled = (account: TestAccount) => until(async () => (await gateway.wallet(account)).held === 0n);

  for (const path of DIALECTS) {
    for (const stream of [true, false]) {
      const name = `${path}${stream ? ', streaming' : ''}`;
      const body = (text: string) => ask(text, { stream });

      /** Leaves once the upstream has done its part; returns how long its socket stayed open after that. */
      async function leaveAt(account: TestAccount, ready: (call: UpstreamCall) => Promise<void>): Promise<number> {
        const arrived = upstream.nextCall();
        const sent = open(gateway.url + path, { key: account.key, body: body('hi') });
        sent.on('error', () => undefined);
        const call = await arrived;
        await ready(call);
        const leftAt = performance.now();
        sent.destroy();
        return (await call.closed) - leftAt;
      }

      it(`${name}: before the hold, nothing happens`, async () => {
        const account = await gateway.account();
        const text = JSON.stringify(body('hi'));
        for (let round = 0; round < ROUNDS; round += 1) {
          const before = upstream.calls.length;
          const sent = open(gateway.url + path, {
            key: account.key,
            method: 'POST',
            headers: { 'content-type': 'application/json', 'content-length': String(text.length + 1) },
          });
          sent.on('error', () => undefined);
          sent.destroy();
          expect(upstream.calls).to.have.length(before);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect(await gateway.wallet(account)).to.include({ avail: 1_000_000_000n, charged: 0n, held: 0n });
      });

      it(`${name}: during the hold, the hold goes back and no upstream is asked`, async function () {
        this.timeout(60_000);
        const account = await gateway.account();
        const before = upstream.calls.length;
        const lock = new DatabaseSync(gateway.databaseUrl.slice('sqlite:'.length));
        for (let round = 0; round < ROUNDS; round += 1) {
          lock.exec('BEGIN IMMEDIATE');
          const sent = open(gateway.url + path, { key: account.key, body: body('hi') });
          sent.on('error', () => undefined);
          await new Promise((resolve) => setTimeout(resolve, 100));
          sent.destroy();
          await new Promise((resolve) => setTimeout(resolve, 50));
          lock.exec('COMMIT');
          const { seq } = await gateway.wallet(account);
          await until(async () => (await gateway.wallet(account)).seq >= seq + (seq % 2 === 1 ? 2 : 1));
        }
        lock.close();
        await settled(account);
        expect(await gateway.wallet(account)).to.include({ avail: 1_000_000_000n, charged: 0n, held: 0n });
        expect(upstream.calls).to.have.length(before);
      });

      it(`${name}: before the first fragment, the input is charged`, async () => {
        upstream.behave(chatStall());
        const account = await gateway.account();
        for (let round = 1; round <= ROUNDS; round += 1) {
          const openMs = await leaveAt(account, async () => {
            await new Promise((resolve) => setTimeout(resolve, 10));
          });
          expect(openMs).to.be.below(CLOSED_WITHIN_MS);
        }
        await settled(account);
        expect((await gateway.wallet(account)).charged).to.equal(BigInt(ROUNDS) * 500_000n);
      });

      it(`${name}: in mid-stream, what was produced is charged`, async () => {
        // 2000 characters are 500 tokens: 2.5 RUB, and 5 tokens of input.
        upstream.behave(chatStall(['z'.repeat(1000), 'z'.repeat(1000)]));
        const account = await gateway.account();
        for (let round = 1; round <= ROUNDS; round += 1) {
          const openMs = await leaveAt(account, async () => {
            await new Promise((resolve) => setTimeout(resolve, 30));
          });
          expect(openMs).to.be.below(CLOSED_WITHIN_MS);
        }
        await settled(account);
        expect((await gateway.wallet(account)).charged).to.equal(BigInt(ROUNDS) * 2_505_000n);
      });

      it(`${name}: after the last delta, the answer is charged`, async () => {
        upstream.behave(({ response }) => {
          response.writeHead(200, SSE);
          response.write(chatChunk('z'.repeat(2000)));
          response.write(
            `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 5, completion_tokens: 700 } })}\n\n`,
          );
        });
        const account = await gateway.account();
        for (let round = 1; round <= ROUNDS; round += 1) {
          const openMs = await leaveAt(account, async () => {
            await new Promise((resolve) => setTimeout(resolve, 30));
          });
          expect(openMs).to.be.below(CLOSED_WITHIN_MS);
        }
        await settled(account);
        expect((await gateway.wallet(account)).charged).to.equal(BigInt(ROUNDS) * 3_505_000n);
      });
    }
  }

  it('keeps no upstream socket open', async () => {
    upstream.behave(chatStall(['a ']));
    const account = await gateway.account();
    const sent = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const request = open(gateway.url + DIALECTS[0], { key: account.key, body: ask('hi', { stream: true }) });
        request.on('error', () => undefined);
        const response = await responseOf(request);
        response.on('error', () => undefined);
        await new Promise((resolve) => response.once('data', resolve));
        return request;
      }),
    );
    expect(upstream.openSockets()).to.be.at.least(50);
    for (const request of sent) request.destroy();
    await until(() => upstream.openSockets() === 0, 1000);
    await settled(account);
  });
});
