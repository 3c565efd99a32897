// What calls with cached tokens and long prompts hold and cost, on both stores; the audit computes each of them again.
import { expect } from 'chai';
import type { Charge } from '../../lib/money/decide.ts';
import { parseRub } from '../../lib/money/money.ts';
import {
  type ChatCounts,
  cacheCatalog,
  cachedChatAnswer,
  cachedChatEnd,
  cachedMessageAnswer,
  type MessageCounts,
} from '../../testkit/cached-calls.ts';
import { CHAT, findBilling, MESSAGES, open, parseEvents, readHead, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { chatChunk, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const rub = (text: string) => parseRub(text) as bigint;
const CACHE_KEYS = ['rub_per_mtok_cache_read', 'rub_per_mtok_cache_write', 'rub_per_mtok_cache_write_1h'];

for (const kind of longer([SQLITE], STORES)) {
  describe(`calls with cached tokens: ${kind.name}`, () => {
    let database: StoreDatabase;
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;

    before(async () => {
      database = await kind.create();
      upstream = await startUpstream();
      gateway = await startGateway({ catalog: cacheCatalog(upstream.url), database: database.url });
      account = await gateway.account('100000');
    });
    afterEach(() => gateway.checkMoney());
    after(async () => {
      await gateway.stop();
      await upstream.close();
      await database.remove();
    });

    const chargeOf = async (id: unknown) => (await gateway.store.ledger.charge(String(id))) as Charge;
    const usageOf = ({ usage }: Charge) => JSON.parse(usage ?? '{}');
    const body = (model: string, more: object = {}) => ({
      model,
      max_tokens: 2000,
      messages: [{ role: 'user', content: 'Hello there' }],
      ...more,
    });

    async function chat(counts: ChatCounts) {
      upstream.behave(cachedChatAnswer(counts));
      const reply = await send(gateway.url + CHAT, { key: account.key, body: body('chat-a') });
      expect(reply.status, reply.text).to.equal(200);
      return { billing: reply.json.billing, charge: await chargeOf(reply.headers['x-request-id']) };
    }

    async function message(counts: MessageCounts, more: object = {}) {
      upstream.behave(cachedMessageAnswer(counts));
      const sent = body('message-a', { stream: true, ...more });
      const reply = await send(gateway.url + MESSAGES, { key: account.key, body: sent });
      expect(reply.status, reply.text).to.equal(200);
      const billing = findBilling(parseEvents(reply.text)) as Record<string, unknown>;
      return { billing, charge: await chargeOf(reply.headers['x-request-id']) };
    }

    it('charges each kind of token at its price, and says which prices counted', async () => {
      const counts = { prompt: 100_000, read: 80_000, written: 10_000, output: 1000, reasoning: 700 };
      const { billing, charge } = await chat(counts);
      // 10,000 × 200 + 80,000 × 20 + 10,000 × 250 + 1,000 × 1,000.
      expect(charge.charged).to.equal(rub('7.1'));
      expect(usageOf(charge)).to.deep.equal({
        tokens_input: 10_000,
        tokens_cache_read: 80_000,
        tokens_cache_write: 10_000,
        tokens_output: 1000,
        tokens_reasoning: 700,
      });
      expect(billing).to.include({
        charged_rub: 7.1,
        rub_per_mtok_in: 200,
        rub_per_mtok_out: 1000,
        rub_per_mtok: 200,
        rub_per_mtok_cache_read: 20,
        rub_per_mtok_cache_write: 250,
      });
      expect(billing).not.to.have.any.keys('rub_per_mtok_cache_write_1h');
    });

    it('charges writes for five minutes and for an hour apart', async () => {
      const { billing, charge } = await message({ input: 100, read: 1000, minutes: 2000, hour: 30_000, output: 500 });
      // 0.02 + 0.02 + 0.5 + 12 + 0.5.
      expect(charge.charged).to.equal(rub('13.04'));
      expect(usageOf(charge)).to.deep.equal({
        tokens_input: 100,
        tokens_cache_read: 1000,
        tokens_cache_write: 2000,
        tokens_cache_write_1h: 30_000,
        tokens_output: 500,
      });
      expect(billing).to.include({ rub_per_mtok_cache_write: 250, rub_per_mtok_cache_write_1h: 400 });
    });

    it('says nothing of caches where none was used', async () => {
      const { billing, charge } = await chat({ prompt: 10_000, output: 10 });
      expect(usageOf(charge)).to.deep.equal({ tokens_input: 10_000, tokens_output: 10 });
      expect(charge.charged).to.equal(rub('2.01'));
      expect(billing).not.to.have.any.keys(...CACHE_KEYS);
    });

    it('chooses the band by the whole prompt, for all tokens', async () => {
      const below = await chat({ prompt: 200_000, read: 199_000, output: 1000 });
      expect(below.charge.charged).to.equal(rub('5.18'));
      expect(below.billing).to.include({ rub_per_mtok_in: 200, rub_per_mtok_cache_read: 20, rub_per_mtok_out: 1000 });
      const above = await chat({ prompt: 200_001, read: 199_000, written: 1, output: 1000 });
      // 1,000 × 400 + 199,000 × 40 + 1 × 400, as the band has no price of writing, + 1,000 × 1,500.
      expect(above.charge.charged).to.equal(rub('9.8604'));
      expect(above.billing).to.include({
        rub_per_mtok_in: 400,
        rub_per_mtok: 400,
        rub_per_mtok_cache_read: 40,
        rub_per_mtok_cache_write: 400,
        rub_per_mtok_out: 1500,
      });
    });

    it('keeps the minimum', async () => {
      const { charge } = await chat({ prompt: 20_000, read: 20_000, output: 10 });
      expect(charge.charged).to.equal(rub('0.5'));
      expect(usageOf(charge)).to.deep.equal({ tokens_input: 0, tokens_cache_read: 20_000, tokens_output: 10 });
    });

    it('holds the price of writing only where the request has markers', async () => {
      const text = 'word '.repeat(40_000);
      const held = async (cache?: object) => {
        const content = [{ type: 'text', text, ...(cache && { cache_control: cache }) }];
        const more = { messages: [{ role: 'user', content }] };
        return (await message({ input: 1, output: 1 }, more)).charge.reserved;
      };
      const plain = await held();
      // 50,000 tokens of text and 4 of the message; 2,000 of the answer at 1,000.
      const expected = (input: bigint) => 50_004n * input + 2000n * 1000n;
      expect(plain).to.equal(expected(200n));
      expect(await held({ type: 'ephemeral' })).to.equal(expected(250n));
      expect(await held({ type: 'ephemeral', ttl: '1h' })).to.equal(expected(400n));
    });

    it('holds at the prices of the band that the prompt may reach', async () => {
      const hold = async (words: number) => {
        const more = { messages: [{ role: 'user', content: 'word '.repeat(words) }] };
        return (await message({ input: 1, output: 1 }, more)).charge.reserved;
      };
      // A tenth and 512 more than 181,254 reach above 199,891; more than 181,359 reach above 200,000.
      expect(await hold(145_000)).to.equal(181_254n * 200n + 2000n * 1000n);
      expect(await hold(145_100)).to.equal(181_379n * 400n + 2000n * 1500n);
    });

    it('charges the prices of the hold, whatever the catalog says when the answer ends', async () => {
      const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
      upstream.behave(async ({ response }) => {
        response.writeHead(200, SSE);
        response.write(chatChunk('first '));
        await finished;
        response.end(chatChunk('last.') + cachedChatEnd({ prompt: 300_000, read: 300_000, output: 1000 }));
      });
      const asked = upstream.nextCall();
      const replied = send(gateway.url + CHAT, { key: account.key, body: body('chat-a') });
      await asked;
      gateway.writeCatalog(cacheCatalog(upstream.url, { input: '1', output: '1' }));
      expect(await gateway.gateway.reload()).to.equal(true);
      finish();
      const reply = await replied;
      expect((await chargeOf(reply.headers['x-request-id'])).charged).to.equal(rub('13.5'));
      gateway.writeCatalog(cacheCatalog(upstream.url));
      expect(await gateway.gateway.reload()).to.equal(true);
    });

    it('charges a client that leaves for what the vendor has counted by then', async () => {
      upstream.behave(({ response }) => {
        const usage = { input_tokens: 7, cache_read_input_tokens: 100_000, output_tokens: 1 };
        const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage };
        const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
        const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello ' } };
        response.writeHead(200, SSE);
        for (const event of [{ type: 'message_start', message }, block, delta])
          response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      });
      const sent = open(gateway.url + MESSAGES, {
        key: account.key,
        body: body('message-a', { stream: true }),
      });
      const head = await readHead(sent);
      await new Promise((resolve) => head.once('data', resolve));
      const id = head.headers['x-request-id'];
      sent.destroy();
      await until(async () => (await chargeOf(id)).state === 'settled');
      const charge = await chargeOf(id);
      expect(usageOf(charge)).to.include({ tokens_input: 7, tokens_cache_read: 100_000, ended: 'gone' });
      // 100,000 × 20 + 7 × 200 + the few tokens of the text × 1,000.
      expect(charge.charged).to.equal(rub('2.0014') + BigInt(usageOf(charge).tokens_output) * 1000n);
    });

    it('gives a refunded call back whole, and counts its tokens no more', async () => {
      const { charge } = await chat({ prompt: 100_000, read: 80_000, output: 1000 });
      const before = (await gateway.wallet(account)).avail;
      const op = { kind: 'refund', wallet: account.id, chargeId: charge.id, at: Date.now() } as const;
      const [outcome] = await gateway.store.ledger.apply([op]);
      expect(outcome?.status).to.equal('done');
      expect((await gateway.wallet(account)).avail - before).to.equal(charge.charged);
    });

    it('records the overshoot of a write that nobody asked for', async () => {
      const { charge } = await message({ input: 0, hour: 100_000, output: 10 });
      expect(charge.charged).to.equal(rub('40.01'));
      const entries = await gateway.store.ledger.listChargeEntries(charge.id);
      expect(entries.at(-1)?.overshoot).to.equal(charge.charged - charge.reserved);
    });
  });
}
