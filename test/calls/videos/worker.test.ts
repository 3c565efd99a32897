// The worker on a store that fails on demand: each await on the way of a job is made to fail, and the job ends once, its
// money with it.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import type { StoredMedia } from '../../../lib/store/ports/media.ts';
import type { VideoState } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { until } from '../../../testkit/client.ts';
import {
  answerAfter,
  type Behaviour as Fails,
  type FaultyStore,
  lose,
  makeGate,
  openFaultyStore,
  refuse,
  vanish,
  waitFor,
} from '../../../testkit/faulty-store.ts';
import { itTimed } from '../../../testkit/timed.ts';
import {
  type Behaviour,
  deaf,
  finished,
  LEASE_MS,
  openStage,
  PRICE,
  processing,
  RUB,
  type VideoStage,
} from './stage.ts';

const FULL = 1000n * RUB;
const failed = async (): Promise<VideoState> => ({ status: 'failed', fault: upstreamFault('request', 'no') });
const WAYS: Readonly<Record<string, Fails>> = { 'is refused': refuse, 'loses its answer': lose };

describe('worker', () => {
  let faulty: FaultyStore;
  let wallet: string;
  let stages: VideoStage[];

  const open = (behaviour: Behaviour = {}, ownerId = 'own_me') => {
    const stage = openStage(faulty, ownerId, behaviour);
    stages.push(stage);
    return stage;
  };
  const balance = async () => (await faulty.read(wallet)).avail;
  const jobOf = (id: string) => faulty.real.jobs.get(id);
  const phase = async (id: string) => (await jobOf(id))?.phase;
  /** A video that runs upstream, on a worker that is at work. */
  const run = async (stage: VideoStage) => {
    const { id } = await stage.begin(wallet);
    stage.worker.start();
    return id;
  };
  const ends = (id: string, how: 'completed' | 'failed') => until(async () => (await phase(id)) === how);
  const moves = async () => (await faulty.real.ledger.entries(wallet, { limit: 50 })).map(({ kind }) => kind);

  before(async () => {
    faulty = await openFaultyStore();
  });
  beforeEach(async () => {
    wallet = await faulty.wallet();
    stages = [];
  });
  afterEach(async () => {
    for (const name of ['ledger.apply', 'jobs.change', 'jobs.claim', 'jobs.renew'] as const) {
      faulty.always(name, undefined);
    }
    for (const { worker, engine, ledger } of stages) {
      await worker.stop();
      engine.stop();
      expect(await ledger.drain(5000)).to.equal(0);
    }
    expect(await verifyLedger(faulty.real)).to.include({ ok: true });
  });
  after(() => faulty.close());

  it('keeps what the upstream has made, through the proxy of its settings', async () => {
    const stage = open();
    const id = await run(stage);
    await ends(id, 'completed');
    const kept = { kind: 'video', account: wallet, upstreamOrigin: 'https://up-0.example' };
    expect(stage.kept).to.have.length(1);
    expect(stage.kept[0]).to.include({ ...kept, proxy: 'http://proxy.example:3128' });
    expect(await jobOf(id)).to.include({ progress: 100, owner: null, dueAt: null });
    expect([stage.ended, await balance()]).to.deep.equal([['completed'], FULL - PRICE]);
    expect(stage.found).to.deep.equal(['up-0 completed']);
  });

  const steps: Readonly<Record<string, readonly [Parameters<FaultyStore['next']>[0], said: string]>> = {
    'a claim': ['jobs.claim', 'could not claim the jobs that are due'],
    'what a look has found': ['jobs.change', 'could not process a job'],
  };
  for (const [what, [call, said]] of Object.entries(steps)) {
    for (const [how, fails] of Object.entries(WAYS)) {
      it(`goes on when ${what} ${how}`, async () => {
        let looks = 0;
        const poll = () => {
          looks += 1;
          return looks === 1 ? processing() : finished();
        };
        const stage = open({ poll });
        const { id } = await stage.begin(wallet);
        faulty.next(call, fails);
        stage.worker.start();
        await until(() => stage.ended.length > 0);
        expect([await phase(id), stage.ended, await balance()]).to.deep.equal([
          'completed',
          ['completed'],
          FULL - PRICE,
        ]);
        expect(stage.logged).to.include.members([said, 'a job has completed']);
      });
    }
  }

  for (const [how, fails] of Object.entries(WAYS)) {
    it(`ends it once when the end ${how}`, async () => {
      const stage = open();
      const { id } = await stage.begin(wallet);
      faulty.next('jobs.change', fails);
      stage.worker.start();
      await ends(id, 'completed');
      const { result } = (await jobOf(id)) ?? {};
      await sleep(2 * LEASE_MS);
      expect([(await jobOf(id))?.result, await balance()]).to.deep.equal([result, FULL - PRICE]);
    });
  }

  for (const [how, fails] of Object.entries({ ...WAYS, vanishes: vanish })) {
    it(`refunds once when the refund ${how}`, async () => {
      const stage = open({ poll: failed });
      const { id } = await stage.begin(wallet);
      faulty.next('ledger.apply', fails);
      stage.worker.start();
      await until(() => stage.ended.length > 0);
      expect(await phase(id)).to.equal('failed');
      expect([await moves(), stage.ended]).to.deep.equal([['refund', 'charge', 'topup'], ['failed']]);
    });
  }

  it('refunds once when the store confirms the refund so late that others have looked at the job', async () => {
    const gate = makeGate();
    const stage = open({ poll: failed });
    const { id } = await stage.begin(wallet);
    faulty.next('ledger.apply', answerAfter(gate.opened));
    stage.worker.start();
    const other = open({ poll: failed }, 'own_other');
    other.worker.start();
    await sleep(2 * LEASE_MS);
    gate.open();
    await ends(id, 'failed');
    expect(await moves()).to.deep.equal(['refund', 'charge', 'topup']);
  });

  it('refunds later when the store takes no refund for longer than a lease', async () => {
    const stage = open({ poll: failed });
    const id = await run(stage);
    faulty.always('ledger.apply', refuse);
    await sleep(4 * LEASE_MS);
    expect(['running', 'starting']).to.include(await phase(id));
    faulty.always('ledger.apply', undefined);
    await ends(id, 'failed');
    expect(await moves()).to.deep.equal(['refund', 'charge', 'topup']);
  });

  it('puts off a video that cannot be refunded, and stops only when that is written', async () => {
    const gate = makeGate();
    const stage = open({ poll: failed });
    const { id } = await stage.begin(wallet);
    faulty.next('ledger.apply', async () => [{ status: 'unknown_charge' }]);
    faulty.next('jobs.change', waitFor(gate.opened));
    stage.worker.start();
    await until(() => stage.logged.includes('a refund was refused'));
    const stopped = stage.worker.stop().then(() => 'stopped');
    expect(await Promise.race([stopped, sleep(100).then(() => 'waits')])).to.equal('waits');
    gate.open();
    expect(await stopped).to.equal('stopped');
    const { phase: left, dueAt } = (await jobOf(id)) ?? {};
    expect(left).to.equal('running');
    expect(Number(dueAt) - Date.now()).to.be.within(9 * 60_000, 10 * 60_000);
  });

  const lacking = async (): Promise<VideoState> => ({ status: 'processing', lacksResult: true });

  itTimed('waits for the result of a completed video until its deadline', async () => {
    const deadlineMs = 300;
    const startedAt = performance.now();
    const stage = open({ poll: lacking, deadlineMs });
    const id = await run(stage);
    await ends(id, 'failed');
    expect(performance.now() - startedAt).to.be.within(deadlineMs, deadlineMs + 5000);
    expect((await jobOf(id))?.error).to.equal('The video was not finished in time.');
    expect([await moves(), await balance()]).to.deep.equal([['refund', 'charge', 'topup'], FULL]);
  });

  const cancels: Readonly<Record<string, NonNullable<Behaviour['cancel']>>> = {
    'is accepted': async () => undefined,
    'is refused': async () => {
      throw upstreamFault('request', 'it is too late');
    },
    'is never answered': deaf,
  };
  for (const [how, cancel] of Object.entries(cancels)) {
    it(`gives the money of a late video back before it is cancelled, which ${how}`, async () => {
      const seen: unknown[] = [];
      const stage = open({
        poll: processing,
        deadlineMs: 100,
        async cancel(ref, signal) {
          seen.push(ref, await balance());
          return cancel(ref, signal);
        },
      });
      const id = await run(stage);
      await ends(id, 'failed');
      await until(() => seen.length === 2);
      expect(seen).to.deep.equal([{ id: 'up_1' }, FULL]);
      await stage.worker.stop();
      expect([stage.ended, stage.cancelled.length, await balance()]).to.deep.equal([['failed'], 1, FULL]);
      expect(stage.logged).not.to.include('could not process a job');
      expect(stage.logged.includes('could not cancel a video')).to.equal(how !== 'is accepted');
    });
  }

  it('takes the result of a completed video that comes late', async () => {
    let looks = 0;
    const answers = [lacking, processing, lacking, finished];
    const poll = async (): Promise<VideoState> => {
      looks += 1;
      return (answers[looks - 1] ?? finished)();
    };
    const id = await run(open({ poll }));
    await ends(id, 'completed');
    expect([looks, await balance()]).to.deep.equal([4, FULL - PRICE]);
  });

  describe('while a result is kept for longer than a lease', () => {
    const slowly =
      (ms: number): NonNullable<Behaviour['keep']> =>
      async (_source, { signal }) => {
        await sleep(ms, undefined, { signal });
        return { id: 'f'.repeat(43), mediaType: 'video/mp4' } as StoredMedia;
      };

    for (const [how, fails] of Object.entries({ 'are made': undefined, ...WAYS })) {
      it(`renews its lease, and ends it when renewals ${how}`, async () => {
        const stage = open({ keep: slowly(5 * LEASE_MS) });
        const other = open({}, 'own_other');
        const { id } = await stage.begin(wallet);
        if (fails) faulty.next('jobs.renew', fails);
        stage.worker.start();
        await until(() => stage.kept.length === 1);
        other.worker.start();
        await ends(id, 'completed');
        expect([stage.ended, other.ended, other.kept.length]).to.deep.equal([['completed'], [], 0]);
        // A renewal that comes late on a busy machine leaves the job to the other, as it should.
      }).retries(2);
    }

    it('leaves it to whoever has taken it, and ends it once', async () => {
      const stage = open({ keep: slowly(60_000) });
      const id = await run(stage);
      await until(() => stage.kept.length === 1);
      faulty.always('jobs.renew', refuse);
      const other = open({}, 'own_other');
      // It takes a real process without renewals for dead; the first one finds out when it can renew again.
      await sleep(LEASE_MS + 50);
      const renewals = sleep(200).then(() => faulty.always('jobs.renew', undefined));
      other.worker.start();
      await ends(id, 'completed');
      await renewals;
      await until(() => stage.kept[0]?.signal.aborted === true);
      expect([stage.ended, other.ended, await balance()]).to.deep.equal([[], ['completed'], FULL - PRICE]);
    });

    itTimed('stops at once, and leaves it to the others', async () => {
      for (const behaviour of [{ keep: slowly(60_000) }, { poll: deaf }]) {
        const stage = open(behaviour);
        const id = await run(stage);
        await until(() => stage.polled.length > 0);
        const startedAt = performance.now();
        await stage.worker.stop();
        expect(performance.now() - startedAt).to.be.below(LEASE_MS);
        const other = open({}, 'own_other');
        other.worker.start();
        await ends(id, 'completed');
        // The next video is not for it.
        await other.worker.stop();
        expect(stage.ended).to.deep.equal([]);
      }
      expect(await balance()).to.equal(FULL - 2n * PRICE);
    });
  });

  it('keeps a result again that our store did not take, and shows it as almost done meanwhile', async () => {
    let tries = 0;
    const keep = async () => {
      tries += 1;
      if (tries < 3) throw fault('result_not_kept');
      return { id: 'f'.repeat(43), mediaType: 'video/mp4' } as StoredMedia;
    };
    const stage = open({ keep });
    const id = await run(stage);
    await until(() => tries === 2);
    expect(await jobOf(id)).to.include({ shown: 'processing', progress: 99, phase: 'running' });
    await ends(id, 'completed');
    expect([stage.ended, await balance()]).to.deep.equal([['completed'], FULL - PRICE]);
  });

  it('refunds at the deadline what is finished and could never be kept', async () => {
    const keep = async () => {
      throw fault('result_not_kept');
    };
    const id = await run(open({ keep, deadlineMs: 200 }));
    await ends(id, 'failed');
    expect([(await jobOf(id))?.error, await balance()]).to.deep.equal(['The video was not finished in time.', FULL]);
  });

  it('completes what the upstream has finished although the deadline is over', async () => {
    const stage = open({ deadlineMs: 100 });
    const { id } = await stage.begin(wallet);
    await sleep(150);
    stage.worker.start();
    await ends(id, 'completed');
    expect(await balance()).to.equal(FULL - PRICE);
  });

  it('never takes a job that it is making itself for one that was left behind, nor any while nobody can tell', async () => {
    const stage = open();
    faulty.always('jobs.change', refuse);
    const starting = stage.begin(wallet);
    await sleep(LEASE_MS + 100);
    const other = open({}, 'own_other');
    other.trusts = false;
    other.worker.start();
    stage.worker.start();
    await sleep(2 * LEASE_MS);
    faulty.always('jobs.change', undefined);
    const { id, thrown } = await starting;
    expect(thrown).to.equal(undefined);
    await ends(id, 'completed');
    expect(await balance()).to.equal(FULL - PRICE);
  });

  it('of two each ends some of many, each once', async () => {
    const both = [open(), open({}, 'own_other')] as const;
    const rich = await faulty.wallet(10_000n);
    const begun = await Promise.all(Array.from({ length: 60 }, (_, at) => both[at % 2 ? 1 : 0].begin(rich)));
    for (const { worker } of both) worker.start();
    for (const { id } of begun) await ends(id, 'completed');
    await until(() => both.flatMap(({ ended }) => ended).length === 60);
    expect(both.flatMap(({ kept }) => kept)).to.have.length(60);
  });
});
