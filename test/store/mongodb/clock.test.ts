// The server's clock as measured by heartbeats, and amounts at the limit of int64.
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { MongoClient } from 'mongodb';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import type { Job } from '../../../lib/money/job-rules.ts';
import { watchClock } from '../../../lib/store/mongodb/clock.ts';
import { sumToMicro, toLong } from '../../../lib/store/mongodb/rows.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { type TestClock, takeClock } from '../../../testkit/clock.ts';
import { createMongoDatabase, type MongoDatabase } from '../../../testkit/mongod.ts';
import { newWallet } from '../../contract/store/context.ts';
import { newJob } from '../../contract/store/jobs.ts';

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

  it('treats nearly equal clocks as equal', () => {
    expect(offsetAfter(0, [])).to.equal(0);
    expect(offsetAfter(200, [3])).to.equal(0);
    expect(offsetAfter(-200, [3])).to.equal(0);
  });

  it('measures the clock difference even with a late heartbeat', () => {
    expect(offsetAfter(5000, [2, 900, 4000])).to.be.within(4950, 5000);
    expect(offsetAfter(-5000, [900, 2, 4000])).to.be.within(-5050, -5000);
  });

  it('drops old measurements', () => {
    expect(offsetAfter(5000, [0, ...Array.from({ length: 10 }, () => 4000)])).to.be.within(950, 1000);
  });

  it('stays right if the clock of this process is set, even before the next heartbeat', () => {
    const client = new EventEmitter();
    const clock = watchClock(client as unknown as MongoClient);
    const reply = { isWritablePrimary: true, localTime: new Date() };
    client.emit('serverHeartbeatSucceeded', { reply });
    expect(clock.offsetMs()).to.equal(0);
    const own = takeClock();
    try {
      own.set(HOUR_MS);
      expect(clock.offsetMs()).to.be.within(-HOUR_MS - 5000, -HOUR_MS + 5000);
      own.set(-HOUR_MS);
      expect(clock.offsetMs()).to.be.within(HOUR_MS - 5000, HOUR_MS + 5000);
    } finally {
      own.restore();
    }
  });

  it('asks only the primary', () => {
    expect(offsetAfter(5000, [0], { isWritablePrimary: false })).to.equal(0);
  });
});

describe('MongoDB: processes whose clocks differ', () => {
  let database: MongoDatabase;
  let store: Store;
  let own: TestClock;
  before(async () => {
    database = await createMongoDatabase();
    store = await openStore(database.url);
  });
  beforeEach(() => {
    own = takeClock();
  });
  afterEach(() => own.restore());
  after(async () => {
    await store.close();
    await database.remove();
  });

  it('count in the same windows', async () => {
    const { limits } = store;
    const { endsAt } = await limits.hit('key', 60_000, Date.now());
    own.set(HOUR_MS);
    const ahead = await limits.hit('key', 60_000, Date.now());
    expect(ahead.count).to.equal(2);
    expect(ahead.endsAt - HOUR_MS).to.be.within(endsAt - 100, endsAt + 100);
    const [open] = await limits.open(Date.now());
    expect(open?.count).to.equal(2);
    await limits.merge([{ ...ahead, count: 3 }], Date.now());
    own.set(0);
    expect((await limits.hit('key', 60_000, Date.now())).count).to.equal(6);
  });

  it('lease jobs by the clock of the server', async () => {
    const { id } = await newJob(store, await newWallet(store));
    await store.jobs.change({ kind: 'begin', id, version: 1, at: 5, ref: 'up', dueAt: 1 });
    own.set(HOUR_MS);
    const owner = 'own_1';
    /** From now, by the server's clock. */
    const leftOf = (job: Job | undefined) => (job?.lease ?? 0) - (Date.now() - HOUR_MS);
    const [claimed] = await store.jobs.claim({ owner, leaseMs: 600_000, limit: 1, at: Date.now() });
    expect(leftOf(claimed)).to.be.within(500_000, 601_000);
    expect(await store.jobs.renew({ id, version: 3, owner, leaseMs: 1_200_000 })).to.equal(true);
    expect(leftOf(await store.jobs.get(id))).to.be.within(1_100_000, 1_201_000);
  });

  it('renew owners by the clock of the server', async () => {
    const { owners } = store;
    const leaseMs = 1500;
    const renew = (id: string) => owners.renew({ id, leaseMs, alone: false });
    own.set(HOUR_MS);
    const { now } = await renew('ahead');
    own.set(-HOUR_MS);
    const seen = await renew('behind');
    expect(seen.others).to.equal(1);
    expect(seen.now - now).to.be.within(0, leaseMs);
    own.set(0);
    await new Promise((resolve) => setTimeout(resolve, leaseMs + 20));
    expect(await renew('right')).to.include({ others: 0 });
  });
});

describe('MongoDB: amounts', () => {
  it('are accepted up to the limit of int64', () => {
    for (const amount of [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)]) expect(toLong(amount)).to.equal(amount);
    for (const amount of [2n ** 63n, -(2n ** 63n) - 1n]) expect(() => toLong(amount)).to.throw(RangeError);
  });

  it('are read from sums as int64, or as int from an empty sum, but not as a double', () => {
    expect(sumToMicro(5n)).to.equal(5n);
    expect(sumToMicro(0)).to.equal(0n);
    expect(() => sumToMicro(2 ** 63)).to.throw(RangeError);
  });
});
