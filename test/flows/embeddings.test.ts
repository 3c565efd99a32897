// Embeddings through a whole gateway: replies, money, routes, clients that leave, repeats, and who may use what.
import { expect } from 'chai';
import { readUsage } from '../../lib/ledger/usage-fold.ts';
import { open, type Reply, send, until } from '../../testkit/client.ts';
import { EMBEDDINGS, embedAnswer, embeddingCatalog } from '../../testkit/embeddings.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { itTimed } from '../../testkit/timed.ts';
import { answerStatus, type Behaviour, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const RUB = 1_000_000n;
const MINIMUM = RUB / 2n;
/** From the moment the client leaves; the machine may be busy. */
const CLOSED_MS_MAX = 100;

for (const kind of longer([SQLITE], STORES)) {
  /** What no store takes part in. */
  const itOnce = kind === SQLITE ? it : itLong;
  const itTimedOnce = kind === SQLITE ? itTimed : itLong;
  describe(`embeddings on ${kind.name}`, () => {
    let database: StoreDatabase;
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;

    before(async () => {
      database = await kind.create();
      upstream = await startUpstream();
      gateway = await startGateway({ catalog: embeddingCatalog(upstream.url), database: database.url });
    });
    beforeEach(async () => {
      upstream.calls.length = 0;
      upstream.behave(embedAnswer());
      account = await gateway.account();
    });
    afterEach(() => gateway.checkMoney());
    after(async () => {
      await gateway.stop();
      await upstream.close();
      await database.remove();
    });

    const embed = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
      send(gateway.url + EMBEDDINGS, { key: account.key, headers, body: { model: 'embed-a', input: 'hi', ...body } });
    const charged = async () => (await gateway.wallet(account)).charged;
    /** The only call of the account. */
    const onlyCharge = async () => (await gateway.store.ledger.charges(account.id, { limit: 10 }))[0];

    it('answers in the shape of the format, with its billing', async () => {
      const { status, json, headers } = await embed({ input: ['one', 'two'], user: 'u', unknown: {} });
      expect(status).to.equal(200);
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(headers['x-request-id']).to.be.a('string');
      expect(json).to.deep.equal({
        object: 'list',
        data: [
          { object: 'embedding', index: 0, embedding: [0, 0.25, 0.5] },
          { object: 'embedding', index: 1, embedding: [1, 1.25, 1.5] },
        ],
        model: 'embed-a',
        usage: { prompt_tokens: 7, total_tokens: 7 },
        billing: {
          charged_rub: 0.5,
          reserved_rub: 0.5,
          balance_rub: 999.5,
          unit: '1M_tokens',
          rub_per_mtok_in: 1000,
          rub_per_mtok: 1000,
        },
      });
      const [{ body }] = upstream.calls as [(typeof upstream.calls)[number]];
      expect(body).to.deep.equal({ model: 'up-embed', input: ['one', 'two'], encoding_format: 'base64' });
      const charge = await onlyCharge();
      expect(charge).to.include({ kind: 'embedding', model: 'embed-a', prices: '{"input":"1000000000"}' });
      expect(charge?.usage).to.equal('{"tokens_input":7}');
    });

    it('encodes as base64 what comes as numbers, and the other way round', async () => {
      upstream.behave(embedAnswer({ vectors: [[0.1, -2, 3e-7]] }));
      const { json } = await embed({ model: 'ea', encoding_format: 'base64' });
      const bytes = Buffer.from(json.data[0].embedding, 'base64');
      const floats = [0, 4, 8].map((at) => bytes.readFloatLE(at));
      expect(floats).to.deep.equal([0.1, -2, 3e-7].map(Math.fround));
      expect((await embed({ encoding_format: null })).json.data[0].embedding).to.deep.equal([0.1, -2, 3e-7]);
    });

    it('passes the length of vectors on', async () => {
      expect((await embed({ dimensions: 2 })).json.data[0].embedding).to.deep.equal([0, 0.25]);
      expect(upstream.calls[0]?.body.dimensions).to.equal(2);
    });

    it('charges the counted tokens at the input price, once rounded, and at least the minimum', async () => {
      const long = 'word '.repeat(4000);
      for (const [tokens, cost] of [
        [1, MINIMUM],
        [499, MINIMUM],
        [501, 501_000n],
        [4321, 4_321_000n],
      ] as const) {
        const before = await charged();
        upstream.behave(embedAnswer({ tokens }));
        const { json } = await embed({ input: long });
        expect((await charged()) - before).to.equal(cost);
        expect(json.usage.prompt_tokens).to.equal(tokens);
        expect(json.billing.charged_rub).to.equal(Number(cost) / 1e6);
      }
    });

    it('bills an estimate of what was not counted', async () => {
      const text = 'A lighthouse stands on a rock. '.repeat(200);
      const costs: bigint[] = [];
      for (const tokens of [null, 0, -5, 1e300]) {
        const before = await charged();
        upstream.behave(embedAnswer({ tokens }));
        expect((await embed({ input: text })).status).to.equal(200);
        costs.push((await charged()) - before);
      }
      const [first = 0n] = costs;
      expect(new Set(costs).size).to.equal(1);
      // Seven tokens a sentence.
      expect(Number(first) / 1000).to.be.within(1200, 2000);
    });

    it('bills an absurd count at the most that it believes', async () => {
      upstream.behave(embedAnswer({ tokens: 10_000_000 }));
      const { json } = await embed({ input: 'A lighthouse stands on a rock. '.repeat(200) });
      const { prompt_tokens: tokens } = json.usage;
      expect(tokens).to.be.within(3 * 1400, 3 * 2000);
      expect(await charged()).to.equal(BigInt(tokens) * 1000n);
    });

    it('believes up to three times its own count, even above the hold', async () => {
      const text = 'A lighthouse stands on a rock. '.repeat(200);
      upstream.behave(embedAnswer({ tokens: 4500 }));
      const { json } = await embed({ input: text });
      expect(await charged()).to.equal(4_500_000n);
      expect(json.billing.reserved_rub).to.be.below(4.5);
    });

    it('refuses what the wallet cannot pay before any upstream is asked', async () => {
      const poor = await gateway.account('1000');
      await gateway.store.ledger.apply([
        { kind: 'adjust', wallet: poor.id, at: Date.now(), amount: -999n * RUB, reason: 'test', adjustId: poor.id },
      ]);
      const body = { model: 'embed-a', input: 'word '.repeat(4000) };
      const { status, json } = await send(gateway.url + EMBEDDINGS, { key: poor.key, body });
      expect(status).to.equal(402);
      expect(json.error).to.include({ type: 'billing_error', code: 'insufficient_balance' });
      expect(json.error.message).to.match(/needs a reserve of [\d.]+ RUB and .* or send fewer texts\.$/);
      expect(upstream.calls).to.have.length(0);
    });

    it('asks the next route when one fails, and charges once', async () => {
      upstream.behave((call) =>
        (call.body.model === 'up-embed' ? answerStatus(500) : embedAnswer({ tokens: 900 }))(call),
      );
      expect((await embed({})).status).to.equal(200);
      expect(upstream.calls.map(({ body }) => [body.model, body.encoding_format])).to.deep.equal([
        ['up-embed', 'base64'],
        ['other-embed', 'float'],
      ]);
      expect(await charged()).to.equal(MINIMUM);
    });

    const failures: readonly (readonly [name: string, behaviour: Behaviour, asked: number])[] = [
      ['all routes fail', answerStatus(503), 2],
      ['the request itself is refused', answerStatus(400, { error: { message: 'too bad', code: 'x' } }), 1],
      ['there are too few vectors', embedAnswer({ vectors: [] }), 2],
      ['there are too many vectors', embedAnswer({ vectors: [[1], [2]] }), 2],
      ['a vector has null', embedAnswer({ vectors: [[1, null, 2]] }), 2],
      ['a vector has words', embedAnswer({ vectors: [['1', '2', '3']] }), 2],
      ['a vector is empty', embedAnswer({ vectors: [[]] }), 2],
      [
        'base64 has NaN',
        embedAnswer({ vectors: [Buffer.from(Float32Array.of(Number.NaN).buffer).toString('base64')] }),
        2,
      ],
      ['the reply is no JSON', ({ response }) => void response.end('<html>'), 2],
      ['the connection breaks', ({ response }) => void response.socket?.destroy(), 2],
    ];
    for (const [name, behaviour, asked] of failures) {
      itOnce(`refunds when ${name}`, async () => {
        upstream.behave(behaviour);
        const { status, json, text } = await embed({});
        expect(status).to.equal(502);
        expect(json.error).to.include({ type: 'api_error', code: 'upstream_error' });
        expect(json.error.message).to.match(/Charge refunded/);
        expect(text).to.not.include('too bad');
        expect(upstream.calls).to.have.length(asked);
        expect(await charged()).to.equal(0n);
        expect(await onlyCharge()).to.include({ state: 'released' });
      });
    }

    it('is a failure when the length asked for is not what comes', async () => {
      upstream.behave(embedAnswer({ vectors: [[1, 2, 3]] }));
      expect((await embed({ model: 'embed-open', dimensions: 2 })).status).to.equal(502);
    });

    itTimedOnce('closes the upstream when the client leaves, and charges the estimated input', async () => {
      upstream.behave(() => undefined);
      const arrived = upstream.nextCall();
      const body = { model: 'embed-a', input: 'A lighthouse stands on a rock. '.repeat(500) };
      const sent = open(gateway.url + EMBEDDINGS, { key: account.key, body });
      sent.on('error', () => undefined);
      const call = await arrived;
      const leftAt = performance.now();
      sent.destroy();
      expect((await call.closed) - leftAt).to.be.below(CLOSED_MS_MAX);
      await until(async () => (await gateway.wallet(account)).held === 0n);
      expect(Number(await charged()) / 1000).to.be.within(3000, 5000);
      expect(upstream.calls).to.have.length(1);
    });

    it('gives a repeat the first answer without a second charge', async () => {
      const key = { 'idempotency-key': 'order-1' };
      const first = await embed({ input: ['a', 'b'] }, key);
      const again = await embed({ input: ['a', 'b'] }, key);
      expect(again.text).to.equal(first.text);
      expect(again.headers['idempotent-replayed']).to.equal('true');
      expect((await embed({ input: ['a'] }, key)).status).to.equal(422);
      expect(await charged()).to.equal(MINIMUM);
      expect(upstream.calls).to.have.length(1);
    });

    it('frees the key of a repeat when the call failed', async () => {
      const key = { 'idempotency-key': 'order-2' };
      upstream.behave(answerStatus(500));
      expect((await embed({}, key)).status).to.equal(502);
      upstream.behave(embedAnswer());
      expect((await embed({}, key)).status).to.equal(200);
      expect(await charged()).to.equal(MINIMUM);
    });

    itOnce('takes 2,048 texts and a text of megabytes, over the thread that parses long bodies', async () => {
      const many = Array.from({ length: 2048 }, (_, at) => `text number ${at} `.repeat(10));
      upstream.behave(embedAnswer({ tokens: 60_000 }));
      const { json } = await embed({ input: many });
      expect(json.data).to.have.length(2048);
      expect(json.data[2047]).to.deep.equal({ object: 'embedding', index: 2047, embedding: [2047, 2047.25, 2047.5] });
      expect(upstream.calls[0]?.body.input).to.deep.equal(many);
      const long = 'мир и 😀 '.repeat(300_000);
      upstream.behave(embedAnswer({ tokens: 900_000 }));
      account = await gateway.account('100000');
      expect((await embed({ input: long })).status).to.equal(200);
      expect(upstream.calls[1]?.body.input).to.deep.equal([long]);
    });

    itOnce('passes tokens on to a model that takes them', async () => {
      expect((await embed({ model: 'embed-tokens', input: [1, 2, 3] })).status).to.equal(200);
      expect(upstream.calls[0]?.body.input).to.deep.equal([[1, 2, 3]]);
      upstream.behave(embedAnswer({ tokens: null }));
      expect((await embed({ model: 'embed-tokens', input: [[1, 2], [3]] })).json.usage.prompt_tokens).to.equal(3);
    });

    itOnce('writes a long reply piece by piece, whole and correct', async () => {
      const vector = Array.from({ length: 4000 }, (_, at) => Math.fround(Math.sin(at)));
      upstream.behave(embedAnswer({ vectors: Array(60).fill(vector) }));
      const { json, headers, text } = await embed({ model: 'embed-open', input: Array(60).fill('x') });
      expect(text.length).to.be.above(3_000_000);
      expect(headers).to.not.have.property('content-length');
      expect(json.data).to.have.length(60);
      expect(json.data[59].embedding).to.deep.equal(vector);
      expect(json.billing.charged_rub).to.equal(0.5);
      const coded = await embed({ model: 'embed-open', input: Array(60).fill('x'), encoding_format: 'base64' });
      expect(Buffer.from(coded.json.data[59].embedding, 'base64').readFloatLE(4)).to.equal(vector[1]);
    });

    it('leaves nothing held when the client of a long reply leaves', async () => {
      const vector = Array.from({ length: 4000 }, (_, at) => Math.sin(at));
      upstream.behave(embedAnswer({ vectors: Array(150).fill(vector) }));
      const sent = open(gateway.url + EMBEDDINGS, {
        key: account.key,
        body: { model: 'embed-open', input: Array(150).fill('x') },
      });
      sent.on('error', () => undefined);
      await new Promise<void>((resolve) => sent.once('response', (response) => response.once('data', () => resolve())));
      sent.destroy();
      await until(async () => (await gateway.wallet(account)).held === 0n);
      expect(await charged()).to.equal(MINIMUM);
    });

    it('counts in the usage', async () => {
      await embed({});
      const { rows } = await readUsage(gateway.store, account.id, { by: 'kind', filter: {} });
      expect(rows.map(({ group, calls, units }) => [group, calls, units.tokens_input])).to.deep.equal([
        ['embedding', 1, 7],
      ]);
    });
  });
}
