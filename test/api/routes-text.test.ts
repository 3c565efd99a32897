// The memory of text calls while they run, and the checks of the key once the body has arrived.
import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Holders } from '../../lib/accounts/holders.ts';
import { registerAuth } from '../../lib/api/auth.ts';
import { type BodyParser, createBodyParser } from '../../lib/api/body-parser.ts';
import { createRecentBalanceCache } from '../../lib/api/recent-balance-cache.ts';
import { textRoutes, waitUntilSent } from '../../lib/api/routes/text.ts';
import type { Services } from '../../lib/api/services.ts';
import { fault } from '../../lib/base/faults.ts';
import type { TextEngine } from '../../lib/calls/text/engine.ts';
import { createLiveCalls } from '../../lib/http/live-calls.ts';
import { createMemoryQuota } from '../../lib/http/memory-quota.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { KeyHolder } from '../../lib/store/ports/keys.ts';
import { ask, DIALECTS, send, until } from '../../testkit/client.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { openTestHttp, type TestHttp } from '../../testkit/http.ts';
import { build, catalogOf, TEXT } from '../catalog/folder.ts';

const MIB = 1024 * 1024;
/** Parsed beside the thread that serves everybody. */
const LONG = 'x'.repeat(300_000);
const RUB = 1_000_000n;
const CATALOG = catalogOf({
  models: [TEXT, { ...TEXT, id: 'cheap', price: { input: '1', output: '1' } }],
  smart: { lite: ['cheap'], standard: ['text-1'], heavy: ['text-1'] },
});

describe('the text endpoints', () => {
  let opened: FaultyStore;
  let http: TestHttp;
  let parser: BodyParser;
  let rich: string;
  /** Has one rouble. */
  let poor: string;
  let account: string;
  /** The holder of the key when the request has been read. */
  let later: KeyHolder | undefined;
  const calls = createLiveCalls();
  const budget = createMemoryQuota({ bytesMax: MIB, ownerBytesMax: MIB });
  /** For each call: bytes held before and after its request is spent, and how many calls stream. */
  const seen: number[][] = [];
  const holder = () => ({ id: 'key', name: 'mine', account, accountStatus: 'active', limits: NO_LIMITS }) as KeyHolder;

  before(async () => {
    opened = await openFaultyStore();
    [rich, poor] = [await opened.wallet(), await opened.wallet()];
    const all = { chargeId: 'all', key: 'key', chargeKind: 'text', model: 'm', prices: '{}', usage: '{}' } as const;
    await opened.apply({ kind: 'charge', wallet: poor, at: Date.now(), amount: 999n * RUB, ...all });
    parser = createBodyParser();
    const holders: Pick<Holders, 'find' | 'findAgain' | 'countUse'> = {
      find: holder,
      findAgain: () => later,
      countUse: () => undefined,
    };
    const run: TextEngine['run'] = async (_request, context) => {
      const held = budget.used();
      context.releaseRequest?.();
      seen.push([held, budget.used(), calls.countStreams()]);
      throw fault('upstream_failed');
    };
    const limit = { name: 'any', perMinute: 100 };
    const catalog = build(CATALOG);
    const services = {
      store: opened.store,
      holders,
      limiter: { hit: () => ({ allowed: true, retryAfterS: 1 }) },
      calls,
      memoryQuota: budget,
      throttle: { computeWaitMs: () => 0 },
      turns: { enter: () => undefined },
      parser,
      recentBalances: createRecentBalanceCache(),
      topups: { reportRefusal: () => undefined },
      bodyLimits: {},
      catalog: () => catalog,
      text: { run },
      clientStallMs: 1000,
      limits: { generate: limit },
      publicUrl: () => 'http://gateway.example',
    } as unknown as Services;
    http = openTestHttp();
    registerAuth(http.server, services);
    http.server.route([...textRoutes(services)]);
    await http.start();
  });
  beforeEach(() => {
    seen.splice(0);
    account = rich;
    later = holder();
  });
  afterEach(() => until(() => calls.count() === 0));
  after(async () => {
    await http.close(async () => undefined);
    await parser.close();
    await opened.close();
  });

  const call = (path: string, text: string, more: object = {}) =>
    send(`http://127.0.0.1:${http.server.info.port}${path}`, {
      key: 'any',
      body: ask(text, { model: 'text-1', ...more }),
    });

  for (const path of DIALECTS) {
    it(`${path}: reserve memory for a long text until no route needs it, and none for a short one`, async () => {
      await call(path, 'hi');
      await call(path, LONG);
      expect(seen).to.deep.equal([
        [0, 0, 0],
        [LONG.length, 0, 0],
      ]);
    });

    it(`${path}: refuse a long text that the wallet cannot pay, by the cheapest possible model`, async () => {
      account = poor;
      expect((await call(path, LONG)).status).to.equal(402);
      expect(seen).to.have.length(0);
      await call(path, LONG, { model: 'smart' });
      expect(seen).to.have.length(1);
    });

    it(`${path}: count streams as such, also in the log`, async () => {
      await call(path, 'hi', { stream: true });
      expect(http.notes().stream).to.equal(true);
      await call(path, 'hi');
      expect(http.notes().stream).to.equal(false);
      expect(seen.map(([, , streams]) => streams)).to.deep.equal([1, 0]);
    });

    it(`${path}: refuse a key that was revoked while the request arrived`, async () => {
      later = undefined;
      expect((await call(path, 'hi')).status).to.equal(401);
      expect(seen).to.deep.equal([]);
    });
  }
});

describe('the end of a stream', () => {
  const server = createServer();
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  /** A reply whose client takes nothing of its end. */
  async function endStalled(bytes: number) {
    const { request, response } = await openStalled();
    response.end(Buffer.alloc(bytes));
    await new Promise((resolve) => setImmediate(resolve));
    return { request, response };
  }

  async function openStalled() {
    const request = get({ port: (server.address() as AddressInfo).port, agent: false }, (reply) => reply.pause());
    request.on('error', () => undefined);
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    return { request, response };
  }

  it('does not wait for a client that has little left to take', async () => {
    const { request, response } = await endStalled(100);
    expect(waitUntilSent(response)).to.equal(undefined);
    request.destroy();
    const open = await openStalled();
    open.response.write(Buffer.alloc(100));
    expect(waitUntilSent(open.response)).to.equal(undefined);
    open.request.destroy();
  });

  it('waits until a slow client has taken it or leaves', async () => {
    const { request, response } = await endStalled(32 * MIB);
    let isOver = false;
    const taken = waitUntilSent(response)?.then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isOver).to.equal(false);
    request.destroy();
    await taken;
    expect(response.closed).to.equal(true);
  });

  it('is quiet where the connection breaks with an error: the call is settled', async () => {
    const { request, response } = await endStalled(32 * MIB);
    const taken = waitUntilSent(response);
    response.emit('error', new Error('the socket broke'));
    expect(await taken).to.equal(undefined);
    request.destroy();
  });
});
