// Answers that cost more than was held for them: how far below zero a wallet can come by many at once, on both stores.
import { expect } from 'chai';
import { ask, CHAT, MESSAGES, open, readHead, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import {
  chatAnswer,
  chatChunk,
  chatEnd,
  chatHeld,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

const RUB = 1_000_000n;

/** The upstream may add much to a prompt. */
function buildCatalog(url: string): object {
  const { models, upstreams, ...rest } = chatCatalog(url) as { models: readonly object[]; upstreams: object };
  const proxied = { ...models[0], id: 'proxied', aliases: [], delivery: 'buffered' };
  const able = { upstreamAdditions: 600_000, documents: true };
  const film = { ...models[2], id: 'film', routes: [{ upstream: 'sandbox', model: 'video' }] };
  return {
    ...rest,
    upstreams: { ...upstreams, sandbox: { plugin: 'sandbox' } },
    models: [{ ...models[0], ...able }, ...models.slice(1), proxied, film],
  };
}

for (const kind of longer([SQLITE], STORES)) {
  describe(`overshoot on ${kind.name}`, () => {
    let database: Awaited<ReturnType<typeof kind.create>>;
    let upstream: TestUpstream;
    let gateway: TestGateway;

    before(async function () {
      this.timeout(60_000);
      database = await kind.create();
      upstream = await startUpstream();
      gateway = await startGateway({ catalog: buildCatalog(upstream.url), database: database.url });
    });
    afterEach(() => gateway.checkMoney());
    after(async () => {
      await gateway.stop();
      await upstream.close();
      await database.remove();
    });

    describe('of a model without a cap', () => {
      /** 3 RUB are held for its 512 tokens, and 30 are charged for its 6,000. */
      const LONG = 'word'.repeat(6000);
      const long = (more: object = {}) => ask('hi', { model: 'proxied', max_tokens: 512, ...more });

      it('keeps a wallet of 1000 RUB far from zero however many calls are concurrent', async () => {
        upstream.behave(chatAnswer(LONG));
        const account = await gateway.account('1000');
        const calls = Array.from({ length: longer(60, 300) }, () =>
          send(gateway.url + MESSAGES, { key: account.key, body: long() }),
        );
        const statuses = (await Promise.all(calls)).map(({ status }) => status);
        expect(new Set(statuses)).to.deep.equal(new Set([200, 402]));
        const { avail, charged } = await gateway.wallet(account);
        expect(charged).to.equal(30_001_000n * BigInt(statuses.filter((status) => status === 200).length));
        // One call's 32,768 tokens at most.
        expect(avail > -164n * RUB, `${avail}`).to.equal(true);
      }).timeout(60_000);

      it('needs and shows no more than its reserve if it runs alone', async () => {
        upstream.behave(chatAnswer(LONG));
        const account = await gateway.account('1000');
        const base = { wallet: account.id, at: 1, reason: 'test' } as const;
        const adjust = async (amount: bigint, adjustId: string) => {
          const op = { kind: 'adjust', ...base, amount, adjustId: `${account.id}-${adjustId}` } as const;
          await gateway.store.ledger.apply([op]);
        };
        await adjust(2_561_000n - 1000n * RUB, 'down');
        const { status, json } = await send(gateway.url + CHAT, { key: account.key, body: long() });
        expect(status, JSON.stringify(json)).to.equal(402);
        expect(json.error.message).to.include('a reserve of 2.565 RUB and the balance is 2.561 RUB');
        await adjust(4_000n, 'up');
        const paid = await send(gateway.url + CHAT, { key: account.key, body: long() });
        expect([paid.status, paid.json.billing.reserved_rub, paid.json.billing.charged_rub]).to.deep.equal([
          ...[200, 2.565, 30.001],
        ]);
      });

      it('sets aside what it may cost for as long as it runs', async () => {
        const { behaviour, finish } = chatHeld();
        upstream.behave(behaviour);
        const account = await gateway.account('1000');
        const running = send(gateway.url + CHAT, { key: account.key, body: long({ max_tokens: 1000 }) });
        await until(async () => (await gateway.wallet(account)).held > 0n);
        expect((await gateway.wallet(account)).held).to.equal(5_005_000n);
        // 994.995 RUB are left, and 163.84 of them may be needed: 166,000 tokens at most are 830 RUB.
        const { status, json } = await send(gateway.url + CHAT, {
          key: account.key,
          body: ask('a'.repeat(4 * 800_000), { max_tokens: 8000 }),
        });
        expect(status).to.equal(402);
        expect(json.error.message).to.include('the balance is 831.155 RUB').and.to.include('168.845 RUB');
        finish();
        expect((await running).status).to.equal(200);
        expect((await gateway.wallet(account)).held).to.equal(0n);
      });
    });

    /** A token for each byte, as the worst tokenizer counts them; 60 RUB with its answer. */
    const HOSTILE = '\u0001'.repeat(60_000);

    it('of 30 calls at once with hostile text takes a wallet of 1000 RUB at most a tenth below zero', async () => {
      upstream.behave(chatAnswer('ok', { input: HOSTILE.length, output: 3 }));
      const account = await gateway.account('1000');
      const body = ask(HOSTILE, { max_tokens: 600 });
      const calls = Array.from({ length: 30 }, () => send(gateway.url + MESSAGES, { key: account.key, body }));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(new Set(statuses)).to.deep.equal(new Set([200, 402]));
      const { avail, charged } = await gateway.wallet(account);
      expect(charged).to.equal(60_015_000n * BigInt(statuses.filter((status) => status === 200).length));
      expect(avail > -100n * RUB, `${avail}`).to.equal(true);
    });

    it('of 30 calls at once with a file of one page by our count takes a wallet below zero by one call at most', async () => {
      // 5 RUB are held for the page and the answer, and 200 are charged for what the vendor finds in it.
      upstream.behave(chatAnswer('ok', { input: 200_000, output: 3 }));
      const account = await gateway.account('1000');
      const file_data = `data:application/pdf;base64,${Buffer.from('%PDF-1.4 << /Type /Page >>').toString('base64')}`;
      const content = [{ type: 'file', file: { filename: 'a.pdf', file_data } }];
      const body = { model: 'model-a', max_tokens: 600, messages: [{ role: 'user', content }] };
      const calls = Array.from({ length: 30 }, () => send(gateway.url + CHAT, { key: account.key, body }));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(new Set(statuses)).to.deep.equal(new Set([200, 402]));
      const { avail, charged } = await gateway.wallet(account);
      expect(charged).to.equal(200_015_000n * BigInt(statuses.filter((status) => status === 200).length));
      expect(avail > -201n * RUB, `${avail}`).to.equal(true);
    });

    it('of a running call leaves nothing for others, until it is paid', async () => {
      // 105 RUB are held for 100,000 tokens of input; the upstream says 850,000 before its first word.
      const end = Promise.withResolvers<void>();
      upstream.behave(async ({ response }) => {
        response.writeHead(200, SSE);
        const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 850_000, completion_tokens: 1 } });
        response.write(`data: ${usage}\n\n${chatChunk('Hello')}`);
        await end.promise;
        response.end(chatEnd({ input: 850_000, output: 1 }));
      });
      const account = await gateway.account('1000');
      const body = ask('a'.repeat(400_000 - 16), { max_tokens: 1000, stream: true });
      const running = await readHead(open(gateway.url + MESSAGES, { key: account.key, body }));
      let text = '';
      running.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      await until(() => text.includes('Hello'));

      // 895 RUB are left, and 745.005 of them are used: 850 and one token of output, less the hold.
      const refused = await send(gateway.url + CHAT, { key: account.key, body: ask('hi', { max_tokens: 30_000 }) });
      expect(refused.status).to.equal(402);
      expect(refused.json.error.message).to.include('needs a reserve of 150.005 RUB and the balance is 149.995 RUB');
      expect(refused.json.error.message).to.include('850.005 RUB');
      const film = { model: 'film', prompt: 'hi', seconds: 10 };
      const unpaid = await send(`${gateway.url}/api/v1/videos`, { key: account.key, body: film });
      expect(unpaid.status, JSON.stringify(unpaid.json)).to.equal(402);
      expect(unpaid.json.error.message).to.include('150.00 RUB').and.to.include('the balance is 149.995 RUB');
      upstream.behave(chatAnswer('ok', { input: 5, output: 1 }));
      const admitted = await send(gateway.url + CHAT, { key: account.key, body: ask('hi', { max_tokens: 29_000 }) });
      expect(admitted.status).to.equal(200);

      end.resolve();
      await until(() => text.includes('event: billing'));
      expect(await gateway.wallet(account)).to.include({ held: 0n, avail: 1000n * RUB - 850_005_000n - 500_000n });
    });
  });
}
