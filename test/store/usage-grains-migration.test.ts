// A store whose usage has hours but no days, or no weeks, as earlier versions left it, gets them from its hours at the next
// start: in parts, and also if a start was killed between them.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Db, type Document, MongoClient } from 'mongodb';
import { DAY_MS, HOUR_MS, WEEK_MS } from '../../lib/base/durations.ts';
import { MIGRATIONS as MONGODB_STEPS } from '../../lib/store/mongodb/migration.ts';
import * as collections from '../../lib/store/mongodb/usage-schema.ts';
import { openStore } from '../../lib/store/open.ts';
import { MIGRATIONS as SQLITE_STEPS } from '../../lib/store/sqlite/schema.ts';
import * as tables from '../../lib/store/sqlite/usage-schema.ts';
import type { Store } from '../../lib/store/store.ts';
import { sumUsage } from '../../lib/store/usage-grains.ts';
import { longer } from '../../testkit/long.ts';
import { MONGODB, SQLITE } from '../../testkit/stores.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

/** What a store lacks: days and weeks, or only weeks. */
interface Lack {
  readonly grain: 'day' | 'week';
  readonly ms: number;
  /** Between the hours of a wallet: as many rows of the finer grain. */
  readonly step: number;
}

const LACKS: readonly Lack[] = [
  { grain: 'day', ms: DAY_MS, step: HOUR_MS },
  { grain: 'week', ms: WEEK_MS, step: DAY_MS },
];

const FILL_TABLE = { day: tables.fillUsageDays, week: tables.fillUsageWeeks };
const FILL_COLLECTION = { day: collections.fillUsageDays, week: collections.fillUsageWeeks };
/** The steps that make the table or the collection, and those that fill it. */
const findTableSteps = (grain: Lack['grain']) => {
  const fill = SQLITE_STEPS.indexOf(FILL_TABLE[grain]);
  return { make: fill - 1, fill };
};
const findCollectionSteps = (grain: Lack['grain']) => {
  const fill = MONGODB_STEPS.indexOf(FILL_COLLECTION[grain]);
  return { make: fill - 1, fill };
};

/** Above the rows of one part, so that one ends within this wallet. */
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
const makeOldHours = (step: number): readonly OldHour[] =>
  Object.entries(WALLETS).flatMap(([wallet, count]) =>
    Array.from({ length: count }, (_, at) => ({
      wallet,
      hour: 1_700_000_000_000 - (1_700_000_000_000 % HOUR_MS) + Math.floor(at / 2) * step,
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
  /** Takes the store back to the version before days or weeks, with the hours. */
  age(url: string, lack: Lack): Promise<void>;
  /** Like a start that is killed behind the first part of the migration, and within the second. */
  begin(url: string, lack: Lack): Promise<number>;
}

const FILE: OldStore = {
  name: 'sqlite',
  create: () => SQLITE.create(),
  age: (url, { grain, step }) =>
    withFile(url, (db) => {
      const names =
        'wallet, hour, key, model, kind, calls, charged, refunded, tokens_input, tokens_output, images, seconds';
      const add = db.prepare(`INSERT INTO usage_hours (${names}) VALUES (${names.replace(/\w+/g, '?')})`);
      db.exec('BEGIN');
      for (const row of makeOldHours(step)) add.run(...Object.values(row));
      if (grain === 'week') while (FILL_TABLE.day(db));
      else db.exec('DROP TABLE usage_days');
      if (grain === 'week') db.exec('ALTER TABLE usage_days DROP COLUMN tokens_audio');
      db.exec(`DROP TABLE refusals; DROP TABLE usage_weeks; ALTER TABLE usage_hours DROP COLUMN tokens_audio;
        PRAGMA user_version = ${findTableSteps(grain).make}; COMMIT`);
    }),
  begin: (url, { grain }) =>
    withFile(url, (db) => {
      const { make, fill } = findTableSteps(grain);
      db.exec(SQLITE_STEPS[make] as string);
      expect(FILL_TABLE[grain](db)).to.equal(true);
      db.exec(`PRAGMA user_version = ${fill}`);
      return Number(db.prepare(`SELECT count(DISTINCT wallet) AS count FROM usage_${grain}s`).get()?.count);
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
  age: (url, { grain, step }) =>
    withDatabase(url, async (db) => {
      const rows = makeOldHours(step).map((row) => ({ _id: idOf(row), ...row }));
      await db.collection<{ _id: string }>('usage_hours').insertMany(rows, { ordered: false });
      if (grain === 'week') while (await FILL_COLLECTION.day(db, AbortSignal.timeout(30_000)));
      else await db.collection('usage_days').drop();
      await db.collection('usage_weeks').drop();
      await setVersion(db, findCollectionSteps(grain).make);
    }),
  begin: (url, { grain, ms }) =>
    withDatabase(url, async (db) => {
      const signal = AbortSignal.timeout(30_000);
      const { make, fill } = findCollectionSteps(grain);
      await MONGODB_STEPS[make]?.(db, signal);
      expect(await FILL_COLLECTION[grain](db, signal)).to.equal(true);
      await setVersion(db, fill);
      const sums = db.collection(`usage_${grain}s`);
      const wallets = await sums.distinct('wallet');
      const schema = db.collection<{ _id: string }>('schema');
      const place = (await schema.findOne({ _id: `usage_${grain}s` })) as Document;
      // Those of the next part are written in any order.
      const before = await sums.find().toArray();
      expect(await FILL_COLLECTION[grain](db, signal)).to.equal(true);
      await schema.replaceOne({ _id: `usage_${grain}s` }, place);
      const { deletedCount } = await sums.deleteMany({
        _id: { $nin: before.map(({ _id }) => _id) },
        [grain]: { $mod: [3 * ms, 0] },
      });
      expect(deletedCount).to.be.above(0);
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

/** In any order: comparing thousands of rows with each other would take seconds. */
function expectRows(rows: readonly object[], expected: Iterable<object>): void {
  expect(sortRows(rows)).to.equal(sortRows(expected));
}

function sortRows(rows: Iterable<object>): string {
  const all = [...rows] as Readonly<Record<string, unknown>>[];
  const names = Object.keys(all[0] ?? {}).sort();
  const describeRow = (row: (typeof all)[number]) =>
    `${Object.keys(row).length} ${names.map((name) => row[name]).join()}`;
  return [names.join(), ...all.map(describeRow).sort()].join('\n');
}

for (const old of longer([FILE], [FILE, SET])) {
  for (const lack of longer(LACKS.slice(-1), LACKS)) {
    describe(`a store without ${lack.grain}s of usage: ${old.name}`, () => {
      let database: StoreDatabase;
      let store: Store;

      beforeEach(async () => {
        database = await old.create();
        await (await openStore(database.url)).close();
        await old.age(database.url, lack);
      });
      afterEach(async () => {
        await store?.close();
        await database.remove();
      });

      async function expectSums(): Promise<void> {
        for (const wallet of IDS) {
          const { hours, days, weeks } = await store.usage.readAll(wallet);
          expect(hours).to.have.length(WALLETS[wallet as keyof typeof WALLETS]);
          expectRows(days, sumUsage(hours, 'hour', 'day'));
          expectRows(weeks, sumUsage(hours, 'hour', 'week'));
        }
      }

      it('gets those of all wallets, also if several gateways start at once', async () => {
        const stores = await Promise.all(Array.from({ length: 3 }, () => openStore(database.url)));
        store = stores[0] as Store;
        for (const other of stores.slice(1)) await other.close();
        await expectSums();
      }).timeout(30_000);

      it('goes on where a killed start stopped, and adds to the sums of its hours', async () => {
        expect(await old.begin(database.url, lack)).to.equal(2);
        store = await openStore(database.url);
        await expectSums();
        const { hours } = await store.usage.readAll('acc_b');
        const [hour] = hours as [(typeof hours)[number]];
        expect(await store.usage.add({ wallet: 'acc_b', from: 0, to: 1, hours: [hour] })).to.equal(true);
        const after = await store.usage.readAll('acc_b');
        expectRows(after.days, sumUsage([...hours, hour], 'hour', 'day'));
        expectRows(after.weeks, sumUsage([...hours, hour], 'hour', 'week'));
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
}
