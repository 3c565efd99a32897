// The last batches of counters are removed by the first batch of another counter, once they cannot be repeated.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Collection, MongoClient } from 'mongodb';
import { DAY_MS } from '../../lib/base/durations.ts';
import { STORES } from '../../testkit/stores.ts';
import { useStore } from '../contract/store/context.ts';

/** The writers that are noted, after notes of so long ago were added. */
type Look = (agoMs: Readonly<Record<string, number>>, count: () => Promise<unknown>) => Promise<readonly string[]>;

const lookInto: Readonly<Record<string, (url: string) => Look>> = {
  sqlite: (url) => async (agoMs, count) => {
    const db = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 });
    try {
      const insert = db.prepare('INSERT INTO batches (writer, number, at) VALUES (?, 1, ?)');
      for (const [writer, ago] of Object.entries(agoMs)) insert.run(writer, Date.now() - ago);
      await count();
      const rows = db.prepare('SELECT writer FROM batches ORDER BY writer').all();
      return rows.map(({ writer }) => String(writer));
    } finally {
      db.close();
    }
  },
  mongodb: (url) => async (agoMs, count) => {
    const client = await MongoClient.connect(url);
    try {
      const batches: Collection<{ _id: string; number: number; at: number }> = client.db().collection('batches');
      for (const [_id, ago] of Object.entries(agoMs)) await batches.insertOne({ _id, number: 1, at: Date.now() - ago });
      await count();
      return (await batches.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
    } finally {
      await client.close();
    }
  },
};

for (const kind of STORES) {
  describe(`counters that are gone, on ${kind.name}`, () => {
    const context = useStore(kind);

    it('are removed after a day, by the first batch of another counter', async () => {
      const look = lookInto[kind.name]?.(context.url) as Look;
      const count = (number: number) => async () => {
        const batch = { writer: 'me', number };
        await context.store.keys.use([{ id: 'key_1', count: 1, lastUsedAt: 1 }], batch);
      };
      const ago = { 'old-1': 2 * DAY_MS, 'old-2': DAY_MS + 60_000, young: DAY_MS - 60_000 };
      expect(await look(ago, count(1))).to.deep.equal(['me', 'young']);
      expect(await look({ older: 3 * DAY_MS }, count(2))).to.deep.equal(['me', 'older', 'young']);
    });
  });
}
