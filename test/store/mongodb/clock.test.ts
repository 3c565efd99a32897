// The server's clock as heartbeats tell it, and amounts at the edge of int64.
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { MongoClient } from 'mongodb';
import { watchClock } from '../../../lib/store/mongodb/clock.ts';
import { fromSum, toLong } from '../../../lib/store/mongodb/rows.ts';

describe('MongoDB: the clock of the server', () => {
  /** Heartbeats of a server whose clock is ahead, each a little late. */
  function offsetAfter(aheadMs: number, lateMs: readonly number[], more: object = {}): number {
    const client = new EventEmitter();
    const clock = watchClock(client as unknown as MongoClient);
    for (const late of lateMs) {
      const localTime = new Date(Date.now() + aheadMs - late);
      client.emit('serverHeartbeatSucceeded', { reply: { isWritablePrimary: true, localTime, ...more } });
    }
    return clock.offsetMs();
  }

  it('takes clocks that nearly agree for one', () => {
    expect(offsetAfter(0, [])).to.equal(0);
    expect(offsetAfter(200, [3])).to.equal(0);
    expect(offsetAfter(-200, [3])).to.equal(0);
  });

  it('knows how far the clocks are apart, whichever heartbeat came late', () => {
    expect(offsetAfter(5000, [2, 900, 4000])).to.be.within(4950, 5000);
    expect(offsetAfter(-5000, [900, 2, 4000])).to.be.within(-5050, -5000);
  });

  it('forgets what it knew long ago', () => {
    expect(offsetAfter(5000, [0, ...Array.from({ length: 10 }, () => 4000)])).to.be.within(950, 1000);
  });

  it('asks the primary only', () => {
    expect(offsetAfter(5000, [0], { isWritablePrimary: false })).to.equal(0);
  });
});

describe('MongoDB: amounts', () => {
  it('go up to the edge of int64 and not beyond', () => {
    for (const amount of [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)]) expect(toLong(amount)).to.equal(amount);
    for (const amount of [2n ** 63n, -(2n ** 63n) - 1n]) expect(() => toLong(amount)).to.throw(RangeError);
  });

  it('come from sums as int64, or as the int of an empty one; a double is refused', () => {
    expect(fromSum(5n)).to.equal(5n);
    expect(fromSum(0)).to.equal(0n);
    expect(() => fromSum(2 ** 63)).to.throw(RangeError);
  });
});
