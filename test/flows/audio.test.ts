// What calls with recordings hold and cost at a model with a price of audio, on both stores; the audit computes each again.
import { expect } from 'chai';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import type { Charge } from '../../lib/money/decide.ts';
import { parseRub } from '../../lib/money/money.ts';
import {
  type AudioCounts,
  askWithRecording,
  audioCatalog,
  audioChatAnswer,
  audioContentsAnswer,
} from '../../testkit/audio-calls.ts';
import { CHAT, MESSAGES, open, readHead, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { chatChunk, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const rub = (text: string) => parseRub(text) as bigint;
/** 10,000 tokens are estimated for it. */
const RECORDING = 1_000_000;
/** "What is said?" and a message. */
const WORDS = 8n;

for (const kind of longer([SQLITE], STORES)) {
  describe(`calls with recordings: ${kind.name}`, () => {
    let database: StoreDatabase;
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;

    before(async () => {
      database = await kind.create();
      upstream = await startUpstream();
      gateway = await startGateway({ catalog: audioCatalog(upstream.url), database: database.url });
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

    async function call(counts: AudioCounts, { model = 'chat-a', path = CHAT } = {}) {
      upstream.behave(model === 'chat-a' ? audioChatAnswer(counts) : audioContentsAnswer(counts));
      const reply = await send(gateway.url + path, { key: account.key, body: askWithRecording(model, RECORDING) });
      expect(reply.status, reply.text).to.equal(200);
      return { json: reply.json, charge: await chargeOf(reply.headers['x-request-id']) };
    }

    for (const model of ['chat-a', 'contents-a']) {
      it(`charge audio at its price, and say so: ${model}`, async () => {
        const { json, charge } = await call({ prompt: 10_000, audio: 8000, output: 1000 }, { model });
        // 2,000 × 200 + 8,000 × 1,200 + 1,000 × 1,000.
        expect(charge.charged).to.equal(rub('11'));
        expect(usageOf(charge)).to.deep.equal({ tokens_input: 2000, tokens_audio: 8000, tokens_output: 1000 });
        expect(json.billing).to.include({ charged_rub: 11, rub_per_mtok_in: 200, rub_per_mtok_audio: 1200 });
        expect(json.usage).to.deep.equal({
          prompt_tokens: 10_000,
          completion_tokens: 1000,
          total_tokens: 11_000,
          prompt_tokens_details: { cached_tokens: 0, audio_tokens: 8000 },
        });
      });

      it(`charge no more audio than the prompt has beside what was read: ${model}`, async () => {
        const { charge } = await call({ prompt: 10_000, audio: 1e9, read: 4000, output: 1000 }, { model });
        expect(usageOf(charge)).to.deep.equal({
          ...{ tokens_input: 0, tokens_audio: 6000, tokens_cache_read: 4000, tokens_output: 1000 },
        });
        expect(charge.charged).to.equal(rub('8.28'));
      });

      for (const audio of [undefined, 0, -5, 'many', null, Number.NaN]) {
        it(`charge the input price if no audio is counted: ${audio}, ${model}`, async () => {
          const { json, charge } = await call({ prompt: 10_000, audio, output: 1000 }, { model });
          expect(charge.charged).to.equal(rub('3'));
          expect(usageOf(charge)).to.deep.equal({ tokens_input: 10_000, tokens_output: 1000 });
          expect(json.billing).to.not.have.any.keys('rub_per_mtok_audio');
        });
      }
    }

    it('count audio as input in the messages format', async () => {
      const { json } = await call({ prompt: 10_000, audio: 8000, output: 1000 }, { path: MESSAGES });
      expect(json.usage).to.deep.equal({ input_tokens: 10_000, output_tokens: 1000 });
    });

    it('hold the price of audio for the recordings, and the input price for the rest', async () => {
      const { charge } = await call({ prompt: 10_000, audio: 8000, output: 1000 });
      expect(charge.reserved).to.equal(WORDS * 200n + 10_000n * 1200n + 2000n * 1000n);
    });

    it('set the price of audio aside for what a vendor may count above that', async () => {
      const refused = async (max_cost_rub: number) => {
        upstream.behave(audioChatAnswer({ prompt: 10_000, audio: 8000, output: 1000 }));
        const body = askWithRecording('chat-a', RECORDING, { max_cost_rub });
        return (await send(gateway.url + CHAT, { key: account.key, body })).status;
      };
      // 14.0016 held, and 190,000 × 1,200.
      expect([await refused(242.001), await refused(242.002)]).to.deep.equal([402, 200]);
    });

    it('bill the recordings of a client that leaves before the vendor has counted', async () => {
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        response.write(chatChunk('Hello '));
      });
      const sent = open(gateway.url + CHAT, {
        key: account.key,
        body: askWithRecording('chat-a', RECORDING, { stream: true }),
      });
      const head = await readHead(sent);
      await new Promise((resolve) => head.once('data', resolve));
      const id = head.headers['x-request-id'];
      sent.destroy();
      await until(async () => (await chargeOf(id)).state === 'settled');
      const charge = await chargeOf(id);
      expect(usageOf(charge)).to.include({ tokens_input: Number(WORDS), tokens_audio: 10_000, ended: 'gone' });
      expect(charge.charged > rub('12')).to.equal(true);
    });

    it('record the overshoot of audio that nobody sent', async () => {
      upstream.behave(audioChatAnswer({ prompt: 10_000, audio: 8000, output: 10 }));
      const messages = [{ role: 'user', content: 'word '.repeat(8000) }];
      const body = { model: 'chat-a', max_tokens: 2000, messages };
      const reply = await send(gateway.url + CHAT, { key: account.key, body });
      const charge = await chargeOf(reply.headers['x-request-id']);
      expect(charge.charged).to.equal(rub('10.01'));
      const entries = await gateway.store.ledger.listChargeEntries(charge.id);
      expect(entries.at(-1)?.overshoot).to.equal(charge.charged - charge.reserved);
    });

    it('pay the vendor what it asks for audio', async () => {
      const cost = { currency: 'USD', input: '0.25', audio: '0.5', output: '1.5' };
      const routes = [{ upstream: 'chat', model: 'c', cost }];
      const models = [{ id: 'chat-a', type: 'text', provider: 'Test', audio: true, price: { markup: '1.5' }, routes }];
      gateway.writeCatalog(audioCatalog(upstream.url, { models }));
      expect(await gateway.gateway.reload()).to.equal(true);
      const { json, charge } = await call({ prompt: 500_000, audio: 400_000, output: 1000 });
      // 0.025 + 0.2 + 0.0015 dollars at 100 roubles, and half as much again.
      expect([charge.charged, json.billing.rub_per_mtok_audio]).to.deep.equal([rub('33.975'), 75]);
      const [attempt] = await gateway.store.attempts.list([charge.id]);
      expect(attempt?.cost?.costRub).to.equal(rub('22.65'));
      gateway.writeCatalog(audioCatalog(upstream.url));
      expect(await gateway.gateway.reload()).to.equal(true);
    });

    it('add audio up in the usage', async () => {
      const { id, key } = await gateway.account('1000');
      upstream.behave(audioChatAnswer({ prompt: 10_000, audio: 8000, output: 10 }));
      for (let at = 0; at < 2; at += 1) await send(gateway.url + CHAT, { key, body: askWithRecording('chat-a', 100) });
      await foldUsage(gateway.store, id);
      const [text] = await gateway.store.usage.sums(id, { by: 'kind' });
      expect(text).to.include({ tokensInput: 4000, tokensAudio: 16_000, tokensOutput: 20 });
    });
  });
}
