// Several keys of one upstream: which is taken, which rests and for how long.
import { expect } from 'chai';
import type { UpstreamFaultKind } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { type KeyRest, KeyRing } from '../../../lib/upstream/host/key-ring.ts';

describe('keys of an upstream', () => {
  let now: number;
  let rests: KeyRest[];
  let ring: KeyRing;

  beforeEach(() => {
    now = 1_000_000;
    rests = [];
    ring = new KeyRing(['one', 'two', 'three'], { now: () => now, onRest: (rest) => void rests.push(rest) });
  });

  const take = () => ring.take()?.value;
  const idOf = (value: string) => new KeyRing([value]).take()?.id;
  const blame = (value: string, kind: UpstreamFaultKind, retryAfterMs?: number) =>
    ring.blame(idOf(value), upstreamFault(kind, '', retryAfterMs === undefined ? {} : { retryAfterMs }));

  it('take turns', () => {
    expect([take(), take(), take(), take()]).to.deep.equal(['one', 'two', 'three', 'one']);
  });

  it('stay with a conversation, and are spread over conversations', () => {
    const takeFor = (conversation: string) => ring.take({ conversation })?.value;
    const names = Array.from({ length: 300 }, (_, at) => `c${at}`);
    const first = names.map(takeFor);
    const counts = Map.groupBy(first, (value) => value);
    for (const value of ['one', 'two', 'three']) expect(counts.get(value)?.length).to.be.within(70, 130);
    // Other calls take turns all the same, and another process with its keys in another order agrees.
    expect([take(), take()]).to.deep.equal(['one', 'two']);
    const other = new KeyRing(['three', 'one', 'two']);
    expect(names.map((conversation) => other.take({ conversation })?.value)).to.deep.equal(first);

    blame('two', 'rate', 1_000);
    const meanwhile = names.map(takeFor);
    for (const [at, value] of first.entries()) {
      if (value === 'two') expect(meanwhile[at]).to.be.oneOf(['one', 'three']);
      else expect(meanwhile[at]).to.equal(value);
    }
    now += 1_000;
    expect(names.map(takeFor)).to.deep.equal(first);
  });

  it('are not paused longer if the clock is set back', () => {
    blame('one', 'rate', 1_000);
    blame('two', 'auth');
    now -= 86_400_000;
    expect([take(), take(), take()]).to.have.members(['one', 'two', 'three']);
    expect(ring.health()).to.include({ rate: 0, auth: 0 });
    ring.rest(idOf('one') ?? '', 2_000);
    expect(ring.health()).to.include({ rate: 1 });
    expect([take(), take()]).to.not.include('one');
  });

  const RESTS: readonly (readonly [UpstreamFaultKind, number | undefined, number])[] = [
    ['rate', undefined, 5_000],
    ['rate', 30_000, 30_000],
    ['rate', 0, 500],
    ['rate', 86_400_000, 600_000],
    ['auth', undefined, 300_000],
    ['quota', undefined, 300_000],
    ['quota', 60_000, 60_000],
  ];
  for (const [kind, retryAfterMs, restMs] of RESTS) {
    it(`rest ${restMs} ms for ${kind}${retryAfterMs === undefined ? '' : ` with retry-after ${retryAfterMs}`}`, () => {
      expect(blame('two', kind, retryAfterMs)).to.equal(true);
      now += restMs - 1;
      expect([take(), take(), take()]).to.deep.equal(['one', 'three', 'three']);
      expect(ring.health()).to.deep.equal({ keys: 3, rate: 0, auth: 0, quota: 0, [kind]: 1 });
      now += 1;
      expect([take(), take(), take()]).to.deep.equal(['one', 'two', 'three']);
      expect(ring.health()).to.deep.equal({ keys: 3, rate: 0, auth: 0, quota: 0 });
    });
  }

  it('rest for nothing that is not about them', () => {
    for (const kind of ['request', 'missing', 'overloaded', 'server', 'network', 'timeout', 'protocol'] as const)
      expect(blame('two', kind), kind).to.equal(false);
    expect(ring.blame(idOf('two'), new Error('a bug'))).to.equal(false);
    expect(blame('four', 'auth'), 'a key of another upstream').to.equal(false);
    expect(ring.blame(undefined, upstreamFault('auth', ''))).to.equal(false);
    expect([take(), take(), take()]).to.deep.equal(['one', 'two', 'three']);
  });

  it('that all rest leave the one that is back first, and say that there is no other', () => {
    expect([blame('one', 'auth'), blame('three', 'rate', 9_000), blame('two', 'rate', 7_000)]).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect([take(), take()]).to.deep.equal(['two', 'two']);
    now += 7_001;
    expect([take(), take(), take()]).to.deep.equal(['two', 'two', 'two']);
    now += 2_000;
    expect(new Set([take(), take(), take()])).to.deep.equal(new Set(['two', 'three']));
  });

  it('are given by their id also while they rest', () => {
    blame('two', 'rate');
    expect(ring.take({ id: idOf('two') })?.value).to.equal('two');
  });

  it('never rest where there is only one', () => {
    const only = new KeyRing(['one'], { now: () => now, onRest: (rest) => void rests.push(rest) });
    expect(only.blame(idOf('one'), upstreamFault('auth', ''))).to.equal(false);
    expect([only.take()?.value, only.health().auth, rests]).to.deep.equal(['one', 1, []]);
  });

  it('rest as long as they were told last, also if that is shorter', () => {
    blame('two', 'rate', 60_000);
    blame('two', 'rate', 1_000);
    now += 999;
    expect(ring.health().rate).to.equal(1);
    now += 1;
    expect(ring.health().rate).to.equal(0);
  });

  it('are all resting: one that lacks a permission serves only a call that the others have refused', () => {
    for (const value of ['two', 'three']) blame(value, 'rate', 1_000);
    ring.blame(idOf('one'), upstreamFault('auth', '', { status: 403 }));
    const tried = new Set([idOf('two') as string]);
    expect([ring.take({ tried })?.value, take()]).to.deep.equal(['one', 'two']);
  });

  it('rest once nothing is left of a limit, which never shortens a rest', () => {
    const health = { keys: 3, rate: 0, auth: 0, quota: 0 };
    ring.rest('unknown', 5_000);
    expect(ring.health()).to.deep.equal(health);
    ring.rest(idOf('one') as string, 5_000);
    blame('two', 'quota', 60_000);
    ring.rest(idOf('two') as string, 1_000);
    blame('three', 'quota', 600_000);
    ring.rest(idOf('three') as string, 86_400_000);
    expect(ring.health()).to.deep.equal({ ...health, rate: 1, quota: 2 });
    now += 5_000;
    expect(ring.health()).to.deep.equal({ ...health, quota: 2 });
    expect(rests.map(({ kind }) => kind)).to.deep.equal(['rate', 'quota', 'quota']);
  });

  it('are told of once for each rest', () => {
    blame('two', 'rate');
    blame('two', 'rate');
    expect(rests).to.deep.equal([{ place: 2, keys: 3, kind: 'rate', status: undefined, forMs: 5_000 }]);
    blame('two', 'quota');
    now += 300_000;
    blame('two', 'quota');
    expect(rests.map(({ kind }) => kind)).to.deep.equal(['rate', 'quota', 'quota']);
  });
});
