// What a worker does with what it has found of a job, by what the store says to it.
import { expect } from 'chai';
import type { PollOutcome } from '../../../lib/calls/videos/poll.ts';
import { createWorker, type WorkerOptions } from '../../../lib/calls/videos/worker.ts';
import type { Job } from '../../../lib/money/job-rules.ts';
import { until } from '../../../testkit/client.ts';

const AT = 5_000_000;
const JOB = {
  id: 'job',
  version: 3,
  wallet: 'w',
  charge: 'req',
  model: 'film',
  upstream: 'up',
  phase: 'running',
  shown: 'processing',
  progress: 40,
  createdAt: AT - 8000,
  deadline: AT + 3_600_000,
  dueAt: AT,
} as unknown as Job;
const DONE: PollOutcome = { kind: 'completed', result: '{}' };
const FAILED: PollOutcome = { kind: 'failed', error: 'no' };
const OPEN: PollOutcome = {
  kind: 'unfinished',
  shown: 'queued',
  progress: 7,
  retryAfterMs: undefined,
  backsOff: false,
};

interface Case {
  readonly job?: Partial<Job>;
  readonly sight?: PollOutcome;
  /** What the store says to changes, and the ledger to refunds. */
  readonly changed?: string;
  readonly refund?: string;
  readonly pollMs?: number;
  /** How many others this process expects. */
  readonly others?: number;
}

/** A worker that claims one job, and all that it then asks for. */
async function workOn({ job = {}, sight = OPEN, changed = 'done', refund = 'refunded', ...more }: Case) {
  const { pollMs = 1000, others = 0 } = more;
  const told = {
    looks: 0,
    firstPoll: 0,
    changes: [] as object[],
    refunds: [] as object[],
    cancelled: [] as string[],
    booked: [] as object[],
    ended: [] as unknown[],
  };
  const claimed = [{ ...JOB, ...job } as Job];
  let isOver = false;
  const options = {
    attempts: { list: async () => [], put: async (rows: object[]) => void told.booked.push(...rows) },
    jobs: {
      claim: async ({ working }: { working: readonly string[] }) => {
        // The next claim names it no more once it has been worked on.
        isOver = claimed.length === 0 && working.length === 0;
        return claimed.splice(0);
      },
      renew: async () => true,
      change: async (change: object) => {
        told.changes.push(change);
        return { status: changed };
      },
    },
    ledger: {
      refund: async (asked: object) => {
        told.refunds.push(asked);
        return { status: refund };
      },
    },
    pollJob: async () => {
      told.looks += 1;
      return sight;
    },
    cancelJob: async ({ id }: Job) => void told.cancelled.push(id),
    ownerId: 'me',
    leaseMs: 150,
    pollMs,
    clock: { now: () => AT, canJudgeOthers: () => true },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    onEnd: (ended: Job, how: string, ms: number) => told.ended.push([ended.id, how, ms]),
    random: () => 0.5,
  };
  const worker = createWorker(options as unknown as WorkerOptions);
  for (let other = 0; other < others; other += 1) worker.expect(`other_${other}`, AT + 3_600_000);
  worker.start();
  await until(async () => isOver);
  await worker.stop();
  told.firstPoll = worker.computeFirstPollAt() - AT;
  return told;
}

describe('a worker', () => {
  const advance = { kind: 'advance', id: 'job', version: 3, at: AT };

  it('shows how far a job is, and looks again after a pause', async () => {
    const { changes, ended } = await workOn({});
    expect(changes).to.deep.equal([{ ...advance, shown: 'queued', progress: 7, dueAt: AT + 1000 }]);
    expect(ended).to.deep.equal([]);
  });

  it('looks once more at the deadline, however long the pause', async () => {
    const { changes } = await workOn({ job: { deadline: AT + 300 } });
    expect(changes).to.deep.equal([{ ...advance, shown: 'queued', progress: 7, dueAt: AT + 300 }]);
  });

  it('looks again no sooner than the upstream says, and less often after a look that found nothing', async () => {
    const later = await workOn({ sight: { ...OPEN, retryAfterMs: 9000 } });
    expect(later.changes).to.deep.equal([{ ...advance, shown: 'queued', progress: 7, dueAt: AT + 9000 }]);
    const failed = await workOn({ sight: { ...OPEN, backsOff: true } });
    expect(failed.changes).to.deep.equal([{ ...advance, shown: 'queued', progress: 7, dueAt: AT + 2000 }]);
  });

  it('looks less often at a job that is old, and where many are open', async () => {
    const old = await workOn({ job: { createdAt: AT - 80_000 } });
    expect(old.changes).to.deep.equal([{ ...advance, shown: 'queued', progress: 7, dueAt: AT + 10_000 }]);
    const many = await workOn({ others: 199 });
    expect(many.changes).to.deep.equal([{ ...advance, shown: 'queued', progress: 7, dueAt: AT + 6000 }]);
    expect(many.firstPoll).to.equal(6000);
  });

  it('expects a job again once the store has its next look, now or before', async () => {
    for (const [changed, others] of Object.entries({ done: 1, exists: 1, stale: 0 })) {
      // Each that is expected puts the first look at another off.
      expect((await workOn({ changed, pollMs: 10 })).firstPoll, changed).to.equal(Math.max(10, 30 * others));
    }
  });

  it('ends at the deadline what is not finished, and not before', async () => {
    for (const [deadline, refunds] of [
      [AT, 1],
      [AT + 1, 0],
    ] as const) {
      expect((await workOn({ job: { deadline } })).refunds, `${deadline - AT}`).to.have.length(refunds);
    }
  });

  it('does not end at the deadline what is finished upstream and only waits to be stored', async () => {
    const { refunds, changes } = await workOn({ job: { deadline: AT }, sight: { ...OPEN, waitsForStore: true } });
    expect(refunds).to.deep.equal([]);
    expect(changes).to.deep.equal([{ ...advance, shown: 'queued', progress: 7, dueAt: AT + 1000 }]);
  });

  it('cancels upstream what it gives up at the deadline, and nothing that ends in another way', async () => {
    const late = { deadline: AT };
    expect((await workOn({ job: late })).cancelled).to.deep.equal(['job']);
    for (const other of [
      { job: late, sight: DONE },
      { job: late, sight: FAILED },
      // Not refunded: it goes on.
      { job: late, refund: 'refused' },
      { job: { ...late, phase: 'starting' } as Partial<Job> },
      {},
    ]) {
      expect(
        (await workOn(other)).cancelled,
        JSON.stringify(other, (_, value) => String(value)),
      ).to.deep.equal([]);
    }
  });

  it('fails what another process was about to start, and never asks its upstream', async () => {
    const told = await workOn({ job: { phase: 'starting' }, sight: DONE });
    expect([told.looks, told.changes, told.ended]).to.deep.equal([0, [], [['job', 'failed', 8000]]]);
    const lost = { upstream: 'up', ending: 'lost', certainty: 'possible', totalMs: 8000, cost: null };
    const [{ attempts, ...refund }] = told.refunds as [{ attempts: object[] }];
    expect(attempts).to.have.length(1);
    expect(attempts[0]).to.include(lost);
    expect([refund]).to.deep.equal([
      {
        chargeId: 'req',
        wallet: 'w',
        job: {
          kind: 'fail',
          id: 'job',
          version: 3,
          at: AT,
          error: 'The service was interrupted while it started this video.',
        },
      },
    ]);
  });

  it('tells that a job is completed once the store has it so, now or before', async () => {
    for (const [changed, count] of Object.entries({ done: 1, exists: 1, stale: 0 })) {
      const told = await workOn({ sight: DONE, changed });
      expect(told.changes, changed).to.deep.equal([{ ...advance, kind: 'complete', result: '{}' }]);
      expect(told.ended, changed).to.deep.equal([['job', 'completed', 8000]].slice(0, count));
    }
  });

  it('tells that a job has failed once its money is back', async () => {
    for (const [refund, count] of Object.entries({ refunded: 1, stale_job: 0, unconfirmed: 0, refused: 0 })) {
      expect((await workOn({ sight: FAILED, refund })).ended, refund).to.deep.equal(
        [['job', 'failed', 8000]].slice(0, count),
      );
    }
  });

  it('puts off a job whose refund is refused, but not one that has not started', async () => {
    const refused = { sight: FAILED, refund: 'refused' };
    const put = { ...advance, shown: 'processing', progress: 40, dueAt: AT + 600_000 };
    expect((await workOn(refused)).changes).to.deep.equal([put]);
    expect((await workOn({ ...refused, refund: 'unconfirmed' })).changes).to.deep.equal([]);
    expect((await workOn({ ...refused, job: { phase: 'starting' } })).changes).to.deep.equal([]);
  });
});
