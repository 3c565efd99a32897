// A store whose usage has hours but no days, as an earlier version left it, gets them from its hours at the next start: in
// parts, and also if a start was killed between them.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Db, type Document, MongoClient } from 'mongodb';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { MIGRATIONS as MONGODB_STEPS } from '../../lib/store/mongodb/migration.ts';
import { fillUsageDays as fillCollection } from '../../lib/store/mongodb/usage-schema.ts';
import { openStore } from '../../lib/store/open.ts';
import { MIGRATIONS as SQLITE_STEPS } from '../../lib/store/sqlite/schema.ts';
import { fillUsageDays as fillTable } from '../../lib/store/sqlite/usage-schema.ts';
import type { Store } from '../../lib/store/store.ts';
import { sumUsageDays } from '../../lib/store/usage-days.ts';
import { longer } from '../../testkit/long.ts';
import { MONGODB, SQLITE } from '../../testkit/stores.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

/** Above the hours of one part, so that one ends within this wallet. */
const MANY = 20_200;
const WALLETS = { acc_a: 30, acc_b: MANY, acc_c: 50 } as const;
const IDS = Object.keys(WALLETS);

interface OldHour {
  readonly wallet: string;
  readonly hour: number;
  readonly key: string;
  readonly model: string;
  readonly kind: string;
  readonly calls: number;
  readonly charged: bigint;
  readonly refunded: bigint;
  readonly tokensInput: number;
  readonly tokensOutput: number;
  readonly images: number;
  readonly seconds: number;
}

/** As they were before failures, costs and cached tokens were counted. */
const OLD_HOURS: readonly OldHour[] = Object.entries(WALLETS).flatMap(([wallet, count]) =>
  Array.from({ length: count }, (_, at) => ({
    wallet,
    hour: 1_700_000_000_000 - (1_700_000_000_000 % HOUR_MS) + Math.floor(at / 2) * HOUR_MS,
    key: `key ${at % 2}`,
    model: 'model 1',
    kind: 'text',
    calls: at,
    charged: BigInt(at) * 3n,
    refunded: BigInt(-(at % 5)),
    tokensInput: 1,
    tokensOutput: at % 7,
    images: 0,
    seconds: 2,
  })),
);

interface OldStore {
  readonly name: string;
  readonly create: () => Promise<StoreDatabase>;
  /** Takes the store back to the version before days, with the hours. */
  age(url: string): Promise<void>;
  /** Like a start that is killed behind the first part of the migration, and within the second. */
  begin(url: string): Promise<number>;
}

const FILE: OldStore = {
  name: 'sqlite',
  create: () => SQLITE.create(),
  age: (url) =>
    withFile(url, (db) => {
      const names =
        'wallet, hour, key, model, kind, calls, charged, refunded, tokens_input, tokens_output, images, seconds';
      const add = db.prepare(`INSERT INTO usage_hours (${names}) VALUES (${names.replace(/\w+/g, '?')})`);
      db.exec('BEGIN');
      for (const row of OLD_HOURS) add.run(...Object.values(row));
      db.exec(`DROP TABLE usage_days; PRAGMA user_version = ${SQLITE_STEPS.indexOf(fillTable) - 1}; COMMIT`);
    }),
  begin: (url) =>
    withFile(url, (db) => {
      db.exec(SQLITE_STEPS[SQLITE_STEPS.indexOf(fillTable) - 1] as string);
      expect(fillTable(db)).to.equal(true);
      db.exec(`PRAGMA user_version = ${SQLITE_STEPS.indexOf(fillTable)}`);
      return Number(db.prepare('SELECT count(DISTINCT wallet) AS count FROM usage_days').get()?.count);
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
      const rows = OLD_HOURS.map((row) => ({ _id: idOf(row), ...row }));
      await db.collection<{ _id: string }>('usage_hours').insertMany(rows, { ordered: false });
      await db.collection('usage_days').drop();
      await setVersion(db, MONGODB_STEPS.indexOf(fillCollection) - 1);
    }),
  begin: (url) =>
    withDatabase(url, async (db) => {
      const signal = AbortSignal.timeout(30_000);
      await MONGODB_STEPS[MONGODB_STEPS.indexOf(fillCollection) - 1]?.(db, signal);
      expect(await fillCollection(db, signal)).to.equal(true);
      await setVersion(db, MONGODB_STEPS.indexOf(fillCollection));
      const days = db.collection('usage_days');
      const wallets = await days.distinct('wallet');
      const place = (await db.collection<{ _id: string }>('schema').findOne({ _id: 'usage_days' })) as Document;
      // Those of the next part are written in any order.
      const before = await days.find().toArray();
      expect(await fillCollection(db, signal)).to.equal(true);
      await db.collection<{ _id: string }>('schema').replaceOne({ _id: 'usage_days' }, place);
      await days.deleteMany({ _id: { $nin: before.map(({ _id }) => _id) }, day: { $mod: [3 * DAY_MS, 0] } });
      return wallets.length;
    }),
};

const idOf = ({ wallet, hour, key, kind, model }: OldHour) => `${wallet} ${hour} ${key} ${kind} ${model}`;

async function setVersion(db: Db, version: number): Promise<void> {
  await db.collection<{ _id: string }>('schema').updateOne({ _id: 'version' }, { $set: { version } });
}

async function withDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(url, { useBigInt64: true });
  try {
    return await work(client.db());
  } finally {
    await client.close();
  }
}

for (const old of longer([FILE], [FILE, SET])) {
  describe(`a store without days of usage: ${old.name}`, () => {
    let database: StoreDatabase;
    let store: Store;

    beforeEach(async () => {
      database = await old.create();
      await (await openStore(database.url)).close();
      await old.age(database.url);
    });
    afterEach(async () => {
      await store?.close();
      await database.remove();
    });

    async function expectDays(): Promise<void> {
      for (const wallet of IDS) {
        const { hours, days } = await store.usage.readAll(wallet);
        expect(hours).to.have.length(WALLETS[wallet as keyof typeof WALLETS]);
        expect(days).to.have.deep.members([...sumUsageDays(hours)]);
      }
    }

    it('gets those of all wallets, also if several gateways start at once', async () => {
      const stores = await Promise.all(Array.from({ length: 3 }, () => openStore(database.url)));
      store = stores[0] as Store;
      for (const other of stores.slice(1)) await other.close();
      await expectDays();
    }).timeout(30_000);

    it('goes on where a killed start stopped, and adds to the days of its hours', async () => {
      expect(await old.begin(database.url)).to.equal(2);
      store = await openStore(database.url);
      await expectDays();
      const { hours } = await store.usage.readAll('acc_b');
      const [hour] = hours as [(typeof hours)[number]];
      expect(await store.usage.add({ wallet: 'acc_b', from: 0, to: 1, hours: [hour] })).to.equal(true);
      const after = await store.usage.readAll('acc_b');
      expect(after.days).to.have.deep.members([...sumUsageDays([...hours, hour])]);
    }).timeout(30_000);

    if (old === SET) {
      it('keeps nothing of the way there', async () => {
        store = await openStore(database.url);
        const kept = await withDatabase(database.url, (db) => db.collection('schema').distinct('_id'));
        expect(kept).to.deep.equal(['version']);
      }).timeout(30_000);
    }
  });
}
