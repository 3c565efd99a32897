// The read-only endpoints, also over a failing store.
import { expect } from 'chai';
import type { Holders } from '../../lib/accounts/holders.ts';
import { registerAuth } from '../../lib/api/auth.ts';
import { balanceRoute } from '../../lib/api/routes/balance.ts';
import { healthRoutes } from '../../lib/api/routes/health.ts';
import { mediaRoute } from '../../lib/api/routes/media.ts';
import { modelsRoutes } from '../../lib/api/routes/models.ts';
import type { Services } from '../../lib/api/services.ts';
import { HOUR_MS } from '../../lib/base/durations.ts';
import type { Catalog } from '../../lib/catalog/catalog.ts';
import { createLiveCalls } from '../../lib/http/live-calls.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { KeyHolder } from '../../lib/store/ports/keys.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';
import { open, type Reply, readHead, send, until } from '../../testkit/client.ts';
import { type Behaviour, type FaultyStore, makeGate, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { openTestHttp, type TestHttp } from '../../testkit/http.ts';
import { build, catalogOf } from '../catalog/folder.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';

const UPSTREAM = { upstream: 'up', routes: 3, outages: [{}], keys: { keys: 9, limited: 4, refused: 3 } };

const failWith =
  (error: unknown): Behaviour =>
  async () => {
    throw error;
  };

describe('an endpoint that only reads', () => {
  let opened: FaultyStore;
  let http: TestHttp;
  let account: string;
  let catalog: Catalog;
  let ping: Store['ping'];
  let read: Store['media']['read'];
  const calls = createLiveCalls();

  before(async () => {
    opened = await openFaultyStore();
    const holders: Pick<Holders, 'find' | 'countUse' | 'usage'> = {
      find: () => ({ id: 'key', name: 'mine', account, accountStatus: 'active', limits: NO_LIMITS }) as KeyHolder,
      countUse: () => undefined,
      usage: () => ({ requestsCount: 7, lastUsedAt: 1_700_000_000_000 }),
    };
    const limiter = { hit: () => ({ allowed: true, retryAfterS: 1 }) };
    const limit = { name: 'any', perMinute: 100 };
    const services = {
      store: {
        ...opened.store,
        media: { ...opened.store.media, read: (...args: Parameters<typeof read>) => read(...args) },
      },
      pingStore: () => ping(),
      holders,
      limiter,
      throttle: { computeWaitMs: () => 0 },
      turns: { enter: () => undefined },
      calls,
      upstreams: () => [UPSTREAM],
      shutdown: { isUnderWay: () => false },
      catalog: () => catalog,
      limits: { generate: limit, balance: limit, videos: limit },
    } as unknown as Services;
    http = openTestHttp();
    registerAuth(http.server, services);
    http.server.route([
      ...[balanceRoute(services), mediaRoute(services)],
      ...[...healthRoutes(services), ...modelsRoutes(services)],
    ]);
    await http.start();
  });
  beforeEach(async () => {
    account = await opened.wallet();
    [catalog, ping] = [build(catalogOf()), opened.real.ping];
    read = opened.store.media.read;
  });
  // A client has its answer a moment before the call is over.
  afterEach(() => until(() => calls.count() === 0));
  after(async () => {
    await http.close(async () => undefined);
    await opened.close();
  });

  const ask = (path: string): Promise<Reply> =>
    send(`http://127.0.0.1:${http.server.info.port}${path}`, { key: 'any' });

  describe('/media', () => {
    const keep = (bytes: Buffer = PNG) =>
      opened.real.media.write(newMedia({ expiresAt: Date.now() + 24 * HOUR_MS }), piecesOf(bytes));
    const failures: readonly (readonly [name: string, error: unknown, status: number])[] = [
      ['is a 503 when the store does not answer', new StoreError('down', 'no'), 503],
      ['is a 404 when the file is gone', new StoreError('gone', 'no', undefined, 'batch'), 404],
      ['is a 500 when something of ours fails', new Error('ours'), 500],
    ];
    for (const [name, error, status] of failures) {
      it(name, async () => {
        const { id } = await keep();
        for (const call of ['media.get', 'media.read'] as const) {
          opened.next(call, failWith(error));
          const reply = await ask(`/media/${id}.png`);
          expect([reply.status, reply.headers.etag], call).to.deep.equal([status, undefined]);
          expect((await ask(`/media/${id}.png`)).status).to.equal(200);
        }
      });
    }

    it('closes the connection if a file breaks off, and logs why', async () => {
      const { id } = await keep(Buffer.alloc(4096));
      const begun = makeGate();
      read = async function* () {
        yield Buffer.alloc(1024);
        await begun.opened;
        throw new Error('the disk is gone');
      };
      const response = await readHead(open(`http://127.0.0.1:${http.server.info.port}/media/${id}.png`));
      expect(response.statusCode).to.equal(200);
      begun.open();
      const failure = await response.toArray().catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'ECONNRESET');
      expect(http.notes().err).to.have.property('message', 'the disk is gone');
    });

    it('reads no further once the client has left', async () => {
      const { id } = await keep(Buffer.alloc(1024 * 1024));
      const over = Promise.withResolvers<void>();
      let isOver = false;
      // As long as anybody reads it.
      read = async function* () {
        try {
          while (!isOver) {
            yield Buffer.alloc(1024);
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
        } finally {
          over.resolve();
        }
      };
      const response = await readHead(open(`http://127.0.0.1:${http.server.info.port}/media/${id}.png`));
      response.on('error', () => undefined).destroy();
      const late = setTimeout(() => over.reject(new Error('it is still read')), 5000);
      await over.promise.finally(() => {
        isOver = true;
        clearTimeout(late);
      });
    });
  });

  describe('/api/v1/balance', () => {
    const PATH = '/api/v1/balance';

    it('reports the charges of thirty days, and the last use of the key', async () => {
      const charge = {
        wallet: account,
        key: 'key',
        chargeKind: 'text',
        model: 'm',
        prices: '{}',
        usage: '{}',
      } as const;
      for (const [hours, rub] of [
        [30 * 24 + 1, 100n],
        [30 * 24 - 1, 20n],
        [0, 3n],
      ] as const) {
        const at = Date.now() - hours * HOUR_MS;
        await opened.apply({
          kind: 'charge',
          ...charge,
          at,
          chargeId: `${account}-${hours}`,
          amount: rub * 1_000_000n,
        });
      }
      const { json } = await ask(PATH);
      expect(json).to.include({ balance_rub: 877, topped_up_total_rub: 1000, spent_30d_rub: 23 });
      expect(json.key).to.deep.equal({ name: 'mine', requests_count: 7, last_used_at: '2023-11-14T22:13:20.000Z' });
    });

    it("reports the owner's settings of automatic top-ups", async () => {
      const wishes = { enabled: true, amount: 2_500_000_000n, threshold: 300_000_000n };
      await opened.real.accounts.setAutoTopup(account, wishes);
      expect((await ask(PATH)).json.auto_topup).to.deep.equal({ enabled: true, amount_rub: 2500, threshold_rub: 300 });
    });

    it('is a 503 if any part of it cannot be read', async () => {
      for (const call of ['ledger.wallet', 'ledger.chargedAt', 'accounts.get'] as const) {
        opened.next(call, refuse);
        expect((await ask(PATH)).status, call).to.equal(503);
        expect(http.notes().fault).to.equal('store_unavailable');
      }
      expect((await ask(PATH)).status).to.equal(200);
    });

    it('is an internal error if the account is missing', async () => {
      for (const call of ['ledger.wallet', 'accounts.get'] as const) {
        opened.next(call, async () => undefined);
        expect((await ask(PATH)).status, call).to.equal(500);
        expect((http.notes().err as Error).message).to.contain(account);
      }
    });
  });

  it('/api/v1/models is a 503 if the wallet cannot be read', async () => {
    opened.next('ledger.wallet', refuse);
    expect((await ask('/api/v1/models')).status).to.equal(503);
  });

  it('/readyz is not ready without a model or a store, and says which is missing', async () => {
    const full = catalog;
    const none = build(catalogOf({ models: [] }));
    const { length: models } = (await ask('/api/v1/models')).json.data;
    const broken = () => Promise.reject(new Error('down'));
    for (const [listed, answers, status, body] of [
      [full, opened.real.ping, 200, { status: 'ok', store: true, models }],
      [none, opened.real.ping, 503, { status: 'unavailable', store: true, models: 0 }],
      [full, broken, 503, { status: 'unavailable', store: false, models }],
    ] as const) {
      [catalog, ping] = [listed, answers];
      const reply = await ask('/readyz');
      expect([reply.status, reply.json]).to.deep.equal([status, body]);
      expect((await ask('/healthz')).json).to.deep.equal({ status: 'ok' });
    }
    expect((await ask('/readyz?verbose')).json).to.have.all.keys('status', 'store', 'models');
  });
});
