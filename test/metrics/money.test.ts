import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { readCatalogFiles } from '../../lib/catalog/files.ts';
import { createLedger, type Ledger } from '../../lib/ledger/ledger.ts';
import { createMoneyMetrics, type MoneyMetrics } from '../../lib/metrics/money.ts';
import { type AttemptEnding, toAttemptRows } from '../../lib/money/attempt.ts';
import { type Exposition, parseExposition } from '../../testkit/exposition.ts';
import { type FaultyStore, makeGate, openFaultyStore, refuse, vanish, waitFor } from '../../testkit/faulty-store.ts';
import { itTimed } from '../../testkit/timed.ts';
import { newAttempt } from '../contract/store/context.ts';
import { newJob } from '../contract/store/jobs.ts';

const none = buildCatalog(readCatalogFiles([], []), new Map());
const RUB = 1_000_000n;
/** For a store that does not answer. */
const SOON_MS = 150;
/** For all others, however busy the machine is. */
const PATIENT_MS = 10_000;

describe('money metrics', () => {
  let store: FaultyStore;
  let wallet: string;
  let metrics: MoneyMetrics;
  let ledger: Ledger;
  let look: () => Promise<Exposition>;
  let calls = 0;

  before(async () => {
    store = await openFaultyStore();
  });
  const open = (answerWithinMs: number) => {
    const registry = new Registry();
    metrics = createMoneyMetrics(registry, { catalog: () => none, routes: () => [] });
    const log = { warn: () => undefined, error: () => undefined };
    const watched = metrics.watchStore(store.store);
    ledger = metrics.watchLedger(createLedger({ store: watched, ownerId: 'me', leaseMs: 60_000, log, answerWithinMs }));
    look = async () => parseExposition(await registry.metrics());
  };
  beforeEach(async () => {
    wallet = await store.wallet();
    open(PATIENT_MS);
  });
  afterEach(async () => {
    store.always('ledger.apply', undefined);
    expect(await ledger.drain(5000)).to.equal(0);
  });
  after(() => store.close());

  function hold(model = 'model-a') {
    calls += 1;
    const amount = 10n * RUB;
    return ledger.hold({ chargeId: `call-${calls}`, wallet, key: 'key', kind: 'text', model, prices: '{}', amount });
  }
  const used = (amount: bigint) => ({ amount, usage: { tokens_input: 1, tokens_output: 2 } });

  it('counts charges, refunds and amounts above the hold, by model', async () => {
    await ledger.settle(await hold(), used(3n * RUB));
    await ledger.settle(await hold('model-b'), used(12_500_000n));
    await ledger.release(await hold());
    const { sum } = await look();
    expect(sum('tollgate_charged_rubles_total', { model: 'model-a' })).to.equal(3);
    expect(sum('tollgate_charged_rubles_total', { model: 'model-b' })).to.equal(12.5);
    expect(sum('tollgate_overshoot_rubles_total', { model: 'model-a' })).to.equal(0);
    expect(sum('tollgate_overshoot_rubles_total', { model: 'model-b' })).to.equal(2.5);
    expect(sum('tollgate_refunded_rubles_total', { model: 'model-a' })).to.equal(10);
    expect(sum('tollgate_refunded_rubles_total', { model: 'model-b' })).to.equal(0);
    expect(sum('tollgate_settlements_unconfirmed_total')).to.equal(0);
    expect(sum('tollgate_ledger_operations_total')).to.equal(6);
    expect(sum('tollgate_ledger_commit_seconds_count', { result: 'ok' })).to.equal(6);
  });

  it('counts tokens of each kind, if they were charged', async () => {
    const usage = {
      ...{ tokens_input: 1, tokens_cache_read: 20, tokens_cache_write: 300, tokens_cache_write_1h: 4000 },
      ...{ tokens_output: 50_000, tokens_reasoning: 6, ended: 'length' },
    };
    await ledger.settle(await hold(), { amount: RUB, usage });
    await ledger.settle(await hold(), used(RUB));
    await ledger.settle(await hold('model-b'), { amount: 0n, usage });
    await ledger.release(await hold());
    const { sum } = await look();
    const count = (kind: string, model = 'model-a') => sum('tollgate_billed_tokens_total', { model, kind });
    const kinds = ['input', 'cache_read', 'cache_write', 'cache_write_1h', 'output', 'reasoning'];
    expect(kinds.map((kind) => count(kind))).to.deep.equal([2, 20, 300, 4000, 50_002, 6]);
    expect(kinds.map((kind) => count(kind, 'model-b'))).to.deep.equal([0, 0, 0, 0, 0, 0]);
  });

  it('counts what attempts cost by model, upstream and certainty', async () => {
    const cost = (costRub: bigint) => ({ currency: 'RUB', prices: '{}', rate: RUB, cost: costRub, costRub });
    const [whole, failed, refused] = [
      newAttempt({ model: 'model-a', cost: cost(2n * RUB) }),
      newAttempt({ model: 'model-a', upstream: 'other', certainty: 'possible', cost: cost(RUB) }),
      newAttempt({ model: 'model-a', certainty: 'none', cost: cost(0n) }),
    ];
    const nobody = newAttempt({ model: 'model-a', upstream: null, cost: cost(5n * RUB) });
    await ledger.settle(await hold(), { ...used(3n * RUB), attempts: [failed, whole, nobody] });
    await ledger.release(await hold(), [refused, failed]);
    const { sum } = await look();
    const total = (labels: object) => sum('tollgate_upstream_cost_rubles_total', { model: 'model-a', ...labels });
    expect(total({ upstream: 'vendor', certainty: 'reported' })).to.equal(2);
    expect(total({ upstream: 'other', certainty: 'possible' })).to.equal(2);
    expect(total({ upstream: '' })).to.equal(5);
    const booked = (certainty: string) => sum('tollgate_upstream_attempts_booked_total', { certainty });
    expect(['reported', 'estimated', 'possible', 'none'].map(booked)).to.deep.equal([2, 0, 2, 1]);
  });

  it('counts what a video has cost once it is completed, and once', async () => {
    const job = await newJob(store.real, wallet);
    const jobs = metrics.watchJobCosts(store.store.jobs);
    const rows = (ending: AttemptEnding) => {
      const cost = { currency: 'RUB', prices: '{}', rate: RUB, cost: RUB, costRub: RUB };
      return toAttemptRows(job, [newAttempt({ model: 'film-a', ending, cost })]);
    };
    const begin = { kind: 'begin', id: job.id, version: 1, at: 5, ref: '{}', dueAt: 10 } as const;
    const complete = { kind: 'complete', id: job.id, version: 2, at: 6, result: '{}' } as const;
    const read = async () => (await look()).sum('tollgate_upstream_cost_rubles_total', { model: 'film-a' });
    expect((await jobs.change(begin, undefined, rows('running'))).status).to.equal('done');
    expect(await read()).to.equal(0);
    for (const status of ['done', 'exists']) {
      expect((await jobs.change(complete, undefined, rows('answered'))).status).to.equal(status);
      expect(await read()).to.equal(1);
    }
  });

  it('counts no money for a refused hold, and passes the refusal on', async () => {
    const poor = await store.wallet(0n);
    await ledger
      .hold({ chargeId: 'poor', wallet: poor, key: 'key', kind: 'text', model: 'm', prices: '{}', amount: RUB })
      .then(
        () => expect.fail('it was held'),
        (error: Error) => expect(error.message).to.match(/never been topped up/),
      );
    const { sum } = await look();
    expect([sum('tollgate_charged_rubles_total'), sum('tollgate_refunded_rubles_total')]).to.deep.equal([0, 0]);
  });

  itTimed('counts commits that failed, and settlements that were answered before they were confirmed', async () => {
    open(SOON_MS);
    const held = await hold();
    store.always('ledger.apply', vanish);
    expect(await ledger.settle(held, used(2n * RUB))).to.include({ confirmed: false });
    const during = await look();
    expect(during.sum('tollgate_settlements_unconfirmed_total')).to.equal(1);
    expect(during.sum('tollgate_ledger_queue_operations')).to.equal(1);
    expect(during.sum('tollgate_ledger_commit_seconds_count', { result: 'failed' })).to.be.at.least(1);
    expect(during.sum('tollgate_ledger_operations_total')).to.equal(1);
    store.always('ledger.apply', undefined);
    expect(await ledger.drain(5000)).to.equal(0);
    const after = await look();
    expect(after.sum('tollgate_ledger_queue_operations')).to.equal(0);
    expect(after.sum('tollgate_charged_rubles_total')).to.equal(2);
  });

  it('times a commit until its answer', async () => {
    let tookS = 0;
    store.next('ledger.apply', async (call) => {
      const startedAt = performance.now();
      const result = await call();
      await sleep(20);
      tookS = (performance.now() - startedAt) / 1000;
      return result;
    });
    const held = await hold();
    const { sum } = await look();
    expect(tookS).to.be.above(0);
    expect(sum('tollgate_ledger_commit_seconds_sum', { result: 'ok' })).to.be.at.least(tookS);
    await ledger.release(held);
  });

  it('shows the operations that wait for the store', async () => {
    const gate = makeGate();
    store.next('ledger.apply', waitFor(gate.opened));
    const holds = [hold(), hold(), hold()];
    expect((await look()).sum('tollgate_ledger_queue_operations')).to.equal(3);
    gate.open();
    for (const held of await Promise.all(holds)) await ledger.release(held);
    const { sum } = await look();
    expect(sum('tollgate_ledger_queue_operations')).to.equal(0);
    expect(sum('tollgate_ledger_operations_total')).to.equal(6);
    expect(sum('tollgate_ledger_commit_seconds_count', { result: 'ok' }), 'some of them in one batch').to.be.below(6);
  });

  it('counts prepaid charges and their refunds once', async () => {
    const start = { wallet, key: 'key', kind: 'video', prices: '{}', usage: {} } as const;
    await ledger.charge({ ...start, chargeId: 'film-1', model: 'film-a', amount: 40n * RUB });
    await ledger.charge({ ...start, chargeId: 'film-2', model: 'film-b', amount: 2n * RUB });
    expect((await ledger.refund({ wallet, chargeId: 'film-1' })).amount).to.equal(40n * RUB);
    expect((await ledger.refund({ wallet, chargeId: 'film-1' })).status).to.equal('refunded');
    expect((await ledger.refund({ wallet, chargeId: 'film-3' })).status).to.equal('refused');
    const { sum } = await look();
    const sums = ['film-a', 'film-b'].map((model) => [
      sum('tollgate_charged_rubles_total', { model }),
      sum('tollgate_refunded_rubles_total', { model }),
    ]);
    expect(sums).to.deep.equal([
      [40, 40],
      [2, 0],
    ]);
    expect(sum('tollgate_refunded_rubles_total')).to.equal(40);
  });

  it('counts the released holds of dead processes', async () => {
    const at = Date.now();
    const start = { wallet, at, key: 'key', chargeKind: 'text', model: 'm', prices: '{}', amount: RUB } as const;
    for (const chargeId of ['dead-1', 'dead-2']) {
      await store.apply({ ...start, kind: 'reserve', chargeId, owner: 'nobody', lease: at - 1 });
    }
    expect(await ledger.expireOrphans({ now: Date.now(), limit: 10 })).to.equal(2);
    expect((await look()).sum('tollgate_holds_expired_total')).to.equal(2);
    store.next('ledger.orphans', refuse);
    await ledger.expireOrphans({ now: Date.now(), limit: 10 }).then(
      () => expect.fail('it was read'),
      (error: Error) => expect(error.name).to.equal('StoreError'),
    );
    expect((await look()).sum('tollgate_holds_expired_total')).to.equal(2);
  });

  it('shows no audit result before the first audit', async () => {
    const { samples } = await look();
    expect(samples.filter(({ name }) => name === 'tollgate_ledger_problems')).to.deep.equal([]);
    metrics.onAudit(0);
    expect((await look()).text).to.match(/^tollgate_ledger_problems\{audit="last"\} 0$/m);
    metrics.onAudit(2);
    expect((await look()).sum('tollgate_ledger_problems')).to.equal(2);
  });
});
