// How a video begins on stand-ins for the store, the ledger and the worker: what each of them is asked, in which order.
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MINUTE_MS } from '../../../lib/base/durations.ts';
import type { Ending } from '../../../lib/calls/ending.ts';
import { createRouteHealth, type RouteHealth } from '../../../lib/calls/health.ts';
import { createVideoEngine, type VideoEngineOptions, type VideoStart } from '../../../lib/calls/videos/engine.ts';
import { toVideoId } from '../../../lib/calls/videos/job-id.ts';
import type { VideoModel } from '../../../lib/catalog/model.ts';
import type { VideoProvider } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { makeGate } from '../../../testkit/faulty-store.ts';

const AT = 5_000_000;
const REQUEST = `req_${'0'.repeat(32)}`;
const ID = toVideoId(REQUEST);
const IMAGE = { mediaType: 'image/png', bytes: new Uint8Array([1]) } as unknown as NonNullable<VideoStart['image']>;
const ASKED = { seconds: 5, size: { width: 1280, height: 720 }, resolution: '720p', aspect: '16:9' };

interface Change {
  readonly kind: string;
  readonly upstream?: string;
}

interface Stage {
  readonly starts?: readonly VideoProvider['start'][];
  readonly change?: (change: Change) => Promise<string>;
  readonly health?: RouteHealth;
  readonly notedMsMax?: number;
}

const accepts: VideoProvider['start'] = async () => ({ id: 'up_1' });
const refuses: VideoProvider['start'] = async () => {
  throw upstreamFault('quota', 'no money', { status: 402 });
};

function open({ starts = [accepts], change = async () => 'done', ...more }: Stage = {}) {
  const told = { events: [] as string[], attempts: [] as string[], notes: {} as object, asked: [] as unknown[] };
  const charged: { asked?: object; job?: object & { facts?: string } } = {};
  let upstream = 'up-0';
  const engine = createVideoEngine({
    jobs: {
      change: async (asked: Change) => {
        told.events.push(`${asked.kind} begins`);
        const status = await change(asked);
        told.events.push(`${asked.kind} ends`);
        upstream = asked.upstream ?? upstream;
        const phase = asked.kind === 'begin' ? 'running' : 'starting';
        return { status, job: { id: ID, phase, upstream, version: 2 } };
      },
    },
    ledger: {
      charge: async (asked: object, { job }: { job: object }) => {
        told.events.push('charge');
        Object.assign(charged, { asked, job });
        return { job: { ...job, version: 1, phase: 'starting' }, charge: { charged: 5n } };
      },
      refund: async () => ({ status: 'refunded' }),
    },
    paidCalls: { owed: () => 3n },
    worker: {
      hold: (id: string) => {
        told.events.push(`hold ${id}`);
        return () => told.events.push('let go');
      },
      computeFirstPollAt: () => AT + 10,
      expect: (id: string, dueAt: number) => told.events.push(`expect ${id} in ${dueAt - AT}`),
    },
    ownerId: 'me',
    leaseMs: 700,
    deadlineMs: 90_000,
    clock: { now: () => AT },
    timeouts: { firstTokenTimeoutMs: MINUTE_MS, totalTimeoutMs: MINUTE_MS },
    health: createRouteHealth(),
    log: { warn: () => undefined },
    onAttempt: (name: string, { type }: Ending) => told.attempts.push(`${name} ${type}`),
    ...more,
  } as unknown as VideoEngineOptions);
  const terms = { price: { amount: 5n }, prices: '{"second":"1"}', asked: ASKED };
  const routes = starts.map((start, at) => ({
    upstream: `up-${at}`,
    key: `video ${at}`,
    model: 'up-film',
    options: {},
    provider: {
      video: {
        start: (call: unknown, signal: AbortSignal) => {
          told.asked.push(call);
          return start(call as never, signal);
        },
      },
    },
  }));
  const model = { id: 'film', type: 'video', routes } as unknown as VideoModel;
  const note = (fields: object) => void Object.assign(told.notes, fields);
  const log = { debug: () => undefined, warn: () => undefined, error: () => undefined, note };
  const { signal } = new AbortController();
  const start = (more: object = {}) =>
    engine.start({ model, terms, prompt: 'a hill', image: IMAGE } as unknown as VideoStart, {
      requestId: REQUEST,
      accountId: 'w',
      keyId: 'key',
      waitedMs: 7,
      signal,
      onFirst: () => undefined,
      log,
      ...more,
    });
  return { ...told, charged, start, stop: engine.stop };
}

describe('the job of a video', () => {
  afterEach(() => mock.restoreAll());

  it('is held by its process until its start is noted, for a lease, and has its time from the charge on', async () => {
    const stage = open({
      change: async () => {
        await sleep(20);
        return 'done';
      },
    });
    await stage.start();
    await sleep(0);
    expect(stage.charged.job).to.include({
      id: ID,
      owner: 'me',
      createdAt: AT,
      lease: AT + 700,
      deadline: AT + 90_000,
    });
    expect(stage.events).to.deep.equal([
      ...[`hold ${ID}`, 'charge', 'begin begins', 'begin ends', `expect ${ID} in 10`, 'let go'],
    ]);
  });

  it('is charged with all that the ledger must know, and keeps what was asked for', async () => {
    const stage = open();
    await stage.start();
    expect(stage.charged.asked).to.deep.equal({
      chargeId: REQUEST,
      wallet: 'w',
      key: 'key',
      kind: 'video',
      model: 'film',
      prices: '{"second":"1"}',
      amount: 5n,
      usage: { seconds: 5, resolution: '720p' },
      owed: 3n,
      waitedMs: 7,
    });
    expect(JSON.parse(stage.charged.job?.facts ?? '')).to.deep.equal({ ...ASKED, size: '1280x720' });
    const upstream = { prompt: 'a hill', ...ASKED, image: IMAGE, model: 'up-film', options: {} };
    expect(stage.asked).to.deep.equal([upstream]);
    expect(stage.notes).to.deep.equal({ job: ID, ending: 'finish', charged_micro: '5' });
  });

  it('is charged within the limits of its key, once for an idempotency key, and no more than its caller allows', async () => {
    const budgets = { budget: { name: 'laptop' }, caps: [{ kind: 'user' }] };
    const stage = open();
    await stage.start({ ...budgets, idempotency: { key: 'again' }, maxCost: 5n });
    expect(stage.charged.asked).to.deep.include({ ...budgets, idempotency: { key: 'again' } });
    const dear = open();
    const refused = await dear.start({ maxCost: 4n }).catch((error: unknown) => error);
    expect(refused).to.have.nested.property('data.code', 'call_budget');
    expect(dear.events).to.deep.equal([`hold ${ID}`, 'let go']);
  });

  it('is given back without asking another upstream if another process has taken it over', async () => {
    const change = async ({ kind }: Change) => (kind === 'reroute' ? 'stale' : 'done');
    const stage = open({ starts: [refuses, accepts, accepts], change });
    const error = await stage.start().catch((reason: unknown) => reason);
    expect(error).to.have.nested.property('data.code', 'internal');
    expect(stage.asked).to.have.length(1);
    expect(stage.events).not.to.include('begin begins');
  });

  it('notes of one that no upstream has started why, and that nothing was charged', async () => {
    const stage = open({ starts: [refuses] });
    await stage.start().catch(() => undefined);
    expect(stage.notes).to.deep.equal({ job: ID, ending: 'error', charged_micro: '0', fault: 'upstream_failed' });
  });

  it('is asked for in the order that the health of the routes gives, each noted now or before', async () => {
    const inOrder: RouteHealth['inOrder'] = ({ routes }) => [...routes].reverse();
    const stage = open({
      starts: [accepts, refuses],
      change: async () => 'exists',
      health: { ...createRouteHealth(), inOrder },
    });
    await stage.start();
    expect(stage.attempts).to.deep.equal(['up-1 error', 'up-0 finish']);
    expect(stage.events).to.include(`expect ${ID} in 10`);
  });

  it('is answered for before its start is noted if that takes long, and held until it is', async () => {
    const gate = makeGate();
    const stage = open({ change: () => gate.opened.then(() => 'done'), notedMsMax: 10 });
    // The wait does not keep a process alive; the answer of a store does.
    const alive = setInterval(() => undefined, MINUTE_MS);
    expect(await stage.start().finally(() => clearInterval(alive))).to.have.property('id', ID);
    await sleep(0);
    expect(stage.events).to.deep.equal([`hold ${ID}`, 'charge', 'begin begins']);
    gate.open();
    await sleep(0);
    expect(stage.events.slice(3)).to.deep.equal(['begin ends', `expect ${ID} in 10`, 'let go']);
  });

  it('is noted no more once the service has stopped', async () => {
    const failed = makeGate();
    const stage = open({
      change: async () => {
        setImmediate(failed.open);
        throw new Error('the store is gone');
      },
    });
    const alive = setInterval(() => undefined, MINUTE_MS);
    const starting = stage.start().catch((error: unknown) => error);
    await failed.opened;
    stage.stop();
    expect(await starting.finally(() => clearInterval(alive))).to.have.nested.property(
      'data.code',
      'store_unavailable',
    );
    expect(stage.events.filter((event) => event === 'begin begins')).to.have.length(1);
  });

  it('leaves no timer of its upstream behind', async () => {
    const set = mock.method(globalThis, 'setTimeout');
    const clear = mock.method(globalThis, 'clearTimeout');
    await open().start();
    const cleared = clear.mock.calls.map(({ arguments: [timer] }) => timer);
    const [limit] = set.mock.calls.filter(({ arguments: [, ms] }) => ms === MINUTE_MS);
    clearTimeout(limit?.result);
    expect(cleared).to.include(limit?.result);
  });
});
