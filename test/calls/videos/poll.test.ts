// What one poll of a job finds, what is said of it, and how long the next has to wait.
import { mock } from 'node:test';
import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { createPollJob, type Found, type PollOutcome } from '../../../lib/calls/videos/poll.ts';
import type { Catalog } from '../../../lib/catalog/catalog.ts';
import type { Job } from '../../../lib/money/job-rules.ts';
import type { UpstreamFaultKind, VideoState } from '../../../lib/upstream/contract/provider.ts';
import { FAULT_KINDS, upstreamFault } from '../../../lib/upstream/host/fault.ts';

interface Stage {
  readonly poll: (ref: unknown, signal?: AbortSignal) => Promise<VideoState>;
  readonly keep?: () => Promise<{ id: string; mediaType: string }>;
  readonly pollMsMax?: number;
  readonly turnMsMax?: number;
  readonly upstreams?: ReadonlyMap<string, object>;
}

const JOB: Partial<Job> = { id: 'job', wallet: 'w', model: 'film', upstream: 'up', shown: 'processing', progress: 40 };
const RESULT = { type: 'url', url: 'https://up.example/v.mp4' } as const;

/** Answers a turn later, and counts how many wait for it at the same time. */
function counted() {
  let [inside, most] = [0, 0];
  return {
    async count<Answer>(answer: Answer): Promise<Answer> {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
      return answer;
    },
    most: () => most,
  };
}

describe('a poll of a job', () => {
  /** Of the clock. */
  let atMs = 0;
  const told: { found: [string, Found][]; warned: string[]; alerted: string[]; alerts: object[]; kept: object[] } = {
    found: [],
    warned: [],
    alerted: [],
    alerts: [],
    kept: [],
  };
  beforeEach(() => {
    atMs = 5_000_000;
    for (const list of Object.values(told)) list.splice(0);
  });

  const upstreamsOf = (polls: Readonly<Record<string, Stage['poll']>>) =>
    new Map(
      Object.entries(polls).map(([upstream, poll]) => [
        upstream,
        { origin: `https://${upstream}.example`, proxy: undefined, provider: { video: { poll } } },
      ]),
    );

  function open({ poll, keep = async () => ({ id: 'file', mediaType: 'video/mp4' }), ...more }: Stage) {
    const { upstreams = upstreamsOf({ up: poll }), ...waits } = more;
    const pollJob = createPollJob({
      catalog: () => ({ models: [], upstreams }) as unknown as Catalog,
      results: {
        keep: async (_source, request) => {
          told.kept.push(request);
          return keep() as never;
        },
      },
      log: {
        debug: () => undefined,
        warn: (_fields, message) => void told.warned.push(message),
        error: (fields, message) => {
          told.alerts.push(fields);
          told.alerted.push(message);
        },
      },
      ...waits,
      now: () => atMs,
      onPoll: (upstream, found) => void told.found.push([upstream, found]),
    });
    return (more: Partial<Job> = {}, { signal } = new AbortController()): Promise<PollOutcome> =>
      pollJob({ ref: '{"id":"there"}', ...JOB, ...more } as Job, signal);
  }
  const failing =
    (kind: UpstreamFaultKind, facts = {}) =>
    async () => {
      throw upstreamFault(kind, 'no', facts);
    };

  it('asks by the reference of the job, and shows what it finds', async () => {
    const asked: unknown[] = [];
    const pollJob = open({
      poll: async (ref) => {
        asked.push(ref);
        return { status: 'queued', progress: 7, retryAfterMs: 900 };
      },
    });
    const sight = { kind: 'unfinished', shown: 'queued', progress: 7, retryAfterMs: 900, backsOff: false };
    expect(await pollJob()).to.deep.equal(sight);
    expect(asked).to.deep.equal([{ id: 'there' }]);
    expect(told.found).to.deep.equal([['up', 'processing']]);
    const bare = await open({ poll: async () => ({ status: 'processing' }) })();
    expect(bare).to.deep.equal({ ...sight, shown: 'processing', progress: 0, retryAfterMs: undefined });
  });

  it('keeps a result for the account, from the upstream it may come from', async () => {
    const sight = await open({ poll: async () => ({ status: 'completed', result: RESULT }) })();
    expect(sight).to.deep.equal({ kind: 'completed', result: '{"id":"file","mediaType":"video/mp4"}' });
    expect(told.found).to.deep.equal([['up', 'completed']]);
    expect(told.kept[0]).to.include({ kind: 'video', account: 'w', upstreamOrigin: 'https://up.example' });
  });

  it('does not wait for an upstream that hangs, be it its own or that of others', async () => {
    const hung = Promise.withResolvers<VideoState>();
    let asked = 0;
    const hang = () => {
      asked += 1;
      return hung.promise;
    };
    const upstreams = upstreamsOf({ up: hang, other: async () => ({ status: 'completed', result: RESULT }) });
    const pollJob = open({ poll: hang, upstreams, turnMsMax: 50 });
    const sights = Array.from({ length: 40 }, (_, at) => pollJob({ id: `job_${at}` }));
    expect(await pollJob({ upstream: 'other' })).to.include({ kind: 'completed' });
    const late = await Promise.all(sights.slice(32));
    expect(late).to.deep.equal(
      late.map(() => ({
        kind: 'unfinished',
        shown: 'processing',
        progress: 40,
        retryAfterMs: undefined,
        backsOff: true,
      })),
    );
    hung.resolve({ status: 'processing' });
    expect((await Promise.all(sights.slice(0, 32))).every(({ kind }) => kind === 'unfinished')).to.equal(true);
    await pollJob();
    // Those whose turn did not come were never asked for.
    expect(asked).to.equal(33);
  });

  it('says of a result that waits too long to be stored that it waits', async () => {
    const hung = Promise.withResolvers<{ id: string; mediaType: string }>();
    const pollJob = open({
      poll: async () => ({ status: 'completed', result: RESULT }),
      keep: () => hung.promise,
      turnMsMax: 50,
    });
    const sights = Array.from({ length: 9 }, (_, at) => pollJob({ id: `job_${at}` }));
    expect(await sights[8]).to.include({ kind: 'unfinished', progress: 99, waitsForStore: true });
    hung.resolve({ id: 'file', mediaType: 'video/mp4' });
    expect((await Promise.all(sights.slice(0, 8))).every(({ kind }) => kind === 'completed')).to.equal(true);
    expect(told.kept.length).to.equal(8);
  });

  it('asks of many jobs 32 at once, and stores the results of eight at once', async () => {
    const polls = counted();
    const keeps = counted();
    const pollJob = open({
      poll: () => polls.count({ status: 'completed', result: RESULT }),
      keep: () => keeps.count({ id: 'file', mediaType: 'video/mp4' }),
    });
    const sights = await Promise.all(Array.from({ length: 40 }, (_, at) => pollJob({ id: `job_${at}` })));
    expect(sights.map(({ kind }) => kind)).to.deep.equal(sights.map(() => 'completed'));
    expect([polls.most(), keeps.most()]).to.deep.equal([32, 8]);
  });

  it('ends a job by the verdict of its upstream', async () => {
    const fault = upstreamFault('request', 'no', { about: 'content' });
    const sight = await open({ poll: async () => ({ status: 'failed', fault }) })();
    expect(sight.kind).to.equal('failed');
    expect(told.found).to.deep.equal([['up', 'failed']]);
    expect(told.warned).to.deep.equal([]);
  });

  it('says nothing of the job when the poll fails, and waits as the upstream wants', async () => {
    const unknown = { kind: 'unfinished', shown: 'processing', progress: 40, backsOff: true };
    const rate = open({ poll: failing('rate', { retryAfterMs: 30_000 }) });
    expect(await rate()).to.deep.equal({ ...unknown, retryAfterMs: 30_000 });
    expect(await rate({ shown: 'queued' })).to.include({ shown: 'queued' });
    expect(told.found).to.deep.equal([1, 2].map(() => ['up', 'unknown']));
    const broken = open({
      poll: async () => {
        throw new TypeError('ours');
      },
    });
    expect(await broken()).to.deep.equal({ ...unknown, retryAfterMs: undefined });
  });

  it('does not wait long for a poll, even one that ignores its signal', async () => {
    let signal: AbortSignal | undefined;
    const pollJob = open({
      poll: (_ref, given) => {
        signal = given;
        return new Promise(() => undefined);
      },
      pollMsMax: 20,
    });
    expect(await pollJob()).to.include({ kind: 'unfinished', backsOff: true });
    expect(signal?.aborted).to.equal(true);
    expect(told.found).to.deep.equal([['up', 'unknown']]);
  });

  it('says each reason once a minute, and calls the operator for what does not pass', async () => {
    const pollJob = open({ poll: failing('timeout') });
    for (let count = 0; count < 3; count += 1) {
      await pollJob();
      atMs += 29_999;
    }
    expect(told.warned).to.deep.equal(['could not poll a video']);
    for (let count = 0; count < 2; count += 1) await pollJob();
    expect(told.warned).to.deep.equal(['could not poll a video', 'could not poll a video']);
    const refused = open({ poll: failing('auth') });
    await refused();
    await refused();
    expect(told.alerted).to.deep.equal(['an upstream refuses our key']);
    expect(told.alerts).to.deep.equal([{ alert: 'upstream', job: 'job', upstream: 'up', kind: 'auth' }]);
    expect(told.warned).to.have.length(2);
  });

  it('says a reason of each kind, and of each upstream', async () => {
    const kinds: UpstreamFaultKind[] = ['timeout', 'network'];
    const poll = () => failing(kinds[0] ?? 'server')();
    const pollJob = open({ poll, upstreams: upstreamsOf({ up: poll, far: poll }) });
    await pollJob();
    await pollJob({ upstream: 'far' });
    expect(told.warned).to.have.length(2);
    kinds.shift();
    await pollJob();
    expect(told.warned).to.have.length(3);
  });

  it('says nothing of a poll, or of a result, that ends because the worker does', async () => {
    for (const at of ['poll', 'keep'] as const) {
      const ending = new AbortController();
      const end = async () => {
        ending.abort('stopped');
        throw upstreamFault('network', 'closed');
      };
      const finish = async () => ({ status: 'completed', result: RESULT }) as const;
      const pollJob = open(at === 'poll' ? { poll: end } : { poll: finish, keep: end });
      expect(await pollJob({}, ending).catch((reason: unknown) => reason), at).to.equal('stopped');
    }
    expect([told.warned, told.found]).to.deep.equal([[], [['up', 'completed']]]);
  });

  it('gives a poll half a minute, if nothing else is set', async () => {
    const timeout = mock.method(AbortSignal, 'timeout');
    await open({ poll: async () => ({ status: 'processing' }) })();
    expect(timeout.mock.calls.map(({ arguments: [ms] }) => ms)).to.deep.equal([30_000]);
    timeout.mock.restore();
  });

  describe('whose result cannot be stored', () => {
    const completed = async () => ({ status: 'completed', result: RESULT }) as const;
    for (const kind of FAULT_KINDS) {
      it(`goes on, whatever the reason: ${kind}`, async () => {
        const sight = await open({ poll: completed, keep: failing(kind, { retryAfterMs: 700 }) })();
        const wanted = { kind: 'unfinished', shown: 'processing', progress: 99, retryAfterMs: 700, backsOff: true };
        expect(sight).to.deep.equal(wanted);
        expect(told.warned.length + told.alerted.length).to.equal(1);
      });
    }
    it('goes on when the store is the reason', async () => {
      const keep = async () => {
        throw fault('result_not_kept');
      };
      expect(await open({ poll: completed, keep })()).to.include({ kind: 'unfinished', progress: 99, backsOff: true });
    });
  });

  it('goes on while a completed job has no result, for as long as it takes, and says so', async () => {
    const pollJob = open({ poll: async () => ({ status: 'processing', lacksResult: true, retryAfterMs: 300 }) });
    const wanted = { kind: 'unfinished', shown: 'processing', progress: 99, retryAfterMs: 300, backsOff: true };
    for (let hours = 0; hours < 3; hours += 1) {
      expect(await pollJob()).to.deep.equal(wanted);
      atMs += 3_600_000;
    }
    expect(new Set(told.warned)).to.deep.equal(new Set(['a finished video has no result yet']));
  });

  it('of another upstream asks that one, and none where the upstream has left the catalog', async () => {
    const found = (status: 'queued' | 'processing') => async () => ({ status });
    const upstreams = upstreamsOf({ up: found('queued'), far: found('processing') });
    const pollJob = open({ poll: found('queued'), upstreams });
    expect(await pollJob({ upstream: 'far', shown: 'queued' })).to.include({ shown: 'processing' });
    expect(told.warned).to.deep.equal([]);
    told.found.splice(0);
    const sight = await pollJob({ upstream: 'gone', shown: 'queued' });
    expect(sight).to.deep.include({ kind: 'unfinished', shown: 'queued', progress: 40, backsOff: true });
    expect(told.warned[0]).to.match(/no longer in the catalog/);
    expect(told.found).to.deep.equal([]);
  });
});
