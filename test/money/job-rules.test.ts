// The life of a job as a table: every change in every phase, repeats, and changes that come too late.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type CreateJob,
  decideJob,
  getJobId,
  type Job,
  type JobChange,
  type JobStatus,
} from '../../lib/money/job-rules.ts';

const AT = 5000;
const CREATE: CreateJob = {
  kind: 'create',
  job: {
    id: 'vid_1',
    wallet: 'w',
    charge: 'req_1',
    model: 'm',
    upstream: 'one',
    facts: '{"seconds":5}',
    deadline: AT + 7_200_000,
    createdAt: AT,
    owner: 'own_1',
    lease: AT + 15_000,
  },
};
const base = { id: 'vid_1', at: AT + 1 };
const CHANGES = {
  reroute: { kind: 'reroute', upstream: 'two' },
  begin: { kind: 'begin', ref: '{"id":"up"}', dueAt: AT + 5000 },
  advance: { kind: 'advance', shown: 'processing', progress: 40, dueAt: AT + 9000 },
  complete: { kind: 'complete', result: 'media_1' },
  fail: { kind: 'fail', error: 'It failed.' },
} as const;
type Kind = keyof typeof CHANGES;
const change = (kind: Kind, version: number) => ({ ...base, ...CHANGES[kind], version }) as JobChange;

/** The job after these changes, each of which must be applied. */
function jobAfter(...kinds: readonly Kind[]): Job {
  let { job } = decideJob(undefined, CREATE);
  for (const kind of kinds) {
    const outcome = decideJob(job, change(kind, job?.version ?? 0));
    expect(outcome.status).to.equal('done');
    job = outcome.job;
  }
  return job as Job;
}

const PHASES: Readonly<Record<Job['phase'], readonly Kind[]>> = {
  starting: [],
  running: ['begin'],
  completed: ['begin', 'complete'],
  failed: ['fail'],
};

describe('a job', () => {
  it('starts with the lease of its creator, and is due when that lease ends', () => {
    expect(jobAfter()).to.deep.equal({
      ...CREATE.job,
      phase: 'starting',
      shown: 'queued',
      progress: 0,
      ref: null,
      result: null,
      error: null,
      dueAt: AT + 15_000,
      endedAt: null,
      version: 1,
    });
    expect(getJobId(CREATE)).to.equal('vid_1');
    expect(getJobId(change('fail', 1))).to.equal('vid_1');
  });

  const allowed: Readonly<Record<Job['phase'], readonly Kind[]>> = {
    starting: ['reroute', 'begin', 'fail'],
    running: ['advance', 'complete', 'fail'],
    completed: [],
    failed: [],
  };
  for (const [phase, kinds] of Object.entries(PHASES)) {
    for (const kind of Object.keys(CHANGES) as Kind[]) {
      const may = allowed[phase as Job['phase']].includes(kind);
      it(`${may ? 'allows' : 'refuses'} ${kind} when it is ${phase}`, () => {
        const job = jobAfter(...kinds);
        const { status, job: then } = decideJob(job, change(kind, job.version));
        expect(status).to.equal(may ? 'done' : 'stale');
        if (may) expect(then?.version).to.equal(job.version + 1);
        else expect(then).to.equal(job);
      });
    }
  }

  it('has no owner while it waits, and is never due once it has ended', () => {
    expect(jobAfter('begin')).to.include({
      phase: 'running',
      ref: '{"id":"up"}',
      owner: null,
      lease: null,
      dueAt: AT + 5000,
    });
    expect(jobAfter('begin', 'advance')).to.include({
      shown: 'processing',
      progress: 40,
      owner: null,
      dueAt: AT + 9000,
    });
    const ended = { owner: null, lease: null, dueAt: null, endedAt: AT + 1 };
    expect(jobAfter('begin', 'complete')).to.include({
      ...ended,
      phase: 'completed',
      progress: 100,
      result: 'media_1',
    });
    expect(jobAfter('begin', 'fail')).to.include({ ...ended, phase: 'failed', error: 'It failed.', result: null });
    expect(jobAfter('reroute')).to.include({ upstream: 'two', owner: 'own_1', phase: 'starting' });
  });

  for (const kind of ['advance', 'complete', 'fail'] as const) {
    it(`releases the lease of the polling process on ${kind}`, () => {
      const claimed = { ...jobAfter('begin'), owner: 'own_2', lease: AT + 30_000 };
      const { job } = decideJob(claimed, change(kind, claimed.version));
      expect(job).to.include({ owner: null, lease: null });
    });
  }

  for (const kind of Object.keys(CHANGES) as Kind[]) {
    it(`applies ${kind} only once when it is sent twice`, () => {
      const before = jobAfter(...(kind === 'advance' || kind === 'complete' ? (['begin'] as const) : []));
      const first = decideJob(before, change(kind, before.version));
      expect(decideJob(first.job, change(kind, before.version))).to.deep.equal({ status: 'exists', job: first.job });
    });
  }

  it('answers stale to a change that resembles the last one but has another value', () => {
    const others = { upstream: 'three', ref: '{"id":"other"}', dueAt: AT + 1, result: 'media_2', error: 'No.' };
    for (const kind of Object.keys(CHANGES) as Kind[]) {
      const job = jobAfter(...(kind === 'advance' || kind === 'complete' ? (['begin', kind] as const) : [kind]));
      const last = change(kind, job.version - 1);
      const other = Object.fromEntries(Object.entries(others).filter(([field]) => field in last));
      expect(decideJob(job, { ...last, ...other } as JobChange).status, kind).to.equal('stale');
    }
    const rerouted = jobAfter('reroute');
    const { dueAt, version } = rerouted;
    const advance = { ...change('advance', version - 1), dueAt } as JobChange;
    expect(decideJob(rerouted, advance).status).to.equal('stale');
  });

  it('is created only once, and a change of a missing job is no_job', () => {
    const job = jobAfter('begin');
    expect(decideJob(job, CREATE)).to.deep.equal({ status: 'exists', job });
    expect(decideJob(undefined, change('fail', 1))).to.deep.equal({ status: 'no_job' });
  });

  it('answers stale to a change that was decided on an older version', () => {
    const job = jobAfter('begin', 'advance');
    expect(decideJob(job, change('begin', 1)).status).to.equal('stale');
    for (const kind of ['complete', 'fail'] as const) {
      expect(decideJob(job, change(kind, 2)).status, kind).to.equal('stale');
    }
    expect(decideJob(job, change('fail', job.version + 1)).status).to.equal('stale');
  });

  it('has whole progress that never falls and is 100 only at the end', () => {
    const running = jobAfter('begin', 'advance');
    const progress = (value: number) =>
      decideJob(running, { ...(change('advance', running.version) as object), progress: value } as JobChange).job
        ?.progress;
    expect([10, 40.9, 55.7, 100, 150, -3, Number.NaN, Number.POSITIVE_INFINITY].map(progress)).to.deep.equal([
      40, 40, 55, 99, 99, 40, 40, 40,
    ]);
    const fresh = { ...(change('advance', running.version) as object), progress: Number.NaN } as JobChange;
    expect(decideJob({ ...running, progress: 0 }, fresh).job?.progress).to.equal(0);
    const back = { ...(change('advance', running.version) as object), shown: 'queued' } as JobChange;
    expect(decideJob(running, back).job?.shown).to.equal('processing');
  });

  it('ends only once, whatever the order of changes', () => {
    const kinds = fc.array(fc.constantFrom(...(Object.keys(CHANGES) as Kind[])), { maxLength: 12, size: 'max' });
    fc.assert(
      fc.property(kinds, fc.nat(3), (order, lag) => {
        let job = jobAfter();
        let ends = 0;
        for (const kind of order) {
          const { status, job: then } = decideJob(job, change(kind, job.version - (lag % 2)));
          const isEnd = (then as Job).endedAt !== null && job.endedAt === null;
          if (isEnd) ends += 1;
          if (status !== 'done') expect(then).to.equal(job);
          expect((then as Job).progress >= job.progress).to.equal(true);
          job = then as Job;
        }
        expect(ends).to.be.below(2);
        const statuses: readonly JobStatus[] = ['done', 'exists', 'stale', 'no_job'];
        expect(statuses).to.include(decideJob(job, change('fail', job.version)).status);
      }),
    );
  });
});
