// What operators are alerted of: each once, and again when it is new.
import { expect } from 'chai';
import { watchDisk, watchLedger, watchReviews, watchUpstream } from '../../lib/alerts/service.ts';
import type { AlarmMark, Watch } from '../../lib/alerts/watch.ts';

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
      watchUpstream({ upstream: 'main', keys: { ...keys, ...more } }, day);
    expect(follow([on('1'), on('1'), on('1', { auth: 0 }), on('1'), on('2')])).to.deep.equal([
      'main 2 1',
      'stay',
      'none',
      'stay',
      'main 2 1',
    ]);
    expect(on('1', { quota: 2 }).map(({ subject }) => subject)).to.deep.equal([
      'upstream.key_refused:main',
      'upstream.no_money:main',
    ]);
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
});
