// Rows of gateways that ended long ago are removed by the next renewal of any other; those of the last hour stay.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Collection, MongoClient } from 'mongodb';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { STORES } from '../../testkit/stores.ts';
import { useStore } from '../contract/store/context.ts';

/** The ids of the rows, after those of gateways that left so long ago were added. */
type Look = (agoMs: Readonly<Record<string, number>>, renew: () => Promise<unknown>) => Promise<readonly string[]>;

const lookInto: Readonly<Record<string, (url: string) => Look>> = {
  sqlite: (url) => async (agoMs, renew) => {
    const db = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 });
    try {
      const insert = db.prepare('INSERT INTO owners (id, until, lease_ms, alone) VALUES (?, ?, 1000, 0)');
      for (const [id, ago] of Object.entries(agoMs)) insert.run(id, Date.now() - ago);
      await renew();
      const rows = db.prepare('SELECT id FROM owners ORDER BY id').all();
      return rows.map(({ id }) => String(id));
    } finally {
      db.close();
    }
  },
  mongodb: (url) => async (agoMs, renew) => {
    const client = await MongoClient.connect(url);
    try {
      const owners: Collection<{ _id: string }> = client.db().collection('owners');
      for (const [id, ago] of Object.entries(agoMs)) {
        const lease = { until: { $toLong: Date.now() - ago }, leaseMs: { $toLong: 1000 }, alone: false };
        await owners.updateOne({ _id: id }, [{ $set: lease }], { upsert: true });
      }
      await renew();
      return (await owners.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
    } finally {
      await client.close();
    }
  },
};

for (const kind of STORES) {
  describe(`gateways that are gone, on ${kind.name}`, () => {
    const context = useStore(kind);

    it('are removed after an hour, and not before', async () => {
      const renew = () => context.store.owners.renew({ id: 'me', leaseMs: 15_000, alone: false });
      const look = lookInto[kind.name]?.(context.url) as Look;
      const left = await look({ 'old-1': 2 * HOUR_MS, 'old-2': HOUR_MS + 60_000, young: HOUR_MS - 60_000 }, renew);
      expect(left).to.deep.equal(['me', 'young']);
    });
  });
}
