// The client leaves at every stage: the upstream socket closes within 100 ms, and exactly what was produced is charged.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ask, DIALECTS, MESSAGES, open, readHead, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';
import {
  chatChunk,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
  type UpstreamCall,
} from '../../testkit/upstream.ts';

const ROUNDS = 5;
/** Rounds that take their time. */
const LOCKED_ROUNDS = 2;
const CLOSED_WITHIN_MS = 100;
/** What one of them may take when the machine does something else. */
const CLOSED_MS_MAX = 2000;

function expectClosedSoon(rounds: readonly number[]): void {
  const sorted = [...rounds].sort((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length / 2)]).to.be.below(CLOSED_WITHIN_MS);
  expect(sorted.at(-1)).to.be.below(CLOSED_MS_MAX);
}

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
      // What is not streamed is the same text in every dialect.
      const itHere = stream || path === MESSAGES ? it : itLong;
      const itLocked = stream || path === MESSAGES ? itOnSqlite : itLong;

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

      itHere(`${name}: before the hold, nothing happens`, async () => {
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
        await sleep(50);
        expect(await gateway.wallet(account)).to.include({ avail: 1_000_000_000n, charged: 0n, held: 0n });
      });

      itLocked(`${name}: during the hold, the hold goes back and no upstream is asked`, async function () {
        this.timeout(60_000);
        const account = await gateway.account();
        const before = upstream.calls.length;
        const lock = new DatabaseSync(gateway.databaseUrl.slice('sqlite:'.length), { timeout: 10_000 });
        const { listener } = gateway.gateway.server;
        try {
          for (let round = 0; round < LOCKED_ROUNDS; round += 1) {
            lock.exec('BEGIN IMMEDIATE');
            const taken = once(listener, 'request');
            const sent = open(gateway.url + path, { key: account.key, body: body('hi') });
            sent.on('error', () => undefined);
            const [, response] = (await taken) as [unknown, ServerResponse];
            // The key is known after the first round; then nothing but the hold waits for the lock.
            await sleep(100);
            const gone = once(response, 'close');
            sent.destroy();
            await gone;
            lock.exec('COMMIT');
            await settled(account);
          }
        } finally {
          lock.close();
        }
        // Entries are the payment, then a hold and its release for each call that came so far.
        await until(async () => {
          const { seq, held } = await gateway.wallet(account);
          return seq > 1 && seq % 2 === 1 && held === 0n;
        });
        await sleep(100);
        await settled(account);
        expect(await gateway.wallet(account)).to.include({ avail: 1_000_000_000n, charged: 0n, held: 0n });
        expect(upstream.calls).to.have.length(before);
      });

      itHere(`${name}: before the first fragment, the input is charged`, async () => {
        upstream.behave(chatStall());
        const account = await gateway.account();
        const openTimes: number[] = [];
        for (let round = 1; round <= ROUNDS; round += 1) {
          const openMs = await leaveAt(account, async () => {
            await sleep(10);
          });
          openTimes.push(openMs);
        }
        expectClosedSoon(openTimes);
        await settled(account);
        expect((await gateway.wallet(account)).charged).to.equal(BigInt(ROUNDS) * 500_000n);
      });

      itHere(`${name}: in mid-stream, what was produced is charged`, async () => {
        // 2000 characters are 500 tokens: 2.5 RUB, and 5 tokens of input.
        upstream.behave(chatStall([' word'.repeat(250), ' word'.repeat(250)]));
        const account = await gateway.account();
        const openTimes: number[] = [];
        for (let round = 1; round <= ROUNDS; round += 1) {
          const openMs = await leaveAt(account, async () => {
            await sleep(30);
          });
          openTimes.push(openMs);
        }
        expectClosedSoon(openTimes);
        await settled(account);
        expect((await gateway.wallet(account)).charged).to.equal(BigInt(ROUNDS) * 2_505_000n);
      });

      itHere(`${name}: after the last delta, the answer is charged`, async () => {
        upstream.behave(({ response }) => {
          response.writeHead(200, SSE);
          response.write(chatChunk(' word'.repeat(500)));
          response.write(
            `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 5, completion_tokens: 700 } })}\n\n`,
          );
        });
        const account = await gateway.account();
        const openTimes: number[] = [];
        for (let round = 1; round <= ROUNDS; round += 1) {
          const openMs = await leaveAt(account, async () => {
            await sleep(30);
          });
          openTimes.push(openMs);
        }
        expectClosedSoon(openTimes);
        await settled(account);
        expect((await gateway.wallet(account)).charged).to.equal(BigInt(ROUNDS) * 3_505_000n);
      });
    }
  }

  it('keeps no upstream socket open', async () => {
    upstream.behave(chatStall(['a ']));
    const account = await gateway.account();
    const sent = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const request = open(gateway.url + DIALECTS[0], { key: account.key, body: ask('hi', { stream: true }) });
        request.on('error', () => undefined);
        const response = await readHead(request);
        response.on('error', () => undefined);
        await new Promise((resolve) => response.once('data', resolve));
        return request;
      }),
    );
    expect(upstream.openSockets()).to.be.at.least(20);
    for (const request of sent) request.destroy();
    await until(() => upstream.openSockets() === 0);
    await settled(account);
  });
});
