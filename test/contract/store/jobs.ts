// Jobs: made with their charge, failed with its refund, claimed by one process at a time, changed in one version only.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type AttemptEnding, toAttemptRows } from '../../../lib/money/attempt.ts';
import type { Operation } from '../../../lib/money/decide.ts';
import type { FailJob, Job } from '../../../lib/money/job-rules.ts';
import type { Store } from '../../../lib/store/store.ts';
import {
  applied,
  balances,
  charge,
  giveBack,
  newAttempt,
  newId,
  newWallet,
  type StoreKind,
  useStore,
  walletOf,
} from './context.ts';

const LEASE_MS = 60_000;

interface Making {
  readonly owner?: string;
  readonly lease?: number;
  readonly createdAt?: number;
}

/** A charge with the job that it pays for. */
export function chargeWithJob(wallet: string, { owner = 'own_maker', ...more }: Making = {}): Operation {
  const { lease = Date.now() + LEASE_MS, createdAt = Date.now() } = more;
  const chargeId = newId('req');
  const of = { id: newId('job'), wallet, charge: chargeId, model: 'model-1', upstream: 'up-1', facts: '{"seconds":4}' };
  const job = { ...of, owner, lease, createdAt, deadline: createdAt + 7_200_000 };
  return { ...charge(wallet, { chargeId }), kind: 'charge', job: { kind: 'create', job } } as Operation;
}

export async function newJob(store: Store, wallet: string, making?: Making): Promise<Job> {
  const [outcome] = await applied(store, chargeWithJob(wallet, making));
  return outcome?.job as Job;
}

export function refundWithJob(job: Job, more: Partial<FailJob> = {}): Operation {
  const fail = { kind: 'fail', id: job.id, version: job.version, at: Date.now(), error: 'it failed', ...more } as const;
  return { ...giveBack('refund', job.wallet, job.charge), job: fail } as Operation;
}

function buildBegin({ id, version }: Job) {
  return { kind: 'begin', id, version, at: 5, ref: '{"id":"up"}', dueAt: 1000 } as const;
}

export function jobContract(kind: StoreKind): void {
  const context = useStore(kind);
  const due = (job: Job, dueAt: number) => change(job, { kind: 'begin', ref: '{"id":"up"}', dueAt });
  const change = async (job: Job, what: object) => {
    const found = await context.store.jobs.change({ id: job.id, version: job.version, at: 5, ...what } as never);
    return found as typeof found & { job: Job };
  };
  /** One that is due so long after the beginning of time: before those of all other tests. */
  const running = async (wallet: string, dueAt: number) => (await due(await newJob(context.store, wallet), dueAt)).job;
  const claim = (owner: string, more: object = {}) =>
    context.store.jobs.claim({ owner, leaseMs: LEASE_MS, limit: 100, at: Date.now(), ...more });
  /** Nothing is due between tests. */
  afterEach(async () => {
    for (const job of await context.store.jobs.page({ limit: 10_000 })) {
      if (job.endedAt === null) await applied(context.store, refundWithJob(job));
    }
  });

  describe('with money', () => {
    it('start with their charge, and are read by id', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const op = chargeWithJob(wallet);
      const [outcome] = await applied(store, op);
      expect(outcome?.status).to.equal('done');
      const wanted = { ...(op as { job: { job: object } }).job.job, phase: 'starting', shown: 'queued', version: 1 };
      expect(outcome?.job).to.deep.include(wanted);
      expect(await store.jobs.get(outcome?.job?.id ?? '')).to.deep.equal(outcome?.job);
      expect(await store.jobs.get(newId('job'))).to.equal(undefined);
      const [again] = await applied(store, op);
      expect([again?.status, again?.job]).to.deep.equal(['exists', outcome?.job]);
    });

    it('are not created by a refused charge', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const op = { ...chargeWithJob(wallet), amount: 10n ** 12n } as Operation & { job: { job: Job } };
      const [outcome] = await applied(store, op);
      expect(outcome?.status).to.equal('insufficient');
      expect(await store.jobs.get(op.job.job.id)).to.equal(undefined);
    });

    it('fail together with the refund of their charge', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const job = await newJob(store, wallet);
      const [stale] = await applied(store, refundWithJob(job, { version: 9 }));
      expect(stale?.status).to.equal('stale_job');
      expect(await store.jobs.get(job.id)).to.deep.equal(job);
      expect((await store.ledger.charge(job.charge))?.state).to.equal('settled');
      const [done] = await applied(store, refundWithJob(job));
      expect([done?.status, done?.charge?.state, done?.job?.phase]).to.deep.equal(['done', 'refunded', 'failed']);
      expect(await store.jobs.get(job.id)).to.deep.equal(done?.job);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([1000, 0, 0, 1000, 0]);
      const [again] = await applied(store, refundWithJob(job));
      expect([again?.status, again?.job]).to.deep.equal(['exists', done?.job]);
    });

    it('fail without an entry if the money was already refunded', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const job = await newJob(store, wallet);
      await applied(store, giveBack('refund', wallet, job.charge));
      const { seq } = await walletOf(store, wallet);
      const [outcome] = await applied(store, refundWithJob(job));
      expect([outcome?.status, outcome?.job?.phase]).to.deep.equal(['exists', 'failed']);
      expect(await store.jobs.get(job.id)).to.deep.equal(outcome?.job);
      expect((await walletOf(store, wallet)).seq).to.equal(seq);
    });

    it('start and fail in one batch', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const op = chargeWithJob(wallet) as Operation & { job: { job: Job } };
      const outcomes = await applied(store, op, refundWithJob({ ...op.job.job, version: 1 }));
      expect(outcomes.map(({ status, job }) => [status, job?.phase])).to.deep.equal([
        ['done', 'starting'],
        ['done', 'failed'],
      ]);
      expect((await store.jobs.get(op.job.job.id))?.version).to.equal(2);
    });

    it('end once if a refund and a result are concurrent', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newWallet(store);
      for (let turn = 0; turn < 10; turn += 1) {
        const job = await running(wallet, 1);
        const [[refund], result] = await Promise.all([
          applied(store, refundWithJob(job)),
          other.jobs.change({ kind: 'complete', id: job.id, version: job.version, at: 5, result: 'res_1' }),
        ]);
        const after = await store.jobs.get(job.id);
        const state = (await store.ledger.charge(job.charge))?.state;
        const won = result.status === 'done' ? ['completed', 'settled'] : ['failed', 'refunded'];
        expect([after?.phase, state]).to.deep.equal(won);
        expect(refund?.status).to.equal(result.status === 'done' ? 'stale_job' : 'done');
      }
    });
  });

  describe('changes', () => {
    it('are applied one after another, each to the version it was decided on', async () => {
      const { store } = context;
      const job = await newJob(store, await newWallet(store));
      const rerouted = await change(job, { kind: 'reroute', upstream: 'up-2' });
      const begun = await due(rerouted.job, 1000);
      const on = await change(begun.job, { kind: 'advance', shown: 'processing', progress: 40, dueAt: 2000 });
      expect([rerouted, begun, on].map(({ status }) => status)).to.deep.equal(['done', 'done', 'done']);
      expect(on.job).to.deep.include({ phase: 'running', progress: 40, dueAt: 2000, owner: null, version: 4 });
      expect(await store.jobs.get(job.id)).to.deep.equal(on.job);
      const ended = await change(on.job, { kind: 'complete', result: 'res_1' });
      expect(ended.job).to.deep.include({ phase: 'completed', result: 'res_1', dueAt: null, endedAt: 5 });
      expect(await store.jobs.get(job.id)).to.deep.equal(ended.job);
    });

    it('are decided on the caller’s row, and on the stored row if that is outdated', async () => {
      const { store } = context;
      const job = await newJob(store, await newWallet(store));
      const begin = buildBegin(job);
      const begun = await store.jobs.change(begin, job);
      expect([begun.status, begun.job]).to.deep.equal(['done', await store.jobs.get(job.id)]);
      const late = { kind: 'reroute', id: job.id, version: job.version, at: 6, upstream: 'up-2' } as const;
      expect((await store.jobs.change(late, job)).status).to.equal('stale');
      expect((await store.jobs.change(begin, job)).status).to.equal('exists');
    });

    it('write the attempts of the call with them, or nothing if they are stale or repeated', async () => {
      const { jobs, attempts } = context.store;
      const job = await newJob(context.store, await newWallet(context.store));
      const rows = (ending: AttemptEnding) => toAttemptRows(job, [newAttempt({ ending })]);
      const begin = buildBegin(job);
      const running = await jobs.change(begin, job, rows('running'));
      expect([running.status, await attempts.list([job.charge])]).to.deep.equal(['done', rows('running')]);
      for (const [change, status] of [
        [begin, 'exists'],
        [{ ...begin, ref: 'other' }, 'stale'],
      ] as const) {
        expect((await jobs.change(change, job, rows('failed'))).status).to.equal(status);
        expect(await attempts.list([job.charge])).to.deep.equal(rows('running'));
      }
      const complete = { kind: 'complete', id: job.id, version: job.version + 1, at: 6, result: 'res_1' } as const;
      expect((await jobs.change(complete, running.job, rows('answered'))).status).to.equal('done');
      expect(await attempts.list([job.charge])).to.deep.equal(rows('answered'));
    });

    it('do nothing if they are stale, repeated or for an unknown job', async () => {
      const { store } = context;
      const job = await newJob(store, await newWallet(store));
      const begun = await due(job, 1000);
      expect((await due(job, 1000)).status).to.equal('exists');
      expect((await change(job, { kind: 'reroute', upstream: 'up-2' })).status).to.equal('stale');
      expect((await change({ ...job, version: 7 }, { kind: 'complete', result: 'res_1' })).status).to.equal('stale');
      expect(await store.jobs.get(job.id)).to.deep.equal(begun.job);
      const nobody = { ...job, id: newId('job') };
      expect(await due(nobody, 1000)).to.deep.equal({ status: 'no_job' });
    });

    it('are applied by one of two processes that decided on the same version', async () => {
      const { store } = context;
      const other = await context.other();
      for (let turn = 0; turn < 10; turn += 1) {
        const job = await newJob(store, await newWallet(store));
        const of = { kind: 'begin', id: job.id, version: job.version, at: 5, dueAt: 1 } as const;
        const found = await Promise.all([
          store.jobs.change({ ...of, ref: 'one' }),
          other.jobs.change({ ...of, ref: 'other' }),
        ]);
        expect(found.map(({ status }) => status)).to.have.members(['done', 'stale']);
        const winner = found[0]?.status === 'done' ? 'one' : 'other';
        expect(await store.jobs.get(job.id)).to.include({ ref: winner, version: 2 });
      }
    });
  });

  describe('claims', () => {
    it('return due jobs, oldest first, up to the limit', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const jobs: Job[] = [];
      for (const dueAt of [30, 10, 20]) jobs.push(await running(wallet, dueAt));
      const later = await running(wallet, Date.now() + 60_000);
      const owner = newId('own');
      const first = await claim(owner, { limit: 2 });
      expect(first.map(({ dueAt }) => dueAt)).to.deep.equal([10, 20]);
      expect(first[0]).to.deep.equal({ ...jobs[1], owner, version: 3, lease: first[0]?.lease });
      expect((first[0]?.lease ?? 0) - Date.now()).to.be.within(LEASE_MS - 10_000, LEASE_MS + 1000);
      expect(await store.jobs.get(first[0]?.id ?? '')).to.deep.equal(first[0]);
      expect((await claim(owner)).map(({ dueAt }) => dueAt)).to.deep.equal([30]);
      expect(await claim(owner)).to.deep.equal([]);
      expect(await store.jobs.get(later.id)).to.deep.equal(later);
      const result = await change(jobs[0] as Job, { kind: 'complete', result: 'res_1' });
      expect(result.status, 'decided on before the claim').to.equal('stale');
    });

    it('return jobs of the same time in order of id', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const jobs: Job[] = [];
      for (let count = 0; count < 6; count += 1) jobs.push(await running(wallet, 7));
      const ids = jobs.map(({ id }) => id).toSorted();
      expect((await claim(newId('own'), { limit: 3 })).map(({ id }) => id)).to.deep.equal(ids.slice(0, 3));
      expect((await claim(newId('own'), { limit: 3 })).map(({ id }) => id)).to.deep.equal(ids.slice(3));
    });

    it('skip jobs that another process works on', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const alive = newId('own');
      const gone = newId('own');
      await store.owners.renew({ id: alive, leaseMs: LEASE_MS, alone: false });
      const now = Date.now();
      const ofAlive = await running(wallet, 1);
      const leased = await running(wallet, 2);
      const over = await running(wallet, 3);
      const ahead = await running(wallet, 4);
      await store.jobs.put([
        { ...ofAlive, owner: alive, lease: now - 10_000 },
        { ...leased, owner: gone, lease: now + 30_000 },
        { ...over, owner: gone, lease: now - 10_000 },
        { ...ahead, owner: gone, lease: now + 2 * LEASE_MS + 60_000 },
      ]);
      expect((await claim(newId('own'))).map(({ id }) => id)).to.deep.equal([over.id, ahead.id]);
      await store.owners.remove(alive);
      expect((await claim(newId('own'))).map(({ id }) => id)).to.deep.equal([ofAlive.id]);
    });

    it('return only jobs without an owner to a process that cannot judge others', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const free = await running(wallet, 1);
      const over = await running(wallet, 2);
      await store.jobs.put([{ ...over, owner: newId('own'), lease: Date.now() - 10_000 }]);
      const owner = newId('own');
      // The clock has jumped by an hour, or nobody knows.
      for (const at of [Date.now() - 3_600_000, Date.now() + 3_600_000, undefined]) {
        expect((await claim(owner, { at, working: [] })).map(({ id }) => id)).to.deep.equal([free.id]);
        await store.jobs.put([free]);
      }
      expect((await claim(owner)).map(({ id }) => id)).to.deep.equal([free.id, over.id]);
    });

    it('return own jobs whose answer was lost, and not those in progress', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const owner = newId('own');
      await store.owners.renew({ id: owner, leaseMs: LEASE_MS, alone: false });
      const lease = Date.now() - 10_000;
      const lost = await running(wallet, 1);
      const working = await running(wallet, 2);
      const fresh = await running(wallet, 3);
      await store.jobs.put([lost, working].map((job) => ({ ...job, owner, lease })));
      await store.jobs.put([{ ...fresh, owner, lease: Date.now() + 30_000 }]);
      expect(await claim(owner), 'it did not say').to.deep.equal([]);
      expect((await claim(owner, { working: [working.id] })).map(({ id }) => id)).to.deep.equal([lost.id]);
      // It has not reported for long, and works on.
      await store.owners.remove(owner);
      const free = await running(wallet, 4);
      expect(await claim(owner, { working: [working.id, free.id] })).to.deep.equal([]);
      expect((await claim(owner, { working: [working.id] })).map(({ id }) => id)).to.deep.equal([free.id]);
      expect((await claim(newId('own'))).map(({ id }) => id)).to.deep.equal([working.id]);
    });

    it('by two concurrent processes never return the same job', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newWallet(store);
      for (let dueAt = 1; dueAt <= 20; dueAt += 1) await running(wallet, dueAt);
      const claimed: string[] = [];
      while (claimed.length < 20) {
        const found = await Promise.all(
          [store, other].map(({ jobs }) =>
            jobs.claim({ owner: newId('own'), leaseMs: LEASE_MS, limit: 3, at: Date.now() }),
          ),
        );
        expect(found.flat().length, 'somebody gets some').to.be.greaterThan(0);
        claimed.push(...found.flat().map(({ id }) => id));
      }
      expect(new Set(claimed).size).to.equal(20);
      expect(claimed).to.have.length(20);
    });

    it('are renewed by their holder, only for the held version', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      await running(wallet, 1);
      const owner = newId('own');
      const [job] = (await claim(owner, { leaseMs: 500 })) as [Job];
      const renew = (more: object = {}) =>
        store.jobs.renew({ id: job.id, version: job.version, owner, leaseMs: LEASE_MS, ...more });
      expect(await renew({ owner: newId('own') })).to.equal(false);
      expect(await renew({ version: job.version - 1 })).to.equal(false);
      expect(await store.jobs.get(job.id)).to.deep.equal(job);
      expect(await renew()).to.equal(true);
      const renewed = (await store.jobs.get(job.id)) as Job;
      expect(renewed).to.deep.equal({ ...job, lease: renewed.lease });
      expect((renewed.lease ?? 0) - (job.lease ?? 0)).to.be.greaterThan(30_000);
      await sleep(600);
      expect(await claim(newId('own'))).to.deep.equal([]);
      await change(renewed, { kind: 'complete', result: 'res_1' });
      expect(await renew()).to.equal(false);
    });
  });

  it('count open jobs, and read jobs page by page', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const before = await store.jobs.open();
    const jobs = [await newJob(store, wallet), await running(wallet, 1), await newJob(store, wallet)];
    expect(await store.jobs.open()).to.equal(before + 3);
    await applied(store, refundWithJob(jobs[0] as Job));
    await change(jobs[1] as Job, { kind: 'complete', result: 'res_1' });
    expect(await store.jobs.open()).to.equal(before + 1);
    const all = await store.jobs.page({ limit: 10_000 });
    const wanted = await Promise.all(jobs.map(({ id }) => store.jobs.get(id)));
    expect(all.filter((job) => job.wallet === wallet)).to.have.deep.members(wanted);
    const pages: Job[] = [];
    for (let after = ''; ; ) {
      const page = await store.jobs.page({ after, limit: 2 });
      pages.push(...page);
      const last = page.at(-1);
      if (!last) break;
      expect(page.length).to.be.at.most(2);
      after = last.id;
    }
    expect(pages).to.deep.equal(all);
  });

  it('check the marks of jobs page by page, each once', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    await newJob(store, wallet);
    await newJob(store, wallet);
    const all = await store.jobs.page({ limit: 10_000 });
    const seen: string[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const { found, next } = await store.jobs.findWrongMarks({ after, limit: 1 });
      expect(found).to.deep.equal([]);
      if (next !== undefined) seen.push(next);
      expect(seen.length).to.be.at.most(all.length);
      after = next;
    }
    expect(seen).to.deep.equal(all.map(({ id }) => id));
  });
}
