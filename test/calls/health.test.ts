import { expect } from 'chai';
import { fault } from '../../lib/base/faults.ts';
import type { Ending } from '../../lib/calls/ending.ts';
import {
  createRouteHealth,
  type RouteChange,
  type RouteHealth,
  type RouteRef,
  type Trial,
} from '../../lib/calls/health.ts';
import type { UpstreamFaultKind } from '../../lib/upstream/contract/provider.ts';
import { toClientFault } from '../../lib/upstream/host/client-fault.ts';
import { FAULT_KINDS, upstreamFault } from '../../lib/upstream/host/fault.ts';

const WELL: Ending = { type: 'finish', result: undefined };
const failure = (kind: UpstreamFaultKind): Ending => ({ type: 'error', fault: toClientFault(upstreamFault(kind, '')) });
const DOWN = failure('server');
const [A, B, C] = ['a', 'b', 'c'].map((upstream): RouteRef => ({ upstream, key: `text ${upstream} m` })) as [
  RouteRef,
  RouteRef,
  RouteRef,
];
const ALL = [A, B, C];

describe('health of routes', () => {
  let now: number;
  let changes: RouteChange[];
  let health: RouteHealth;

  beforeEach(() => {
    now = 1_000;
    changes = [];
    health = createRouteHealth({ now: () => now, onChange: (change) => void changes.push(change) });
  });

  const isOpen = (route: RouteRef) => health.findOutage(route) !== undefined;
  const nameOf = ({ route }: Trial<RouteRef>) => route.upstream;
  const told = () => changes.map(({ route, to, openMs }) => `${route.upstream} ${to} ${openMs}`);
  /** One attempt at a route and its end. */
  function tried(ways: readonly RouteRef[], ending: Ending | undefined, ms = 0): string {
    const trial = health.begin(ways);
    now += ms;
    trial.end(ending);
    return nameOf(trial);
  }
  const fails = (route: RouteRef, times: number) => {
    for (let count = 0; count < times; count += 1) tried([route], DOWN);
  };
  /** The route that a call would ask first; the attempt says nothing of it. */
  const first = (ways = ALL) => tried(ways, undefined);

  it('keeps the order while all routes are healthy', () => {
    expect([tried(ALL, WELL), tried(ALL, DOWN), tried(ALL, DOWN), tried(ALL, WELL), first()]).to.deep.equal(
      Array(5).fill('a'),
    );
  });

  it('tries a route that has failed three times in a row last, and reports that once', () => {
    fails(A, 2);
    expect([first(), isOpen(A), told()]).to.deep.equal(['a', false, []]);
    fails(A, 3);
    expect([first(), isOpen(A), isOpen(B)]).to.deep.equal(['b', true, false]);
    expect(changes).to.deep.equal([{ route: A, to: 'open', kind: 'server', openMs: 0 }]);
  });

  describe('of an upstream whose plugin leaves errors unhandled', () => {
    const OTHER = { upstream: 'a', key: 'text a other' };
    const strays = (upstream: string, times: number) => {
      for (let count = 0; count < times; count += 1) health.notePluginError(upstream, [A, OTHER, A, B, C]);
    };

    it('opens all its routes, and no others, after five within a minute', () => {
      tried([A], WELL);
      strays('a', 4);
      strays('b', 4);
      expect(told()).to.deep.equal([]);
      strays('a', 1);
      expect(told()).to.deep.equal(['a open 0', 'a open 0']);
      expect([A, OTHER, B, C].map(isOpen)).to.deep.equal([true, true, false, false]);
      expect(first()).to.equal('b');
    });

    it('is said to be why a route fails, also one that is open for another reason', () => {
      fails(A, 3);
      now += 60_000;
      strays('a', 5);
      now += 1_000;
      expect(health.findOutage(A)).to.deep.equal({ kind: undefined, openMs: 61_000, failedMs: 60_000 });
    });

    it('counts within a minute, and starts again once it is open', () => {
      strays('a', 4);
      now += 60_000;
      strays('a', 4);
      expect(told()).to.deep.equal([]);
      strays('a', 1);
      expect(told()).to.have.length(2);
      now += 1_000;
      tried([A], WELL);
      expect(isOpen(A)).to.equal(false);
      strays('a', 4);
      expect(isOpen(A)).to.equal(false);
      strays('a', 1);
      expect(isOpen(A)).to.equal(true);
    });
  });

  it('counts consecutive failures only', () => {
    for (let round = 0; round < 5; round += 1) {
      fails(A, 2);
      tried([A], WELL);
    }
    expect([first(), told()]).to.deep.equal(['a', []]);
  });

  for (const kind of FAULT_KINDS) {
    const opens = kind !== 'request';
    it(`${opens ? 'counts' : 'does not count'} a failure of kind ${kind}`, () => {
      for (let count = 0; count < 3; count += 1) tried([A], failure(kind));
      expect(isOpen(A)).to.equal(opens);
      expect(changes.map((change) => change.kind)).to.deep.equal(opens ? [kind] : []);
    });
  }

  it('counts answers that break off, and unexpected faults', () => {
    for (const code of ['upstream_truncated', 'upstream_empty', 'internal'] as const)
      tried([A], { type: 'error', fault: fault(code) });
    expect(told()).to.deep.equal(['a open 0']);
  });

  it('ignores attempts that the client or a shutdown ended', () => {
    fails(A, 2);
    tried([A], { type: 'gone' });
    tried([A], undefined);
    expect(isOpen(A)).to.equal(false);
    fails(A, 1);
    expect(isOpen(A)).to.equal(true);
  });

  describe('that is open', () => {
    beforeEach(() => fails(A, 3));

    it('lets one call try it after a second, while others skip it', () => {
      now += 999;
      expect(first()).to.equal('b');
      now += 1;
      const probe = health.begin(ALL);
      expect([nameOf(probe), first(), first()]).to.deep.equal(['a', 'b', 'b']);
      probe.end(WELL);
      expect([first(), told().at(-1)]).to.deep.equal(['a', 'a closed 1000']);
    });

    it('stays open twice as long after each failed try, up to fifteen seconds', () => {
      for (const openMs of [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) {
        now += openMs - 1;
        expect(first(), `${openMs}`).to.equal('b');
        now += 1;
        expect(tried(ALL, DOWN), `${openMs}`).to.equal('a');
      }
      now += 15_000;
      tried(ALL, WELL);
      expect(told()).to.deep.equal(['a open 0', 'a closed 60000']);
      fails(A, 3);
      now += 1_000;
      expect(first(), 'a second again').to.equal('a');
    });

    it('may be tried by the next call once an answer has started, and closes after a complete one', () => {
      now += 1_000;
      const probe = health.begin(ALL);
      probe.first();
      expect([isOpen(A), first()]).to.deep.equal([true, 'a']);
      probe.end(WELL);
      expect(isOpen(A)).to.equal(false);
    });

    it('does not close after answers that break off', () => {
      for (const openMs of [1_000, 2_000, 4_000]) {
        now += openMs;
        const probe = health.begin(ALL);
        probe.first();
        probe.end(DOWN);
        expect([nameOf(probe), first()]).to.deep.equal(['a', 'b']);
      }
      expect(told()).to.deep.equal(['a open 0']);
    });

    it('is tried by another call if the client of the first one leaves', () => {
      now += 1_000;
      expect([first(), first()]).to.deep.equal(['a', 'a']);
    });

    it('is tried by another call if the first one has no result within fifteen seconds', () => {
      now += 1_000;
      const stuck = health.begin(ALL);
      now += 14_999;
      expect(first()).to.equal('b');
      now += 1;
      expect([nameOf(stuck), first()]).to.deep.equal(['a', 'a']);
    });

    it('does not close after a call that started before it opened', () => {
      tried([B], WELL);
      const old = health.begin([C]);
      now += 1;
      fails(C, 3);
      old.end(WELL);
      expect(isOpen(C)).to.equal(true);
    });

    it('is tried anyway if there is no other route, and may close', () => {
      expect(tried([A], DOWN)).to.equal('a');
      expect(tried([A], WELL)).to.equal('a');
      expect(told()).to.deep.equal(['a open 0', 'a closed 0']);
    });

    it('is not kept open longer by calls without another route', () => {
      fails(A, 50);
      now += 1_000;
      expect(first()).to.equal('a');
    });

    it('is tried after the others, in the order in which they are due', () => {
      now += 300;
      fails(C, 3);
      now += 300;
      fails(B, 3);
      const left = [C, B, A];
      expect([first(left), first(left.slice(0, 2)), first([B])]).to.deep.equal(['a', 'c', 'b']);
    });

    it('says since when it fails, at what, and when it was last seen to fail', () => {
      now += 60_000;
      expect(health.findOutage(A)).to.deep.equal({ kind: 'server', openMs: 60_000, failedMs: 0 });
      tried([A], failure('timeout'), 500);
      now += 100;
      expect(health.findOutage(A)).to.deep.equal({ kind: 'timeout', openMs: 60_600, failedMs: 60_500 });
      tried([A], WELL);
      expect(health.findOutage(A)).to.equal(undefined);
    });

    it('is shared by all models that use it', () => {
      expect(isOpen({ upstream: 'a', key: A.key })).to.equal(true);
      expect(first([{ ...A }, { ...B }])).to.equal('b');
    });
  });

  describe('by latency', () => {
    const order = () =>
      health
        .inOrder({ order: 'latency', routes: ALL })
        .map(({ upstream }) => upstream)
        .join('');
    const measured = (route: RouteRef, ms: number) => tried([route], WELL, ms);

    it('tries each untried route once, then the fastest', () => {
      expect(order()).to.equal('abc');
      measured(A, 300);
      expect(order()).to.equal('bca');
      measured(B, 100);
      expect(order()).to.equal('cba');
      measured(C, 200);
      expect(order()).to.equal('bca');
    });

    it('measures the time to the first fragment, not to the end', () => {
      const long = health.begin([A]);
      now += 50;
      long.first();
      now += 9_000;
      long.first();
      long.end(WELL);
      measured(B, 100);
      measured(C, 100);
      expect(order()).to.equal('abc');
    });

    it('uses a moving average', () => {
      measured(A, 100);
      measured(B, 110);
      measured(C, 120);
      measured(A, 140);
      expect(order()).to.equal('bac');
      for (let count = 0; count < 10; count += 1) measured(A, 50);
      expect(order()).to.equal('abc');
    });

    it('does not count fast failures as fast answers', () => {
      tried([A], DOWN);
      measured(B, 100);
      measured(C, 200);
      expect(order()).to.equal('bca');
    });

    it('sends one call a minute to a slower route to measure it again', () => {
      measured(C, 300);
      now += 30_000;
      measured(A, 100);
      measured(B, 200);
      now += 30_000;
      expect(order()).to.equal('cab');
      const looking = health.begin([C]);
      expect(order(), 'while one looks').to.equal('abc');
      now += 10;
      looking.end(WELL);
      expect(order()).to.equal('abc');
      for (let count = 0; count < 5; count += 1) measured(C, 10);
      expect(order()).to.equal('cab');
    });

    it('does not reorder other models and single routes', () => {
      measured(B, 1);
      for (const how of ['listed', 'price']) expect(health.inOrder({ order: how, routes: ALL })).to.equal(ALL);
      const one = [A];
      expect(health.inOrder({ order: 'latency', routes: one })).to.equal(one);
    });
  });
});
