// A store from before failures and costs were counted: what its usage starts with when the sums of all wallets begin.
import { expect } from 'chai';
import { type Db, Long, MongoClient } from 'mongodb';
import { migrateUsage } from '../../../lib/store/mongodb/usage-schema.ts';
import { openStore } from '../../../lib/store/open.ts';
import { createBareMongoDatabase, type MongoDatabase } from '../../../testkit/mongod.ts';

const HOUR_MS = 3_600_000;
const DAY = 20_000 * 24 * HOUR_MS;
const HOUR = DAY + 7 * HOUR_MS;
/** Some of its calls have left for an archive. */
const KEPT = 'acc_kept';
const WHOLE = 'acc_whole';

function makeOldHour(wallet: string, model: string, calls: number) {
  const counts = { calls, charged: Long.fromNumber(calls * 10), refunded: Long.fromNumber(-calls) };
  const used = { tokensInput: 1, tokensOutput: 2, images: 0, seconds: 0 };
  const id = `${wallet} ${model} ${calls}`;
  return { _id: id, wallet, hour: HOUR, key: `key_${calls}`, model, kind: 'text', ...counts, ...used };
}

describe('MongoDB: usage of a store that did not count failures', () => {
  const signal = AbortSignal.timeout(30_000);
  let database: MongoDatabase;
  let client: MongoClient;
  let db: Db;
  before(async () => {
    database = await createBareMongoDatabase();
    await (await openStore(database.url)).close();
    client = await MongoClient.connect(database.url, { useBigInt64: true });
    db = client.db();
    const rows = (name: string) => db.collection<{ _id: string; [field: string]: unknown }>(name);
    await rows('openings').insertOne({ _id: KEPT }, { bypassDocumentValidation: true });
    const cursors = [{ _id: KEPT }, { _id: WHOLE }, { _id: 'acc_ahead', jobs: '[]' }];
    await rows('usage_cursors').insertMany(cursors.map((cursor) => ({ ...cursor, seq: 5 })));
    const ahead = { ...makeOldHour('acc_ahead', 'lite', 9), failed: 0, cost: Long.ZERO, unpriced: 0 };
    const old = [makeOldHour(KEPT, 'lite', 1), makeOldHour(KEPT, 'lite', 2), makeOldHour(KEPT, 'pro', 4)];
    await rows('usage_hours').insertMany([...old, makeOldHour(WHOLE, 'lite', 8), ahead]);
    for (let process = 0; process < 2; process += 1) await migrateUsage(db, signal);
  });
  after(async () => {
    await client?.close();
    await database.remove();
  });

  it('is counted anew from the journal, unless another process has done so already', async () => {
    const cursors = await db.collection('usage_cursors').find().sort({ _id: 1 }).toArray();
    expect(cursors).to.deep.equal([
      { _id: 'acc_ahead', jobs: '[]', seq: 5 },
      { _id: KEPT, seq: 5, jobs: '[]', partial: true },
    ]);
    expect((await db.collection('usage_hours').distinct('wallet')).sort()).to.deep.equal(['acc_ahead', KEPT]);
  });

  it('stays as it is where calls have left for an archive, and is added to the sums of all once', async () => {
    const sums = await db.collection('service_sums').find().sort({ subject: 1, grain: 1, name: 1 }).toArray();
    const found = sums.map(({ subject, grain, at, name, calls, charged, refunded }) => [
      ...[subject, grain, at, name],
      ...[calls, charged, refunded].map(Number),
    ]);
    expect(found).to.deep.equal([
      ['account', 'day', DAY, KEPT, 7, 70, -7],
      ['account', 'hour', HOUR, KEPT, 7, 70, -7],
      ['model', 'day', DAY, 'lite', 3, 30, -3],
      ['model', 'day', DAY, 'pro', 4, 40, -4],
      ['model', 'hour', HOUR, 'lite', 3, 30, -3],
      ['model', 'hour', HOUR, 'pro', 4, 40, -4],
    ]);
  });
});
