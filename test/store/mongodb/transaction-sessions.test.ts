// The leases of sessions use the server's time: a process counts as dead in time and not before, whatever its clock
// says.
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import { until } from '../../../testkit/client.ts';
import { MONGODB } from '../../../testkit/stores.ts';
import { applied, newWallet, RUB, topup, useStore } from '../../contract/store/context.ts';

const LEASE_MS_MAX = 10_000;

describe('sessions of a process whose clock is wrong', () => {
  const context = useStore(MONGODB);
  const now = Date.now;

  afterEach(() => {
    Date.now = now;
  });

  for (const hours of [1, -1]) {
    it(`have the usual lease if the clock is off by ${hours} h`, async () => {
      const store = await context.open();
      const wallet = await newWallet(context.store);
      Date.now = () => now() + hours * HOUR_MS;
      await applied(store, topup(wallet, RUB));
      Date.now = now;
      const client = await MongoClient.connect(context.url);
      const rows = await client.db().collection('sessions').find().toArray();
      await client.close();
      expect(rows).to.have.length.above(1);
      for (const { until } of rows) expect(until - now()).to.be.within(-LEASE_MS_MAX, LEASE_MS_MAX);
    });
  }
});

describe('sessions of a process that died', () => {
  const context = useStore(MONGODB);

  it('end when another process renews its owner', async () => {
    const client = await MongoClient.connect(context.url);
    try {
      const rows = client.db().collection<{ _id: string; until: number; sessions: readonly [] }>('sessions');
      const dead = 'ses_dead';
      const alive = 'ses_alive';
      await rows.insertMany([
        { _id: dead, until: Date.now() - 5000, sessions: [] },
        { _id: alive, until: Date.now() + HOUR_MS, sessions: [] },
      ]);
      await context.store.owners.renew({ id: 'own_1', leaseMs: 15_000, alone: false });
      await until(async () => (await rows.findOne({ _id: dead })) === null);
      expect(await rows.findOne({ _id: alive })).to.include({ _id: alive });
    } finally {
      await client.close();
    }
  });
});
