// The image engine on a real store that fails on demand, with scripted routes and results: the outcome when any await on
// the money path fails.
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { type Fault, fault } from '../../../lib/base/faults.ts';
import { type CallContext, GONE } from '../../../lib/calls/context.ts';
import type { Ending } from '../../../lib/calls/ending.ts';
import { createRouteHealth, type RouteHealth } from '../../../lib/calls/health.ts';
import { createImageEngine, type ImageOrder } from '../../../lib/calls/images/engine.ts';
import { createPaidCalls } from '../../../lib/calls/paid.ts';
import type { ImageModel, Route } from '../../../lib/catalog/model.ts';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import { createLedger, type Ledger } from '../../../lib/ledger/ledger.ts';
import type { KeepRequest, Results } from '../../../lib/media/results.ts';
import type { StoredMedia } from '../../../lib/store/ports/media.ts';
import type { ImageCall, ImageResult, MediaSource } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../../testkit/faulty-store.ts';

const RUB = 1_000_000n;
const PRICE = 10n * RUB;
const IMAGE: MediaSource = { bytes: new Uint8Array([1, 2, 3]) };
const STORED: StoredMedia = {
  id: 'a',
  account: 'b',
  kind: 'image',
  mediaType: 'image/png',
  bytes: 3,
  createdAt: 1,
  expiresAt: 2,
};

type Make = (call: ImageCall, signal: AbortSignal) => Promise<ImageResult>;
type Keep = (source: MediaSource, request: KeepRequest) => Promise<StoredMedia>;

const makes: Make = async () => ({ images: [IMAGE, IMAGE] });
const hangs = <T>(_: unknown, { signal }: { signal: AbortSignal }) =>
  new Promise<T>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
const hanging: Make = (call, signal) => hangs(call, { signal });
const fails =
  (reason: unknown): Make =>
  async () => {
    throw reason;
  };

describe('image engine', () => {
  let store: FaultyStore;
  let ledger: Ledger;
  let wallet: string;
  let count = 0;

  before(async () => {
    store = await openFaultyStore();
  });
  beforeEach(async () => {
    wallet = await store.wallet();
    const log = { warn: () => undefined, error: () => undefined };
    ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log, answerWithinMs: 200 });
  });
  afterEach(async () => {
    store.always('ledger.apply', undefined);
    expect(await ledger.drain(5000)).to.equal(0);
    expect(await verifyLedger(store.real)).to.include({ ok: true, drift: 0n });
    expect((await store.read(wallet)).held).to.equal(0n);
  });
  after(() => store.close());

  interface Options {
    readonly keep?: Keep;
    readonly controller?: AbortController;
    readonly totalTimeoutMs?: number;
    readonly health?: RouteHealth;
    readonly order?: Partial<ImageOrder>;
  }

  async function run(routes: readonly Make[], options: Options = {}) {
    const { keep = async () => STORED, controller = new AbortController(), totalTimeoutMs = 5000 } = options;
    const { health = createRouteHealth() } = options;
    const attempts: string[] = [];
    const onAttempt = (upstream: string, { type }: Ending) => void attempts.push(`${upstream} ${type}`);
    const asked: ImageCall[] = [];
    const kept: KeepRequest[] = [];
    const notes: Record<string, unknown> = {};
    const routeOf = (make: Make, at: number): Route => ({
      upstream: `up-${at}`,
      key: `image up-${at}`,
      origin: `https://up-${at}.example`,
      model: `m-${at}`,
      options: { at },
      rank: at,
      keys: 1,
      provider: {
        image: (call, signal) => {
          asked.push(call);
          return make(call, signal);
        },
      },
    });
    const model: ImageModel = {
      id: 'draw',
      aliases: [],
      type: 'image',
      provider: 'Test',
      edits: true,
      order: 'listed',
      routes: routes.map(routeOf),
      price: { request: PRICE },
      prices: '{"request":"10000000"}',
    };
    const results: Results = {
      keep: (source, request) => {
        kept.push(request);
        return keep(source, request);
      },
      buildLink: () => '',
      readLinkId: () => undefined,
      readImage: () => Promise.reject(new Error('not asked')),
    };
    count += 1;
    const requestId = `req_${count}`;
    const { signal } = controller;
    const log = { debug() {}, warn() {}, error() {}, note: (fields: object) => void Object.assign(notes, fields) };
    const context: CallContext = { requestId, accountId: wallet, keyId: 'key', signal, onFirst() {}, log };
    const paidCalls = createPaidCalls(ledger);
    const engine = createImageEngine({ paidCalls, results, totalTimeoutMs, health, onAttempt });
    const order: ImageOrder = { kind: 'edit', model, call: { prompt: 'a hill', images: [] }, ...options.order };
    const [answer, thrown] = await engine.run(order, context).then(
      (value) => [value, undefined] as const,
      (error: Fault) => [undefined, error] as const,
    );
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    const charge = await store.real.ledger.charge(requestId);
    const { charged, held } = await store.read(wallet);
    return { answer, thrown, asked, attempts, kept, notes, charge, charged, held };
  }

  it('holds the price while the upstream works, and charges one image once it is stored', async () => {
    let held = 0n;
    const looking: Make = async () => {
      held = (await store.read(wallet)).held;
      return { images: [IMAGE, IMAGE] };
    };
    const order = { call: { prompt: 'a hill', images: [], aspect: '16:9' } };
    const { answer, asked, kept, charge, charged, notes } = await run([looking], { order });
    expect(held).to.equal(PRICE);
    expect(answer?.image).to.equal(STORED);
    expect(answer?.paid).to.deep.equal({ charged: PRICE, reserved: PRICE, balance: 990n * RUB, confirmed: true });
    expect(asked).to.deep.equal([{ prompt: 'a hill', images: [], aspect: '16:9', model: 'm-0', options: { at: 0 } }]);
    expect(kept).to.have.length(1);
    expect(kept[0]).to.include({ kind: 'image', account: wallet, upstreamOrigin: 'https://up-0.example' });
    expect(charge).to.include({
      state: 'settled',
      kind: 'edit',
      usage: '{"images":1}',
      prices: '{"request":"10000000"}',
    });
    expect(charged).to.equal(PRICE);
    expect(notes).to.include({ model: 'draw', ending: 'finish', images: 1 });
  });

  const refunded: Readonly<Record<string, readonly [Make, tries: number, code: string]>> = {
    'an upstream that fails': [fails(upstreamFault('server', 'no')), 2, 'upstream_failed'],
    'one that is not there': [fails(upstreamFault('network', 'no')), 2, 'upstream_failed'],
    'one that throws anything': [fails(new TypeError('oops')), 2, 'upstream_failed'],
    'one that throws at once': [
      () => {
        throw new Error('now');
      },
      2,
      'upstream_failed',
    ],
    'one that makes nothing': [async () => ({ images: [] }), 2, 'upstream_empty'],
    'one that refuses the request': [fails(upstreamFault('request', 'no')), 1, 'upstream_refused'],
    'one that refuses the content': [
      fails(upstreamFault('request', 'no', { about: 'content' })),
      1,
      'upstream_content',
    ],
    'one that cannot read an image': [fails(upstreamFault('request', 'no', { about: 'image' })), 1, 'upstream_picture'],
  };
  for (const [name, [make, tries, code]] of Object.entries(refunded)) {
    it(`returns the price for ${name}`, async () => {
      const { thrown, asked, charge, charged } = await run([make, make]);
      expect(thrown?.data?.code).to.equal(code);
      expect(thrown?.message).to.match(/ Charge refunded\.$/);
      expect(asked).to.have.length(tries);
      expect([charge?.state, charged]).to.deep.equal(['released', 0n]);
    });
  }

  it('tries the next route if the first makes no image or its result cannot be fetched', async () => {
    const first = await run([fails(upstreamFault('overloaded', 'no')), makes]);
    expect([first.asked.length, first.charged]).to.deep.equal([2, PRICE]);
    let tries = 0;
    const keep: Keep = async () => {
      tries += 1;
      if (tries <= 2) throw upstreamFault('network', 'cannot fetch the result');
      return STORED;
    };
    const second = await run([makes, makes], { keep });
    expect([second.asked.length, second.charged, tries]).to.deep.equal([2, 2n * PRICE, 3]);
  });

  it('delivers the first whole image of several, charges one, and asks no other route for it', async () => {
    const whole: MediaSource = { url: 'https://up-0.example/whole.png' };
    const broken: MediaSource = { bytes: new Uint8Array([9]) };
    const given: MediaSource[] = [];
    const keep: Keep = async (source) => {
      given.push(source);
      if (source === broken) throw upstreamFault('protocol', 'the result is no image, or is cut short');
      return STORED;
    };
    const several: Make = async () => ({ images: [broken, broken, whole, IMAGE] });
    const { answer, asked, kept, charged, charge } = await run([several, makes], { keep });
    expect(answer?.image).to.equal(STORED);
    expect(given).to.deep.equal([broken, broken, whole]);
    expect([asked.length, charged, charge?.usage]).to.deep.equal([1, PRICE, '{"images":1}']);
    // They share the time that one image would be waited for.
    const [{ patienceMs = 0 } = {}] = (await run([async () => ({ images: [IMAGE] })])).kept;
    for (const request of kept) expect(request.patienceMs).to.be.closeTo(patienceMs / 4, 250);
  });

  it('tries the routes in the order of their health, and reports how each attempt ended', async () => {
    const inOrder: RouteHealth['inOrder'] = ({ routes }) => [...routes].reverse();
    const health = { ...createRouteHealth(), inOrder };
    const { attempts } = await run([makes, fails(upstreamFault('server', 'no'))], { health });
    expect(attempts).to.deep.equal(['up-1 error', 'up-0 finish']);
  });

  it('returns the price if the store does not accept the image, and tries no other route', async () => {
    const keep: Keep = async () => {
      throw fault('result_not_kept');
    };
    const { thrown, asked, charged } = await run([makes, makes], { keep });
    expect([thrown?.output.statusCode, thrown?.message]).to.deep.equal([
      503,
      'The service could not store the result. Charge refunded.',
    ]);
    expect([asked.length, charged]).to.deep.equal([1, 0n]);
  });

  it('gives up at the deadline of all routes, also while storing an image', async () => {
    const deaf: Make = () => new Promise(() => undefined);
    for (const [make, keep] of [
      [hanging, undefined],
      [deaf, undefined],
      [makes, hangs as Keep],
    ] as const) {
      const { thrown, asked, charge } = await run([make, makes], { totalTimeoutMs: 50, ...(keep && { keep }) });
      expect(thrown?.message).to.equal('The upstream provider did not answer in time. Charge refunded.');
      expect([asked.length, charge?.state]).to.deep.equal([1, 'released']);
    }
  });

  describe('whose client leaves', () => {
    /** Ends the call a moment after what is passed has begun. */
    function ending(reason: unknown) {
      const controller = new AbortController();
      const during =
        <Args extends unknown[], Result>(run: (...args: Args) => Result) =>
        (...args: Args) => {
          setTimeout(() => controller.abort(reason), 5);
          return run(...args);
        };
      return { controller, during };
    }

    it('keeps the price if an upstream was called', async () => {
      const deaf: Make = () => new Promise(() => undefined);
      for (const make of [hanging, deaf]) {
        const { controller, during } = ending(GONE);
        const { answer, thrown, asked, charge } = await run([during(make), makes], { controller });
        expect([answer, thrown, asked.length]).to.deep.equal([undefined, undefined, 1]);
        expect(charge).to.include({ state: 'settled', charged: PRICE });
      }
      const { controller, during } = ending(GONE);
      const { charged } = await run([makes], { keep: during(hangs as Keep), controller });
      expect(charged).to.equal(3n * PRICE);
    });

    it('charges nothing if the client left before', async () => {
      const controller = new AbortController();
      controller.abort(GONE);
      const early = await run([makes], { controller });
      expect([early.thrown, early.asked.length, early.charge]).to.deep.equal([GONE, 0, undefined]);
      // While the hold is made.
      const during = new AbortController();
      store.next('ledger.apply', async (call) => {
        const result = await call();
        during.abort(GONE);
        return result;
      });
      const { asked, charge, charged } = await run([makes], { controller: during });
      expect([asked.length, charge?.state, charged]).to.deep.equal([0, 'released', 0n]);
    });

    it('returns the price if a shutdown ends the call', async () => {
      const { controller, during } = ending(fault('shutting_down'));
      const { thrown, charged } = await run([during(hanging), makes], { controller });
      expect([thrown?.message, charged]).to.deep.equal(['The service is restarting. Charge refunded.', 0n]);
    });
  });

  describe('with a store that fails', () => {
    it('calls no upstream if nothing can be held', async () => {
      store.always('ledger.apply', refuse);
      const { thrown, asked, charge } = await run([makes]);
      expect([thrown?.data?.code, asked.length, charge]).to.deep.equal(['store_unavailable', 0, undefined]);
    });

    it('calls no upstream if the balance is too low', async () => {
      wallet = await store.wallet(0n);
      const { thrown, asked } = await run([makes]);
      expect([thrown?.data?.code, asked.length]).to.deep.equal(['never_topped_up', 0]);
    });

    it("charges once if the store's answer to the charge is lost", async () => {
      store.next('ledger.apply', (call) => call(), lose);
      const { answer, charged } = await run([makes]);
      expect([answer?.paid.charged, charged]).to.deep.equal([PRICE, PRICE]);
    });

    it('charges later if the store does not accept it at once', async () => {
      store.next('ledger.apply', (call) => call());
      const settling = run([
        async () => {
          store.always('ledger.apply', refuse);
          return { images: [IMAGE] };
        },
      ]);
      const { answer } = await settling;
      expect(answer?.paid).to.include({ charged: PRICE, confirmed: false });
      store.always('ledger.apply', undefined);
      expect(await ledger.drain(5000)).to.equal(0);
      expect((await store.read(wallet)).charged).to.equal(PRICE);
    });

    it("returns the price once if the store's answer is lost", async () => {
      store.next('ledger.apply', (call) => call(), lose);
      const { thrown, charged, held } = await run([fails(upstreamFault('server', 'no'))]);
      expect([thrown?.data?.code, charged, held]).to.deep.equal(['upstream_failed', 0n, 0n]);
    });
  });
});
