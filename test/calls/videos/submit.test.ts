// Which failures of a submission are a certain no: only after those another route may be asked, within the time of all.
import { mock } from 'node:test';
import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { AttemptLog } from '../../../lib/calls/booked-attempts.ts';
import { createRouteHealth } from '../../../lib/calls/health.ts';
import { isUpstreamRefusal } from '../../../lib/calls/refusal.ts';
import { type Submission, submit } from '../../../lib/calls/videos/submit.ts';
import type { Route } from '../../../lib/catalog/model.ts';
import type { NewAttempt } from '../../../lib/money/attempt.ts';
import type { FaultFacts, UpstreamFaultKind, VideoProvider } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';

describe('a submission that failed', () => {
  const rows: readonly [UpstreamFaultKind, FaultFacts, boolean][] = [
    ['request', { status: 400 }, true],
    ['request', {}, true],
    ['missing', { status: 404 }, true],
    ['auth', { status: 401 }, true],
    ['quota', { status: 402 }, true],
    ['rate', { status: 429 }, true],
    ['quota', {}, true],
    ['network', { unsent: true }, true],
    ['timeout', { unsent: true }, true],
    ['protocol', { unsent: true }, true],
    ['network', {}, false],
    ['timeout', {}, false],
    ['timeout', { status: 408 }, false],
    ['protocol', {}, false],
    ['server', { status: 500 }, false],
    ['overloaded', { status: 503 }, false],
    ['overloaded', {}, false],
    // Its words say no, its status that something broke.
    ['quota', { status: 500 }, false],
    ['request', { status: 502 }, false],
  ];
  for (const [kind, facts, refused] of rows) {
    it(`is ${refused ? 'a refusal' : 'in doubt'} with ${kind} ${JSON.stringify(facts)}`, () => {
      expect(isUpstreamRefusal(upstreamFault(kind, 'no', facts))).to.equal(refused);
    });
  }

  it('is in doubt when a plugin breaks', () => {
    expect(isUpstreamRefusal(new TypeError('x is not a function'))).to.equal(false);
    expect(isUpstreamRefusal('no')).to.equal(false);
  });
});

describe('a submission', () => {
  let booked: readonly NewAttempt[];

  afterEach(() => mock.restoreAll());

  async function submitTo(
    start: VideoProvider['start'] | undefined,
    timeouts: Submission['timeouts'],
    call: object = {},
    refusesToNote: readonly string[] = [],
  ) {
    const video = start && { start };
    const routes = ['a', 'b', 'c'].map((upstream) => {
      return {
        upstream,
        key: upstream,
        model: 'm',
        options: { of: upstream },
        provider: { video },
      } as unknown as Route;
    });
    const attempts = new AttemptLog('film');
    const asked: string[] = [];
    const log = { debug: () => undefined, warn: () => undefined, error: () => undefined, note: () => undefined };
    const ending = await submit({
      routes,
      health: createRouteHealth(),
      timeouts,
      call: call as Submission['call'],
      context: { signal: new AbortController().signal, log },
      attempts,
      reroute: async (upstream) => {
        asked.push(upstream);
        if (refusesToNote.includes(upstream)) throw fault('store_unavailable');
      },
    });
    const code = ending.type === 'error' ? ending.fault.data?.code : ending.type;
    booked = attempts.list;
    return { asked, code, ...(ending.type === 'finish' && { ref: ending.result.ref }) };
  }

  const AMPLE = { firstTokenTimeoutMs: 10_000, totalTimeoutMs: 20_000 };

  it('asks each route for its model with its options, and books what may have been made', async () => {
    const seen: object[] = [];
    const start: VideoProvider['start'] = async (wanted) => {
      seen.push(wanted);
      if (seen.length === 1) throw upstreamFault('rate', 'no', { status: 429 });
      return { id: 'job' };
    };
    const call = { prompt: 'A fox', seconds: 5, resolution: '720p' };
    expect(await submitTo(start, AMPLE, call)).to.deep.equal({ asked: ['a', 'b'], code: 'finish', ref: { id: 'job' } });
    expect(seen).to.deep.equal(['a', 'b'].map((of) => ({ ...call, model: 'm', options: { of } })));
    expect(booked.map(({ upstream, ending, usage, certainty }) => [upstream, ending, usage, certainty])).to.deep.equal([
      ['a', 'refused', null, 'none'],
      ['b', 'answered', '{"seconds":5,"resolution":"720p"}', 'estimated'],
    ]);
  });

  it('books no resolution where there is none', async () => {
    await submitTo(async () => ({ id: 'job' }), AMPLE, { seconds: 4, resolution: null });
    expect(booked.map(({ usage }) => usage)).to.deep.equal(['{"seconds":4}']);
  });

  it('is in doubt without an id, and fails where an upstream makes no videos', async () => {
    for (const ref of [undefined, {}, { id: 7 }]) {
      const found = await submitTo(async () => ref as never, AMPLE);
      expect(found, JSON.stringify(ref)).to.deep.equal({ asked: ['a'], code: 'upstream_failed' });
    }
    expect(await submitTo(undefined, AMPLE)).to.deep.include({ code: 'upstream_failed' });
  });

  it('asks no upstream that could not be noted', async () => {
    let starts = 0;
    const start = async () => {
      starts += 1;
      return { id: 'job' };
    };
    expect(await submitTo(start, AMPLE, {}, ['a', 'b', 'c'])).to.deep.include({ code: 'store_unavailable' });
    expect([starts, booked]).to.deep.equal([0, []]);
  });

  it('waits for one upstream no longer than its time, whatever the time of all', async () => {
    const deaf = () => new Promise<never>(() => undefined);
    const timeouts = { firstTokenTimeoutMs: 10, totalTimeoutMs: 3_600_000 };
    expect(await submitTo(deaf, timeouts)).to.deep.equal({ asked: ['a'], code: 'upstream_timeout' });
  });

  it('asks on until the time of all is over', async () => {
    let at = 0;
    mock.method(performance, 'now', () => at);
    const refuse: VideoProvider['start'] = async () => {
      at += 60_000;
      throw upstreamFault('rate', 'no', { status: 429 });
    };
    const timeouts = { firstTokenTimeoutMs: 50_000, totalTimeoutMs: 100_000 };
    expect(await submitTo(refuse, timeouts)).to.deep.equal({ asked: ['a', 'b'], code: 'upstream_failed' });
  });
});
