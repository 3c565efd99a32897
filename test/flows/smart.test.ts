// The model `smart` through a whole gateway: which model runs, what is held and charged for it, and what the reply says.
import { expect } from 'chai';
import { SMART_TIERS, type SmartTier } from '../../lib/base/smart-tiers.ts';
import { routeSmart } from '../../lib/calls/smart/route.ts';
import {
  ask,
  CHAT,
  DIALECTS,
  findBilling,
  MESSAGES,
  parseEvents,
  type Reply,
  send,
  until,
} from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { longer } from '../../testkit/long.ts';
import { PRICES, PROMPTS, smartCatalog, TIER_MODELS } from '../../testkit/smart.ts';
import { answerStatus, chatAnswer, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const USAGE = { input: 9, output: 400 };

/** What `USAGE` costs by the price of a tier, in micro-roubles. */
const computeCost = (tier: SmartTier) => BigInt(USAGE.input * PRICES[tier].input + USAGE.output * PRICES[tier].output);

const routeText = (text: string) => routeSmart({ messages: [{ role: 'user', content: [{ type: 'text', text }] }] });

describe('smart', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: smartCatalog(upstream.url) });
  });
  beforeEach(async () => {
    upstream.behave(chatAnswer('Hello there friend.', USAGE));
    account = await gateway.account();
    await useCatalog(smartCatalog(upstream.url));
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function useCatalog(catalog: object): Promise<void> {
    gateway.writeCatalog(catalog);
    expect(await gateway.gateway.reload()).to.equal(true);
  }

  const call = (path: string, text: string, more: object = {}): Promise<Reply> =>
    send(gateway.url + path, { key: account.key, body: ask(text, { model: 'smart', ...more }) });

  /** What a client sees of a call, streamed or not, and what the books say. */
  async function readOutcome(reply: Reply) {
    expect(reply.status, reply.text).to.equal(200);
    const charge = await gateway.store.ledger.charge(String(reply.headers['x-request-id']));
    const events = String(reply.headers['content-type']).startsWith(SSE['content-type']) ? parseEvents(reply.text) : [];
    const bearers =
      events.length > 0 ? events.map(({ data }) => data?.message ?? data?.response ?? data) : [reply.json];
    const routings = [...new Set(bearers.flatMap((data) => JSON.stringify(data?.smart_routing) ?? []))].map((text) =>
      JSON.parse(text),
    );
    const models = new Set(bearers.flatMap((data) => data?.model ?? []));
    return { charge, routings, models: [...models], billing: reply.json?.billing ?? findBilling(events) };
  }

  for (const [at, path] of DIALECTS.entries()) {
    for (const stream of longer([at % 2 === 0], [false, true])) {
      describe(`${path}${stream ? ', streamed' : ''}`, () => {
        for (const tier of SMART_TIERS) {
          it(`runs ${tier} work on its model, at its price`, async () => {
            const { charge, routings, models, billing } = await readOutcome(
              await call(path, PROMPTS[tier], { stream }),
            );
            expect(routings).to.deep.equal([routeText(PROMPTS[tier])]);
            expect(routings[0]).to.include({ tier });
            expect(models).to.deep.equal([TIER_MODELS[tier]]);
            expect(upstream.calls.at(-1)?.body).to.include({ model: `up-${TIER_MODELS[tier]}` });
            const estimate = Math.ceil(Buffer.byteLength(PROMPTS[tier]) / 4) + 4;
            const reserved = BigInt(estimate * PRICES[tier].input + 1000 * PRICES[tier].output);
            expect(charge).to.include({ model: TIER_MODELS[tier], charged: computeCost(tier), reserved });
            expect(JSON.parse(charge?.usage ?? '')).to.include({ model_asked: 'smart', smart_tier: tier });
            expect((await gateway.wallet(account)).charged).to.equal(computeCost(tier));
            if (!billing) return;
            expect(billing).to.include({
              charged_rub: Number(computeCost(tier)) / 1e6,
              reserved_rub: Number(reserved) / 1e6,
              rub_per_mtok_in: PRICES[tier].input,
              rub_per_mtok_out: PRICES[tier].output,
            });
          });
        }

        it('answers to "auto", the same way each time', async () => {
          const first = await readOutcome(await call(path, PROMPTS.heavy, { stream }));
          for (const model of ['auto', 'smart', 'auto']) {
            const { routings, models } = await readOutcome(await call(path, PROMPTS.heavy, { stream, model }));
            expect({ routings, models }).to.deep.equal({ routings: first.routings, models: first.models });
          }
        });

        it('omits routing when a model was named', async () => {
          const reply = await call(path, PROMPTS.heavy, { stream, model: 'small' });
          expect(await readOutcome(reply)).to.deep.include({ routings: [], models: ['small'] });
          expect(reply.text).not.to.contain('smart');
        });

        it('reports routing of a truncated answer', async () => {
          upstream.behave(chatAnswer('a b c', { ...USAGE, reason: 'length' }));
          const reply = await call(path, PROMPTS.lite, { stream, max_tokens: 600 });
          expect(reply.text).to.match(/"(?:max_tokens|length|max_output_tokens)"/);
          expect((await readOutcome(reply)).routings).to.deep.equal([routeText(PROMPTS.lite)]);
        });

        it('tries the next route of the model, never another model', async () => {
          // Names of their own: a route that has failed too often is asked last.
          const names = ['first', 'second'].map((name) => `${name} ${path} ${stream}`);
          const routes = names.map((model) => ({ upstream: 'up', model }));
          await useCatalog(smartCatalog(upstream.url, { model: { routes } }));
          const before = upstream.calls.length;
          upstream.behave((asked) =>
            asked.body.model === names[0] ? answerStatus(500)(asked) : chatAnswer('Hello.', USAGE)(asked),
          );
          const { charge, routings, models } = await readOutcome(await call(path, PROMPTS.heavy, { stream }));
          expect(upstream.calls.slice(before).map(({ body }) => body.model)).to.deep.equal(names);
          expect([models, routings]).to.deep.equal([['big'], [routeText(PROMPTS.heavy)]]);
          expect(charge).to.include({ model: 'big', charged: computeCost('heavy') });
        });

        it('returns the hold when every route of the model fails', async () => {
          upstream.behave(answerStatus(500));
          const reply = await call(path, PROMPTS.standard, { stream });
          expect(reply.text).to.contain('Charge refunded').and.not.to.contain('smart_routing');
          expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
        });
      });
    }

    describe(path, () => {
      const falls: readonly (readonly [off: readonly SmartTier[], asked: SmartTier, runs: SmartTier])[] = [
        [['lite'], 'lite', 'standard'],
        [['lite', 'standard'], 'lite', 'heavy'],
        [['standard'], 'standard', 'heavy'],
        [['heavy'], 'heavy', 'standard'],
        [['standard', 'heavy'], 'standard', 'lite'],
        [['standard', 'heavy'], 'heavy', 'lite'],
      ];
      // Which model runs does not depend on the format.
      for (const [off, asked, runs] of longer(falls.slice(2 * at, 2 * at + 2), falls)) {
        it(`runs ${asked} work on ${runs} while ${off.join(' and ')} has no route`, async () => {
          await useCatalog(smartCatalog(upstream.url, { off }));
          for (const stream of longer([false], [false, true])) {
            const { charge, routings, models, billing } = await readOutcome(
              await call(path, PROMPTS[asked], { stream }),
            );
            expect(routings).to.deep.equal([routeText(PROMPTS[asked])]);
            expect(models).to.deep.equal([TIER_MODELS[runs]]);
            expect(charge).to.include({ model: TIER_MODELS[runs], charged: computeCost(runs) });
            if (billing) expect(billing).to.include({ rub_per_mtok_out: PRICES[runs].output });
          }
        });
      }

      it('is an unknown model if misspelled or without a usable tier', async () => {
        const refused = async (model: string) => {
          const { status, json } = await call(path, 'hi', { model });
          expect([status, json.error.type]).to.deep.equal([400, 'invalid_request_error']);
          expect(json.error.message).to.contain(`Unknown model \`${model}\``);
        };
        for (const model of ['Smart', 'AUTO', 'smart ', 'smart-routing']) await refused(model);
        await useCatalog(smartCatalog(upstream.url, { off: SMART_TIERS }));
        for (const model of ['smart', 'auto']) await refused(model);
        expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
      });

      it('needs the reserve of the model that runs', async () => {
        const more = { max_tokens: 1_000_000 };
        // 32768 tokens at 40000 RUB per million, and 9 at 4000.
        const poor = await call(path, PROMPTS.heavy, more);
        expect(poor.status).to.equal(402);
        expect(poor.json.error.message)
          .to.contain('a reserve of 1310.756 RUB')
          .and.to.contain('balance is 1000.00 RUB');
        expect((await call(path, PROMPTS.heavy, { ...more, stream: true })).status).to.equal(402);
        const { charge } = await readOutcome(await call(path, PROMPTS.lite, more));
        expect(charge?.reserved).to.equal(BigInt(32_768 * 2000 + 12 * 1000));
        expect(upstream.calls.at(-1)?.body).to.include({ model: 'up-small', max_tokens: 32_768 });
      });

      it("holds the tier's price for a call with images, and returns it while no vision model is available", async () => {
        const data = PNG.toString('base64');
        const image =
          path === MESSAGES
            ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
            : { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } };
        for (const content of [[image], [image, { type: 'text', text: PROMPTS.heavy }]]) {
          const reply = await call(path, '', { messages: [{ role: 'user', content }] });
          expect(reply.status).to.equal(502);
          expect(reply.json.error.message).to.equal('Vision backend unavailable. Charge refunded.');
          const charge = await gateway.store.ledger.charge(String(reply.headers['x-request-id']));
          const text = content.length > 1 ? PROMPTS.heavy : '';
          expect(charge).to.include({ model: TIER_MODELS[routeText(text).tier], state: 'released' });
        }
        expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
      });
    });
  }

  it('follows edits of the catalog: other tiers, other thresholds, none at all', async () => {
    const modelNow = async () => (await readOutcome(await call(CHAT, PROMPTS.heavy))).models[0];
    expect(await modelNow()).to.equal('big');
    await useCatalog(smartCatalog(upstream.url, { smart: { heavy: ['small', 'big'] } }));
    expect(await modelNow()).to.equal('small');
    await useCatalog(smartCatalog(upstream.url, { smart: { thresholds: { standard: 1, heavy: 100 } } }));
    const { score } = routeText(PROMPTS.heavy);
    expect(score).to.be.within(1, 99.9);
    expect(await modelNow()).to.equal('middle');
    gateway.writeCatalog(smartCatalog(upstream.url, { smart: { thresholds: { standard: 60, heavy: 40 } } }));
    expect(await gateway.gateway.reload()).to.equal(false);
    expect(await modelNow()).to.equal('middle');
  });

  it('is listed while a tier is usable', async () => {
    const listed = async () => {
      const { json } = await send(`${gateway.url}/api/v1/models`, { key: account.key });
      return json.data.map(({ id }: { id: string }) => id);
    };
    expect(await listed()).to.deep.equal(['small', 'middle', 'big', 'smart']);
    await useCatalog(smartCatalog(upstream.url, { off: ['lite', 'heavy'] }));
    expect(await listed()).to.deep.equal(['middle', 'smart']);
    await useCatalog(smartCatalog(upstream.url, { off: SMART_TIERS }));
    expect(await listed()).to.deep.equal([]);
  });

  it('charges a model without usage of its own by characters', async () => {
    await useCatalog(smartCatalog(upstream.url, { model: { delivery: 'buffered' } }));
    upstream.behave(chatAnswer('word '.repeat(800), { input: 1, output: 1 }));
    for (const stream of [false, true]) {
      const { charge, routings, billing } = await readOutcome(await call(CHAT, PROMPTS.lite, { stream }));
      expect(routings).to.deep.equal([routeText(PROMPTS.lite)]);
      const input = Math.ceil(PROMPTS.lite.length / 4);
      expect(charge?.charged).to.equal(BigInt(input * PRICES.lite.input + 1000 * PRICES.lite.output));
      expect(billing.charged_rub).to.equal(Number(charge?.charged) / 1e6);
    }
  });

  it('leaves tier and score in the log, and nothing of the request', async () => {
    const prompt = `${PROMPTS.heavy} for a secret sauce app`;
    const reply = await call(CHAT, prompt);
    const id = String(reply.headers['x-request-id']);
    const lines = () => readLogLines(gateway);
    const line = () => lines().find((each) => 'smart_tier' in each && JSON.stringify(each).includes(id));
    await until(() => line() !== undefined);
    const { score } = routeText(prompt);
    expect(line()).to.include({ model: 'big', smart_tier: 'heavy', smart_score: score });
    expect(JSON.stringify(lines())).not.to.contain('secret sauce');
  });
});
