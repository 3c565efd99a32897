// How calls for images end when somebody leaves, when many come at once, and when the gateway itself fails or stops.
import type { ClientRequest } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { open, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS, imageAnswer, imageCatalog } from '../../testkit/images.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';
import { itTimed } from '../../testkit/timed.ts';
import { answerStatus, type Behaviour, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const RUB = 1_000_000n;
const PRICE = 10n * RUB;
const body = { model: 'draw', prompt: 'a hill', image: `data:image/png;base64,${PNG.toString('base64')}` };
/** From the moment the client leaves; the machine may be busy. */
const CLOSED_MS_MAX = 100;

describe('how image calls end', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: imageCatalog(upstream.url) });
  });
  beforeEach(async () => {
    upstream.calls.length = 0;
    upstream.behave(imageAnswer(PNG));
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** A call whose client may leave. */
  function begin(path: string): ClientRequest {
    const sent = open(gateway.url + path, { key: account.key, body });
    sent.on('error', () => undefined);
    return sent;
  }
  /** Leaves it with what belongs to nobody any more. */
  const settled = async () => {
    await until(async () => (await gateway.wallet(account)).held === 0n);
    return (await gateway.wallet(account)).charged;
  };

  for (const path of [GENERATIONS, EDITS]) {
    describe(path, () => {
      itTimed(
        'a client that leaves while the upstream works closes it at once, asks no other route, and pays',
        async () => {
          upstream.behave(() => undefined);
          const arrived = upstream.nextCall();
          const sent = begin(path);
          const call = await arrived;
          const leftAt = performance.now();
          sent.destroy();
          expect((await call.closed) - leftAt).to.be.below(CLOSED_MS_MAX);
          expect(await settled()).to.equal(PRICE);
          expect(upstream.calls).to.have.length(1);
        },
      );

      itTimed('a client that leaves while the result is fetched closes that too, and pays', async () => {
        let closed: Promise<number> | undefined;
        const slowImage: Behaviour = ({ request, response, closed: closing }) => {
          if (request.method === 'POST') {
            response.writeHead(200, { 'content-type': 'application/json' });
            response.end(JSON.stringify({ data: [{ url: `${upstream.url}/slow.png` }] }));
            return;
          }
          closed = closing;
          response.writeHead(200, { 'content-type': 'image/png' });
          response.write(PNG);
        };
        upstream.behave(slowImage);
        const sent = begin(path);
        await until(() => closed !== undefined);
        await new Promise((resolve) => setTimeout(resolve, 50));
        const leftAt = performance.now();
        sent.destroy();
        expect((await (closed as Promise<number>)) - leftAt).to.be.below(CLOSED_MS_MAX);
        expect(await settled()).to.equal(PRICE);
      });

      it('a client that leaves between two routes pays, and the second is not asked', async () => {
        const sent = begin(path);
        upstream.behave((call) => {
          sent.destroy();
          setTimeout(() => answerStatus(503)(call), 30);
        });
        await until(() => upstream.calls.length > 0);
        expect(await settled()).to.equal(PRICE);
        expect(upstream.calls).to.have.length(1);
      });

      it('a client that leaves before its body has arrived pays nothing', async () => {
        const sent = open(gateway.url + path, { key: account.key, headers: { 'content-length': '1000' }, body: '{' });
        sent.on('error', () => undefined);
        await new Promise((resolve) => setTimeout(resolve, 50));
        sent.destroy();
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect([await settled(), upstream.calls.length]).to.deep.equal([0n, 0]);
      });

      it('twenty concurrent calls on a wallet for three make three images, and ask for no more', async () => {
        const change = { amount: 35n * RUB - 1000n * RUB, reason: 'test', adjustId: `adj-${path}` };
        const op = { kind: 'adjust', wallet: account.id, at: Date.now(), ...change } as const;
        await gateway.store.ledger.apply([op]);
        upstream.behave((call) => void setTimeout(() => imageAnswer(PNG)(call), 300));
        const replies = await Promise.all(
          Array.from({ length: 20 }, () => send(gateway.url + path, { key: account.key, body })),
        );
        const statuses = replies.map(({ status }) => status).sort();
        expect(statuses).to.deep.equal([...Array(3).fill(200), ...Array(17).fill(402)]);
        const told = replies.filter(({ status }) => status === 402).map(({ json }) => json.error.message);
        expect(
          told.some((message: string) => message.includes('30.00 RUB is reserved by calls still running')),
        ).to.equal(true);
        expect(upstream.calls).to.have.length(3);
        expect(await gateway.wallet(account)).to.include({ charged: 3n * PRICE, avail: 5n * RUB, held: 0n });
      });
    });
  }

  it('an upstream that fails as its client leaves costs nothing or the price, and ends once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const sent = begin(EDITS);
      upstream.behave((call) => {
        setTimeout(() => sent.destroy(), round);
        setTimeout(() => answerStatus(400, { error: { message: 'no' } })(call), 5);
      });
      await until(() => upstream.calls.length > round);
    }
    const charged = await settled();
    expect(charged % PRICE).to.equal(0n);
    expect(charged <= 10n * PRICE).to.equal(true);
  });

  itOnSqlite(
    'a store that does not accept the image is our own failure: refunded, and no other route is asked',
    async () => {
      const broken = await startGateway({ catalog: imageCatalog(upstream.url) });
      try {
        const { key, id } = await broken.account();
        const database = new DatabaseSync(broken.databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
        database.exec('ALTER TABLE media RENAME TO gone');
        const reply = await send(broken.url + GENERATIONS, { key, body });
        database.exec('ALTER TABLE gone RENAME TO media');
        database.close();
        expect([reply.status, reply.json.error.message]).to.deep.equal([
          503,
          'The service could not store the result. Charge refunded.',
        ]);
        expect(upstream.calls).to.have.length(1);
        expect(await broken.store.ledger.wallet(id)).to.include({ charged: 0n, held: 0n, avail: 1000n * RUB });
        await broken.checkMoney();
      } finally {
        await broken.stop();
      }
    },
  );

  it('a stopping gateway refunds calls that it cannot finish', async () => {
    const stopping = await startGateway({ catalog: imageCatalog(upstream.url), env: { DRAIN_MS: '0' } });
    const { key, id } = await stopping.account();
    upstream.behave(() => undefined);
    const arrived = upstream.nextCall();
    const answered = send(stopping.url + EDITS, { key, body });
    const call = await arrived;
    const { ledger } = stopping.store;
    const ending = stopping.gateway.stop();
    const reply = await answered;
    expect([reply.status, reply.json.error.message]).to.deep.equal([
      503,
      'The service is restarting. Charge refunded.',
    ]);
    await call.closed;
    await ending;
    expect(await ledger.wallet(id)).to.include({ charged: 0n, held: 0n });
    await stopping.stop();
  });
});
