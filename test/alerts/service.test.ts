// What operators are alerted of: each once, and again when it is new.
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createServiceWatches,
  watchDisk,
  watchKeys,
  watchLedger,
  watchOutages,
  watchReviews,
} from '../../lib/alerts/service.ts';
import type { AlarmMark, Watch } from '../../lib/alerts/watch.ts';
import type { UpstreamFaultKind } from '../../lib/upstream/contract/fault.ts';

const GIB = 1024 ** 3;

/** What is told in a row of observations, each with the mark that the one before left. */
function follow(observations: readonly (readonly Watch[])[]): readonly string[] {
  let mark: AlarmMark | null = null;
  return observations.map(([watch]) => {
    if (!watch) return 'none';
    const decision = watch.decide(mark);
    if (decision.kind === 'rearm') mark = null;
    if (decision.kind !== 'alert') return decision.kind;
    mark = decision.mark;
    return Object.values(decision.content.data).join(' ');
  });
}

describe('alerts of operators', () => {
  it('name an upstream that refuses keys, or has no money, once a day', () => {
    const keys = { keys: 2, auth: 1, quota: 0 };
    const on = (day: string, more: Partial<typeof keys> = {}) =>
      watchKeys({ upstream: 'main', keys: { ...keys, ...more } }, day);
    const [first, second] = ['2026-11-30', '2026-12-01'];
    expect(follow([on(first), on(first), on(first, { auth: 0 }), on(first), on(second)])).to.deep.equal([
      'main 2 1',
      'stay',
      'none',
      'stay',
      'main 2 1',
    ]);
    // Two processes whose clocks are apart.
    expect(follow([on(first), on(second), on(first), on(second)])).to.deep.equal([
      'main 2 1',
      'main 2 1',
      'stay',
      'stay',
    ]);
    expect(on(first, { quota: 2 }).map(({ subject }) => subject)).to.deep.equal([
      'upstream.key_refused:main',
      'upstream.no_money:main',
    ]);
  });

  describe('of an upstream that keeps failing', () => {
    const MINUTE = 60_000;
    const main = { upstream: 'main', keys: { keys: 1, auth: 0, quota: 0 } };
    /** Observed at this minute; the route failed from one minute to another. */
    const at = (minute: number, from: number, to: number, kind: UpstreamFaultKind | null = 'server', given = main) => {
      const outage = {
        models: ['m'],
        kind: kind ?? undefined,
        openMs: (minute - from) * MINUTE,
        failedMs: (to - from) * MINUTE,
      };
      return watchOutages({ ...given, outages: [outage] }, minute * MINUTE);
    };

    it('come after ten minutes of failures, and for each outage', () => {
      expect(follow([at(9, 0, 9), at(10, 0, 10), at(15, 0, 15)])).to.deep.equal(['none', 'main m 10 server', 'stay']);
      const flaps = [at(10, 0, 10), at(80, 69, 80), at(81, 70, 81)];
      expect(follow(flaps)).to.deep.equal(['main m 10 server', 'stay', 'main m 11 server']);
    });

    it('come again each day', () => {
      const day = 24 * 60;
      const rows = [at(10, 0, 10), at(day + 9, 0, day + 9), at(day + 10, 0, day + 10)];
      expect(follow(rows)).to.deep.equal(['main m 10 server', 'stay', `main m ${day + 10} server`]);
    });

    it('come for routes that begin to fail while another has long failed', () => {
      const outage = (model: string, minutes: number, kind: UpstreamFaultKind) => ({
        ...{ models: [model], kind, openMs: minutes * MINUTE, failedMs: minutes * MINUTE },
      });
      const old = (minute: number) => outage('gone', minute, 'missing');
      const on = (minute: number, ...more: readonly ReturnType<typeof outage>[]) =>
        watchOutages({ ...main, outages: [old(minute), ...more] }, minute * MINUTE);
      const day = 24 * 60;
      const rows = [on(10), on(300), on(310, outage('m', 10, 'server')), on(320, outage('m', 20, 'server'))];
      const later = on(310 + day, outage('m', 10 + day, 'server'));
      expect(follow([...rows, later])).to.deep.equal([
        'main gone 10 missing',
        'stay',
        'main m 10 server',
        'stay',
        `main gone, m ${310 + day} missing`,
      ]);
    });

    it('do not come for a route that nobody has asked since it opened', () => {
      expect(follow([at(600, 0, 1)])).to.deep.equal(['none']);
    });

    it('leave refused keys and a lack of money to their own alerts, if there are keys', () => {
      const kinds = ['auth', 'quota', 'missing', null] as const;
      expect(kinds.map((kind) => follow([at(10, 0, 10, kind)]).join())).to.deep.equal([
        'none',
        'none',
        'main m 10 missing',
        'main m 10 plugin',
      ]);
      const keyless = { upstream: 'main', keys: { keys: 0, auth: 0, quota: 0 } };
      expect(follow([at(10, 0, 10, 'auth', keyless)])).to.deep.equal(['main m 10 auth']);
    });

    it('name twenty models, each once, and the oldest failure', () => {
      const names = Array.from({ length: 25 }, (_, index) => `m${index}`);
      const outage = { models: names, kind: 'network', openMs: 15 * MINUTE, failedMs: 11 * MINUTE } as const;
      const older = { models: ['m0'], kind: 'timeout', openMs: 20.9 * MINUTE, failedMs: 20 * MINUTE } as const;
      const [told] = follow([watchOutages({ ...main, outages: [outage, older] }, 0)]);
      expect(told).to.equal(`main ${names.slice(0, 20).join(', ')}, … 20 timeout`);
      const few = { ...older, models: names.slice(0, 20) };
      const [whole] = follow([watchOutages({ ...main, outages: [few, older] }, 0)]);
      expect(whole).to.equal(`main ${names.slice(0, 20).join(', ')} 20 timeout`);
    });
  });

  it('tell of problems in the ledger, and of more of them', () => {
    const after = (problems: number) => [watchLedger({ problems, drift: '-1500000' })];
    expect(follow([0, 2, 2, 1, 3, 0, 1].map(after))).to.deep.equal([
      'stay',
      '2 -1.50',
      'stay',
      'stay',
      '3 -1.50',
      'rearm',
      '1 -1.50',
    ]);
  });

  it('tell of a disk that fills, at two levels, until there is clearly room', () => {
    const at = (gib: number) => [watchDisk({ folder: '/data', host: 'a', bytes: gib * GIB })];
    expect(follow([3, 1.5, 1.4, 0.1, 1, 2.1, 2.3, 1.9].map(at))).to.deep.equal([
      'stay',
      '/data a 1.5',
      'stay',
      '/data a 0.1',
      'stay',
      'stay',
      'rearm',
      '/data a 1.9',
    ]);
  });

  it('tell of each payment under review once', () => {
    const rows = [[], ['b'], ['b'], ['c', 'b'], ['c'], [], ['b']];
    expect(follow(rows.map((ids) => [watchReviews(ids)]))).to.deep.equal([
      'stay',
      '1 b',
      'stay',
      '2 c',
      'stay',
      'rearm',
      '1 b',
    ]);
  });

  it('count as many as are looked at, and more than that as such', () => {
    const ids = (count: number) => [watchReviews(Array.from({ length: count }, (_, at) => `p${at}`))];
    expect([ids(49), ids(50)].map((watch) => follow([watch]).join())).to.deep.equal(['49 p0', '50+ p0']);
  });

  it('come of what the store says: payments every two minutes, and folders that can be read', async () => {
    let now = Date.parse('2026-11-30T23:00:00Z');
    const asked: object[] = [];
    const store = {
      settings: { get: async () => JSON.stringify({ at: now, problems: 1, drift: '0' }) },
      payments: { list: async (query: object) => [{ id: `p${asked.push(query)}` }] },
    } as unknown as Parameters<typeof createServiceWatches>[0]['store'];
    const config = { databaseUrl: `sqlite:${join(tmpdir(), 'a.db')}`, dataDir: join(tmpdir(), 'no-such-folder') };
    const keys = { keys: 2, auth: 1, quota: 0 };
    const outages = [{ models: ['m'], kind: 'server' as const, openMs: 600_000, failedMs: 600_000 }];
    const upstreams = () => [{ upstream: 'main', keys, outages }];
    const look = createServiceWatches({ store, config, upstreams, now: () => now });
    const first = (await look()).map(({ subject }) => subject);
    const disk = `disk.low:${hostname()}:${tmpdir()}`;
    const others = ['upstream.key_refused:main', 'upstream.failing:main', 'ledger.wrong', disk];
    expect(first).to.deep.equal([...others, 'payments.review']);
    now += 119_999;
    expect((await look()).map(({ subject }) => subject)).to.deep.equal(others);
    now += 1;
    const last = await look();
    expect(follow([last.slice(-1)])).to.deep.equal(['1 p2']);
    now -= 86_400_000;
    const back = await look();
    expect(follow([back.slice(-1)]), 'after the clock was set back').to.deep.equal(['1 p3']);
    expect(back[1]?.decide({ at: `${now + 86_400_000}` }).kind).to.equal('alert');
    expect(asked).to.deep.equal(Array(3).fill({ phases: ['review'], limit: 50 }));
    const [refused] = last;
    expect(refused?.decide({ day: '2026-11-30' })).to.deep.equal({ kind: 'stay' });
  });
});
