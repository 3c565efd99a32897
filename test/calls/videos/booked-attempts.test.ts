// What a video books of its attempts, whenever the store fails in between: each once, and none completed without a cost.
import { expect } from 'chai';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import { foldUsage } from '../../../lib/ledger/usage-fold.ts';
import type { Attempt } from '../../../lib/money/attempt.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { until } from '../../../testkit/client.ts';
import {
  answerAfter,
  type FaultyStore,
  lose,
  makeGate,
  openFaultyStore,
  refuse,
} from '../../../testkit/faulty-store.ts';
import { accepts, type Behaviour, finished, LEASE_MS, openStage, processing, type VideoStage } from './stage.ts';

const WAYS = { 'is not taken': refuse, 'is taken and its answer lost': lose };

describe('attempts of a video', () => {
  let faulty: FaultyStore;
  let wallet: string;
  let stages: VideoStage[];

  const open = (behaviour: Behaviour = {}, ownerId = 'own_me') => {
    const stage = openStage(faulty, ownerId, behaviour);
    stages.push(stage);
    return stage;
  };
  const booked = (charge: string) => faulty.real.attempts.list([charge]);
  const brief = (rows: readonly Attempt[]) =>
    rows.map(({ upstream, ending, certainty }) => [upstream, ending, certainty]);

  before(async () => {
    faulty = await openFaultyStore();
    await faulty.real.settings.set('attempts.since', new Date(0).toISOString());
  });
  beforeEach(async () => {
    wallet = await faulty.wallet();
    stages = [];
  });
  afterEach(async () => {
    for (const name of ['jobs.change', 'attempts.list'] as const) faulty.always(name, undefined);
    for (const { worker, engine, ledger } of stages) {
      await worker.stop();
      engine.stop();
      expect(await ledger.drain(5000)).to.equal(0);
    }
    expect((await verifyLedger(faulty.real)).problems).to.deep.equal([]);
  });
  after(() => faulty.close());

  for (const [how, fails] of Object.entries(WAYS)) {
    it(`are booked once when the row of a start ${how}`, async () => {
      faulty.next('jobs.change', fails);
      const { thrown, requestId, job } = await open().begin(wallet);
      expect([thrown, job?.phase]).to.deep.equal([undefined, 'running']);
      expect(brief(await booked(requestId))).to.deep.equal([['up-0', 'running', 'possible']]);
    });

    it(`get their end when the row of a completion ${how}`, async () => {
      const began = Date.now();
      const stage = open();
      const { id, requestId } = await stage.begin(wallet);
      faulty.next('jobs.change', fails);
      stage.worker.start();
      await until(async () => (await faulty.real.jobs.get(id))?.phase === 'completed');
      const [row] = await booked(requestId);
      expect(brief(row ? [row] : [])).to.deep.equal([['up-0', 'answered', 'reported']]);
      expect(row?.totalMs).to.be.within(0, Date.now() - began);
    });
  }

  it('get their end when the rows cannot be read at first', async () => {
    const stage = open();
    const { id, requestId } = await stage.begin(wallet);
    faulty.next('attempts.list', refuse);
    stage.worker.start();
    await until(async () => (await faulty.real.jobs.get(id))?.phase === 'completed');
    expect(brief(await booked(requestId))).to.deep.equal([['up-0', 'answered', 'reported']]);
  });

  it('have those that refused before another accepted, and before all had refused', async () => {
    const refusing = async () => {
      throw upstreamFault('quota', 'no money', { status: 402 });
    };
    const accepted = await open({ starts: [refusing, accepts] }).begin(wallet);
    const refused = ['up-0', 'refused', 'none'];
    expect(brief(await booked(accepted.requestId))).to.deep.equal([refused, ['up-1', 'running', 'possible']]);
    const none = await open({ starts: [refusing, refusing] }).begin(wallet);
    expect(none.job?.phase).to.equal('failed');
    expect(brief(await booked(none.requestId))).to.deep.equal([refused, ['up-1', 'refused', 'none']]);
  });

  it('may have cost something if the job fails, or is never finished', async () => {
    const failing = open({ poll: async () => ({ status: 'failed', fault: upstreamFault('request', 'no') }) });
    const late = open({ poll: processing, deadlineMs: 50 }, 'own_late');
    for (const stage of [failing, late]) {
      const { id, requestId } = await stage.begin(wallet);
      stage.worker.start();
      await until(async () => (await faulty.real.jobs.get(id))?.phase === 'failed');
      await stage.worker.stop();
      expect(brief(await booked(requestId))).to.deep.equal([['up-0', 'failed', 'possible']]);
    }
  });

  it('are presumed of a start whose process died before it could book them', async () => {
    faulty.always('jobs.change', refuse);
    const dying = open();
    setTimeout(() => dying.engine.stop(), 100);
    const { id, requestId } = await dying.begin(wallet);
    faulty.always('jobs.change', undefined);
    const other = open({ poll: finished }, 'own_other');
    other.worker.start();
    await until(async () => (await faulty.real.jobs.get(id))?.phase === 'failed', 20 * LEASE_MS + 10_000);
    const rows = await booked(requestId);
    expect(brief(rows)).to.deep.equal([['up-0', 'lost', 'possible']]);
    expect(rows[0]?.totalMs).to.be.within(0, Date.now() - (rows[0]?.at ?? 0));
  });

  it('are none of a video whose charge went back before any upstream was asked', async () => {
    const gate = makeGate();
    faulty.next('ledger.apply', answerAfter(gate.opened));
    const { id, requestId } = await open().begin(wallet);
    gate.open();
    await until(async () => (await faulty.real.jobs.get(id))?.phase === 'failed');
    expect(await booked(requestId)).to.deep.equal([]);
  });

  it('stay as they were when another process took this one for dead, which then hears that its upstream accepts', async () => {
    const gate = makeGate();
    const late: typeof accepts = async (...call) => {
      await gate.opened;
      return accepts(...call);
    };
    const begun = open({ starts: [late], startWithinMs: 60_000 }).begin(wallet);
    const other = open({}, 'own_other');
    other.worker.start();
    await until(async () => (await faulty.read(wallet)).seq === 3, 20 * LEASE_MS + 10_000);
    await foldUsage(faulty.real, wallet);
    gate.open();
    const { thrown, requestId, job } = await begun;
    expect([thrown?.message, job?.phase]).to.deep.equal(['The upstream provider failed. Charge refunded.', 'failed']);
    expect(brief(await booked(requestId))).to.deep.equal([['up-0', 'lost', 'possible']]);
  });
});
