// The order in which a lane sends: new and failed operations separately, failed ones in parts, bad ones alone.
import { expect } from 'chai';
import { createLane, type Lane, type Part, type Submission } from '../../lib/ledger/lane.ts';
import { itTimed } from '../../testkit/timed.ts';
import { operation } from './books.ts';

const NEVER = Number.POSITIVE_INFINITY;

describe('a lane of the ledger queue', () => {
  let lane: Lane<Submission>;
  let now: number;

  beforeEach(() => {
    lane = createLane(8);
    now = 1000;
  });
  const item = (id: string): Submission => ({ op: operation('topup', id, 1), mayBeApplied: false, abandoned: false });
  const add = (...ids: string[]) => {
    const items = ids.map(item);
    for (const one of items) lane.add(one);
    return items;
  };
  const idsOf = (part: Part<Submission> | undefined) =>
    part?.items.map(({ op }) => ('paymentId' in op ? op.paymentId : '')).join('') ?? '';
  const take = () => idsOf(lane.take(now));
  /** Sends until nothing is due: parts that contain a bad operation fail, the others succeed. */
  function run(guilty: string, blames: 'store' | 'batch', most = 100): { sent: string[]; parked: Part<Submission>[] } {
    const sent: string[] = [];
    const parked: Part<Submission>[] = [];
    while ((lane.dueAt() ?? NEVER) <= now && sent.length < most) {
      const ids = take();
      sent.push(ids);
      if (![...guilty].some((id) => ids.includes(id))) lane.succeeded();
      else {
        const setback = lane.failed(blames, now);
        if (setback.parked) parked.push(setback.parked);
      }
    }
    return { sent, parked };
  }

  it('sends new operations together, as many as the store takes', () => {
    add(...'abcdefghij');
    expect(run('', 'store').sent).to.deep.equal(['abcdefgh', 'ij']);
    expect([lane.dueAt(), take()]).to.deep.equal([undefined, '']);
  });

  it('halves a faulty batch until the bad operation is alone, without pausing', () => {
    add(...'abcdefgh');
    expect(take()).to.equal('abcdefgh');
    add('x');
    expect(lane.failed('batch', now)).to.deep.equal({ pauseMs: 0 });
    const { sent, parked } = run('c', 'batch');
    expect(sent).to.deep.equal(['abcd', 'x', 'efgh', 'ab', 'cd', 'c', 'd']);
    expect(parked.map(idsOf)).to.deep.equal(['c']);
    expect(lane.dueAt()).to.equal(undefined);
  });

  it('separates many bad operations from the others', () => {
    add(...'abcdefgh');
    const { sent, parked } = run('adg', 'batch');
    expect(parked.map(idsOf).sort()).to.deep.equal(['a', 'd', 'g']);
    expect(sent.length).to.be.at.most(15);
  });

  itTimed('keeps a batch whole and backs off while the store is to blame, and splits it after a few failures', () => {
    add(...'ab');
    const pauses: number[] = [];
    for (let failures = 0; failures < 3; failures += 1) {
      expect(take()).to.equal('ab');
      pauses.push(lane.failed('store', now).pauseMs);
    }
    expect(pauses[2]).to.be.above(pauses[0] as number);
    for (let failures = 0; failures < 50; failures += 1) {
      expect(take()).to.not.equal('');
      const { pauseMs, parked } = lane.failed('store', now);
      expect(pauseMs).to.be.within(1, 500);
      expect(parked).to.equal(undefined);
    }
    expect(run('', 'store').sent.sort().join('')).to.equal('ab');
  });

  itTimed('resets the backoff and keeps batches whole after a success', () => {
    add(...'ab');
    for (let failures = 0; failures < 3; failures += 1) {
      take();
      lane.failed('store', now);
    }
    expect(run('', 'store').sent).to.deep.equal(['ab']);
    add(...'cd');
    expect(take()).to.equal('cd');
    expect(lane.failed('store', now).pauseMs).to.be.at.most(20);
    expect(take()).to.equal('cd');
  });

  it('sends smaller batches after a split, and doubles them with each success', () => {
    add(...'abcdefgh');
    for (let failures = 0; failures < 4; failures += 1) {
      take();
      lane.failed('store', now);
    }
    add(...'ijklmnopqrstuvwxyz');
    expect(run('', 'store').sent).to.deep.equal(['ijkl', 'abcd', 'mnopqrst', 'efgh', 'uvwxyz']);
  });

  it('never sends new operations together with failed ones', () => {
    add(...'ab');
    expect(take()).to.equal('ab');
    add('x');
    lane.failed('store', now);
    expect([take(), lane.succeeded(), take()]).to.deep.equal(['ab', undefined, 'x']);
  });

  it('splits a batch that failed if others succeeded in the meantime', () => {
    add(...'ab');
    take();
    lane.failed('store', now);
    const seen: string[] = [];
    for (let turn = 0; turn < 20 && !seen.includes('parked b'); turn += 1) {
      add('x');
      const { sent, parked } = run('b', 'store', 2);
      seen.push(...sent, ...parked.map((part) => `parked ${idsOf(part)}`));
    }
    expect(seen).to.include.members(['a', 'x', 'parked b']);
  });

  it('retries a parked operation later each time, without delaying others', () => {
    add('a');
    let { parked } = run('a', 'batch');
    let before = 0;
    for (let failures = 0; failures < 8; failures += 1) {
      const [part] = parked as [Part<Submission>];
      lane.park(part);
      const waitMs = part.dueAt - now;
      expect(waitMs).to.be.above(before / 2.01);
      before = waitMs;
      add('x');
      expect(run('a', 'batch').sent).to.deep.equal(['x']);
      now = part.dueAt;
      ({ parked } = run('a', 'store'));
    }
    expect(before).to.be.within(5000, 30_000);
    lane.park(parked[0] as Part<Submission>);
    now = lane.dueAt() as number;
    expect(run('', 'batch').sent).to.deep.equal(['a']);
  });

  it('backs off for at most a second after several operations in a row failed alone, until one succeeds', () => {
    const pauses: number[] = [];
    for (const id of 'abcdefghijkl') {
      const [waiting] = add(id) as [Submission];
      expect(take()).to.equal(id);
      lane.park(lane.failed('batch', now).parked as Part<Submission>);
      waiting.abandoned = true;
      lane.dropAbandoned();
      const [next] = add('z') as [Submission];
      const opensAt = lane.dueAt() as number;
      pauses.push(Math.max(0, opensAt - now));
      if (opensAt > now) {
        now = opensAt - 1;
        expect(take()).to.equal('');
        now = opensAt;
      }
      next.abandoned = true;
      lane.dropAbandoned();
    }
    expect(pauses.slice(0, 2)).to.deep.equal([0, 0]);
    for (const pause of pauses.slice(2)) expect(pause).to.be.within(50, 1000);
    expect(pauses.at(-1)).to.be.at.least(500);
    add('x');
    expect(take()).to.equal('x');
    lane.succeeded();
    add('y');
    expect(lane.dueAt()).to.equal(0);
  });

  it('drops abandoned operations unless they may be applied or are in flight', () => {
    const [a, b, c] = add(...'abc') as [Submission, Submission, Submission];
    take();
    const [x] = add('x') as [Submission];
    for (const one of [a, b, c, x]) one.abandoned = true;
    expect([lane.dropAbandoned(), lane.isInFlight(a), lane.isInFlight(x)]).to.deep.equal([1, true, false]);
    b.mayBeApplied = true;
    lane.failed('store', now);
    expect([...lane.items()]).to.have.members([a, b, c]);
    expect(lane.dropAbandoned()).to.equal(2);
    expect(take()).to.equal('b');
  });

  it('alternates between new and failed operations', () => {
    const [a] = add('a') as [Submission];
    expect([lane.dueAt(), [...lane.items()], lane.isInFlight(a)]).to.deep.equal([0, [a], false]);
    take();
    expect([lane.dueAt(), [...lane.items()], lane.isInFlight(a)]).to.deep.equal([undefined, [a], true]);
    lane.failed('store', now);
    expect([lane.dueAt(), [...lane.items()], lane.isInFlight(a)]).to.deep.equal([0, [a], false]);
    take();
    lane.succeeded();
    expect([lane.dueAt(), [...lane.items()], lane.isInFlight(a)]).to.deep.equal([undefined, [], false]);
    add(...'bc');
    take();
    lane.failed('batch', now);
    expect(lane.dueAt()).to.equal(0);
  });

  it('sends new operations before those parked by another lane', () => {
    lane.park({ items: [item('p')], failures: 1, isFaulty: true, dueAt: now });
    add('a');
    expect(run('', 'store').sent).to.deep.equal(['a', 'p']);
  });

  it('keeps its batch size after a faulty batch, and after a single failure of the store', () => {
    for (const blames of ['batch', 'store'] as const) {
      add(...'ab');
      take();
      lane.failed(blames, now);
      add(...'cdefghij');
      const { sent } = run('', 'store');
      expect(sent.join('').split('').sort().join('')).to.equal('abcdefghij');
      expect(sent, blames).to.include('cdefghij');
    }
  });

  it('doubles its batch size from half of the batch that the store refused', () => {
    lane = createLane(16);
    add(...'abcd');
    for (let failures = 0; failures < 4; failures += 1) {
      take();
      lane.failed('store', now);
    }
    add(...'efghijklmnopqrstuv');
    const { sent } = run('', 'store');
    expect(sent.filter((ids) => ids > 'e')).to.deep.equal(['ef', 'ghijklmn', 'opqrstuv']);
  });

  it('blames a half that fails after the other has succeeded', () => {
    add(...'abcd');
    for (let failures = 0; failures < 4; failures += 1) {
      take();
      lane.failed('store', now);
    }
    expect([take(), lane.succeeded(), take()]).to.deep.equal(['ab', undefined, 'cd']);
    expect(lane.failed('store', now)).to.deep.equal({ pauseMs: 0 });
  });

  describe('backs off', () => {
    const { random } = Math;
    afterEach(() => {
      Math.random = random;
    });

    for (const [name, drawn, share] of [
      ['at most', 1, 1],
      ['at least half of', 0, 0.5],
    ] as const) {
      it(`${name}, twice as long each time`, () => {
        Math.random = () => drawn;
        add('a');
        const pauses = Array.from({ length: 7 }, () => {
          take();
          return lane.failed('store', now).pauseMs;
        });
        expect(pauses).to.deep.equal([20, 40, 80, 160, 320, 500, 500].map((ms) => ms * share));
      });
    }

    it('from the shortest time for an operation that fails alone for the first time', () => {
      Math.random = () => 1;
      for (const ids of ['a', 'bc']) {
        add(...ids);
        const { parked } = run(ids, 'batch');
        expect(parked.map(({ dueAt }) => dueAt - now)).to.deep.equal([...ids].map(() => 100));
      }
      add('d');
      let [part] = run('d', 'batch').parked as [Part<Submission>];
      for (const wanted of [200, 400]) {
        lane.park(part);
        now = part.dueAt;
        const { parked } = run('d', 'batch');
        part = parked[0] as Part<Submission>;
        expect(part.dueAt - now).to.equal(wanted);
        take();
        lane.succeeded();
      }
    });

    it('for at most half a minute with an operation that has failed many times', () => {
      Math.random = () => 1;
      add('a');
      let [part] = run('a', 'batch').parked as [Part<Submission>];
      for (let failures = 1; failures < 12; failures += 1) {
        lane = createLane(8);
        lane.park(part);
        now = part.dueAt;
        [part] = run('a', 'batch').parked as [Part<Submission>];
      }
      expect(part.dueAt - now).to.equal(30_000);
    });

    it('while closed, even with operations that are due earlier', () => {
      Math.random = () => 1;
      for (const id of 'abc') {
        add(id);
        take();
        lane.park(lane.failed('batch', now).parked as Part<Submission>);
      }
      expect((lane.dueAt() ?? NEVER) - now).to.equal(200);
      now += 199;
      expect(take()).to.equal('');
      now += 1;
      expect(take()).to.equal('a');
    });

    it('only after the third failure alone in a row, counted again after a success', () => {
      const fail = (id: string) => {
        add(id);
        expect(take()).to.equal(id);
        lane.park(lane.failed('batch', now).parked as Part<Submission>);
      };
      [...'ab'].forEach(fail);
      add('x');
      expect([take(), lane.succeeded()]).to.deep.equal(['x', undefined]);
      [...'cd'].forEach(fail);
      add('y');
      expect(lane.dueAt()).to.equal(0);
    });
  });

  it('returns how many operations it dropped', () => {
    const items = add(...'abcd') as [Submission, ...Submission[]];
    items[0].abandoned = true;
    expect([lane.dropAbandoned(), lane.countNew()]).to.deep.equal([1, 3]);
  });
});
