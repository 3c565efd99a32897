// A store whose sums of all wallets have days but no weeks, as an earlier version left it, gets the weeks at the next start:
// one by one, and also if a start was killed between them.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Db, MongoClient } from 'mongodb';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { checkServiceSums } from '../../lib/ledger/audit-service.ts';
import { MIGRATIONS as MONGODB_STEPS } from '../../lib/store/mongodb/migration.ts';
import * as mongodb from '../../lib/store/mongodb/usage-schema.ts';
import { openStore } from '../../lib/store/open.ts';
import type { ServiceQuery, UsageHour } from '../../lib/store/ports/usage.ts';
import { changeChecks } from '../../lib/store/sqlite/checks.ts';
import { MIGRATIONS as SQLITE_STEPS } from '../../lib/store/sqlite/schema.ts';
import * as sqlite from '../../lib/store/sqlite/usage-schema.ts';
import type { Store } from '../../lib/store/store.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';
import { MONGODB, SQLITE } from '../../testkit/stores.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const FIRST = 20_000 * DAY_MS + 7 * HOUR_MS;
const DAYS = [0, 1, 5, 6, 12, 13, 40, 41];
const ALL: ServiceQuery = { subject: 'account', from: 0, to: FIRST + 100 * DAY_MS, by: 'name' };

interface OldStore {
  readonly name: string;
  readonly create: () => Promise<StoreDatabase>;
  /** Takes the store back to the version before weeks. */
  age(url: string): Promise<void>;
  /** Like a start that is killed behind the first part of the migration; resolves to the weeks that there are. */
  begin(url: string): Promise<number>;
}

const FILE: OldStore = {
  name: 'sqlite',
  create: () => SQLITE.create(),
  age: (url) =>
    withFile(url, (db) => {
      db.exec("DELETE FROM service_sums WHERE grain = 'week'");
      changeChecks(db, 'service_sums', [[" OR grain = 'week'", '']]);
      db.exec(`DROP TABLE refusals; DROP TABLE usage_weeks; ALTER TABLE usage_hours DROP COLUMN tokens_audio;
        ALTER TABLE usage_days DROP COLUMN tokens_audio;
        PRAGMA user_version = ${SQLITE_STEPS.indexOf(sqlite.allowServiceWeeks)}`);
    }),
  begin: (url) =>
    withFile(url, (db) => {
      sqlite.allowServiceWeeks(db);
      expect(sqlite.fillServiceWeeks(db)).to.equal(true);
      db.exec(`PRAGMA user_version = ${SQLITE_STEPS.indexOf(sqlite.fillServiceWeeks)}`);
      return Number(
        db.prepare("SELECT count(DISTINCT at) AS count FROM service_sums WHERE grain = 'week'").get()?.count,
      );
    }),
};

async function withFile<T>(url: string, work: (db: DatabaseSync) => T): Promise<T> {
  const db = new DatabaseSync(url.slice('sqlite:'.length));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

const SET: OldStore = {
  name: 'mongodb',
  create: () => MONGODB.createBare(),
  age: (url) =>
    withDatabase(url, async (db) => {
      await db.collection('service_sums').deleteMany({ grain: 'week' });
      await db.command({ collMod: 'service_sums', validator: mongodb.SERVICE_SUMS.validator });
      await setVersion(db, MONGODB_STEPS.indexOf(mongodb.allowServiceWeeks));
    }),
  begin: (url) =>
    withDatabase(url, async (db) => {
      const signal = AbortSignal.timeout(30_000);
      await mongodb.allowServiceWeeks(db, signal);
      expect(await mongodb.fillServiceWeeks(db, signal)).to.equal(true);
      await setVersion(db, MONGODB_STEPS.indexOf(mongodb.fillServiceWeeks));
      const sums = db.collection('service_sums');
      const weeks = await sums.distinct('at', { grain: 'week' });
      // The second week is killed halfway.
      const schema = db.collection<{ _id: string }>('schema');
      const place = await schema.findOne({ _id: 'service_weeks' });
      expect(await mongodb.fillServiceWeeks(db, signal)).to.equal(true);
      await schema.replaceOne({ _id: 'service_weeks' }, place ?? {});
      const { deletedCount } = await sums.deleteMany({ grain: 'week', at: { $nin: weeks }, name: /acc_a/ });
      expect(deletedCount).to.equal(2);
      return weeks.length;
    }),
};

async function setVersion(db: Db, version: number): Promise<void> {
  await db.collection<{ _id: string }>('schema').updateOne({ _id: 'version' }, { $set: { version } });
}

async function withDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(url);
  try {
    return await work(client.db());
  } finally {
    await client.close();
  }
}

function makeHour(wallet: string, day: number): UsageHour {
  const counts = { calls: day + 1, charged: BigInt(day) * 7n, refunded: -1n, cost: 2n ** 53n + 1n, tokensInput: 3 };
  return { ...NO_USAGE, hour: FIRST + day * DAY_MS, key: 'key', model: `model of ${wallet}`, kind: 'text', ...counts };
}

for (const old of [FILE, SET]) {
  describe(`a store without weeks of the sums of all wallets: ${old.name}`, () => {
    let database: StoreDatabase;
    let store: Store;

    beforeEach(async () => {
      database = await old.create();
      const before = await openStore(database.url);
      for (const wallet of ['acc_a', 'acc_b']) {
        const hours = DAYS.filter((day) => wallet === 'acc_a' || day < 20).map((day) => makeHour(wallet, day));
        expect(await before.usage.add({ wallet, from: 0, to: 1, hours })).to.equal(true);
      }
      await before.close();
      await old.age(database.url);
    });
    afterEach(async () => {
      await store?.close();
      await database.remove();
    });

    async function expectWeeks(): Promise<void> {
      const found = await store.usage.serviceSums(ALL);
      expect(found.map(({ name, calls, cost }) => [name, calls, cost])).to.deep.equal([
        ['acc_a', 126, 8n * (2n ** 53n + 1n)],
        ['acc_b', 43, 6n * (2n ** 53n + 1n)],
      ]);
      const problems: string[] = [];
      await checkServiceSums(store, (_, problem) => problems.push(problem));
      expect(problems.filter((problem) => problem.includes('by week'))).to.deep.equal([]);
    }

    it('gets all of them, also if several gateways start at once', async () => {
      const stores = await Promise.all(Array.from({ length: 3 }, () => openStore(database.url)));
      store = stores[0] as Store;
      for (const other of stores.slice(1)) await other.close();
      await expectWeeks();
    }).timeout(30_000);

    it('goes on where a killed start stopped, and adds to the weeks of its days', async () => {
      expect(await old.begin(database.url)).to.equal(1);
      store = await openStore(database.url);
      await expectWeeks();
      expect(await store.usage.add({ wallet: 'acc_b', from: 1, to: 2, hours: [makeHour('acc_b', 5)] })).to.equal(true);
      const [, other] = await store.usage.serviceSums(ALL);
      expect(other).to.include({ name: 'acc_b', calls: 49 });
    }).timeout(30_000);
  });
}
