// Stores with version 1 of the schema: a suspended wallet gets its missing entry, and everything continues.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { listChargeOperationIds } from '../../lib/money/replay.ts';
import { MIGRATIONS as MONGODB } from '../../lib/store/mongodb/migration.ts';
import { openStore } from '../../lib/store/open.ts';
import { MIGRATIONS as SQLITE } from '../../lib/store/sqlite/schema.ts';
import type { Store } from '../../lib/store/store.ts';
import { itLong } from '../../testkit/long.ts';
import { STORES } from '../../testkit/stores.ts';
import { AT, applied, giveBack, RUB, reserve, settle } from '../contract/store/context.ts';
import { creditOf, newSucceeded } from '../contract/store/payments.ts';

const MONEY = { avail: 999n * RUB, held: RUB, charged: 0n, topped: 1000n * RUB, adjusted: 0n };
const NOTHING = { avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n, overshoot: 0n, chargedAfter: 0n };
const ENTRIES = [
  { ...NOTHING, opId: 'topup:old', seq: 1, kind: 'topup', charge: null, note: 'old', topped: 1000n * RUB },
  { ...NOTHING, opId: 'reserve:req_1', seq: 2, kind: 'reserve', charge: 'req_1', note: null, held: RUB },
].map((entry) => ({ ...entry, wallet: 'acc_1', at: AT, avail: entry.topped - entry.held }));
const CHARGE = {
  id: 'req_1',
  wallet: 'acc_1',
  key: 'key_1',
  kind: 'text',
  state: 'held',
  reserved: RUB,
  charged: 0n,
  model: 'model-1',
  prices: '{}',
  usage: null,
  owner: 'own_1',
  lease: AT + 10,
  createdAt: AT,
  endedAt: null,
};
const ACCOUNT = { id: 'acc_1', name: 'n', createdAt: AT };

function writeOldFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path);
  db.exec(SQLITE[0] as string);
  db.exec('PRAGMA application_id = 1953459308; PRAGMA user_version = 1');
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const add = (table: string, row: object) => {
    const names = Object.keys(row).map(snake);
    db.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`).run(...Object.values(row));
  };
  add('accounts', ACCOUNT);
  add('wallets', { id: 'acc_1', ...MONEY, seq: 2, status: 'suspended' });
  add('charges', CHARGE);
  for (const entry of ENTRIES) add('entries', entry);
  db.close();
}

async function writeOldDatabase(url: string): Promise<void> {
  const client = await MongoClient.connect(url, { useBigInt64: true });
  const db = client.db();
  await MONGODB[0]?.(db, AbortSignal.timeout(30_000));
  const add = (name: string, { id: _id, ...row }: Record<string, unknown>) =>
    db.collection<{ _id: unknown }>(name).insertOne({ _id, ...row });
  const autoTopup = { enabled: false, amount: 0n, threshold: 0n };
  await add('accounts', { ...ACCOUNT, autoTopup, keysAdded: 0 });
  await add('wallets', { id: 'acc_1', ...MONEY, seq: 2, status: 'suspended' });
  await add('charges', CHARGE);
  for (const { opId, ...entry } of ENTRIES) await add('entries', { id: opId, ...entry });
  await add('schema', { id: 'version', version: 1 });
  await client.close();
}

for (const kind of STORES) {
  describe(`a store of version 1: ${kind.name}`, () => {
    let database: Awaited<ReturnType<typeof kind.create>>;
    let store: Store;
    before(async () => {
      database = await kind.createBare();
      if (kind.name === 'sqlite') writeOldFile(database.url.slice('sqlite:'.length));
      else await writeOldDatabase(database.url);
      store = await openStore(database.url, kind.opening);
    });
    after(async () => {
      await store.close();
      await database.remove();
    });

    const problems = async () => (await verifyLedger(store)).problems;

    it('gives a suspended wallet its entry, once', async () => {
      const again = await openStore(database.url, kind.opening);
      await again.close();
      expect(await store.ledger.wallet('acc_1')).to.deep.equal({ id: 'acc_1', ...MONEY, seq: 3, status: 'suspended' });
      const [entry] = await store.ledger.entries('acc_1', { limit: 1 });
      expect(entry).to.include({ seq: 3, kind: 'suspend', status: 'suspended', chargedAfter: 0n });
      expect(await problems()).to.deep.equal([]);
    });

    const itOnSqlite = kind.name === 'sqlite' ? it : () => undefined;
    itOnSqlite('accepts no kinds and statuses but the new ones', () => {
      const db = new DatabaseSync(database.url.slice('sqlite:'.length));
      const copy = (change: string) => () =>
        db.exec(`CREATE TEMP TABLE one AS SELECT * FROM entries WHERE seq = 3;
          UPDATE one SET op_id = 'x', seq = 99, ${change}; INSERT INTO entries SELECT * FROM one`);
      for (const change of ["kind = 'close'", "status = 'closed'", "kind = 'reserve'"]) {
        expect(copy(change), change).to.throw('CHECK constraint failed');
        db.exec('DROP TABLE one');
      }
      expect(db.prepare('PRAGMA integrity_check').get()).to.deep.include({ integrity_check: 'ok' });
      db.close();
    });

    it('accepts calls for embeddings', async () => {
      await store.accounts.setStatus('acc_1', 'active');
      const chargeId = 'req_3';
      await applied(
        store,
        { ...reserve('acc_1', { chargeId }), chargeKind: 'embedding' } as Operation,
        settle('acc_1', chargeId),
      );
      expect(await store.ledger.charge(chargeId)).to.include({ kind: 'embedding', state: 'settled' });
      expect(await problems()).to.deep.equal([]);
    });

    it('continues with its calls, and with entries without a mark', async () => {
      await applied(store, settle('acc_1', 'req_1'));
      await store.accounts.setStatus('acc_1', 'active');
      await applied(store, reserve('acc_1', { chargeId: 'req_2' }), giveBack('release', 'acc_1', 'req_2'));
      await applied(store, creditOf(await newSucceeded(store, 'acc_1', {})));
      const marks = await Promise.all([...listChargeOperationIds('req_1')].map((id) => store.ledger.entry(id)));
      expect(marks.flatMap((entry) => (entry ? [entry.mark === null] : []))).to.deep.equal([true, false]);
      expect(await problems()).to.deep.equal([]);
    });
  });
}

describe('a MongoDB database of version 1', () => {
  const mongodb = STORES.find(({ name }) => name === 'mongodb') as (typeof STORES)[number];

  async function schemaOf(url: string): Promise<Document> {
    const client = await MongoClient.connect(url);
    const db = client.db();
    const collections = await db.listCollections().toArray();
    const found = collections.map(async ({ name, ...collection }) => {
      const indexes = (await db.collection(name).indexes()).toSorted((a, b) => (`${a.name}` < `${b.name}` ? -1 : 1));
      return [name, { validator: 'options' in collection && collection.options?.validator, indexes }] as const;
    });
    const all = Object.fromEntries((await Promise.all(found)).sort(([one], [other]) => (one < other ? -1 : 1)));
    await client.close();
    return all;
  }

  itLong('gets the same validators and indexes as a new one, even if its last step runs twice', async () => {
    const old = await mongodb.createBare();
    const fresh = await mongodb.createBare();
    try {
      await writeOldDatabase(old.url);
      for (const { url } of [old, fresh]) await (await openStore(url, mongodb.opening)).close();
      const wanted = await schemaOf(fresh.url);
      expect(await schemaOf(old.url)).to.deep.equal(wanted);
      expect(JSON.stringify(wanted.payments.validator)).to.contain('"mark":');
      const client = await MongoClient.connect(fresh.url, { useBigInt64: true });
      await MONGODB.at(-1)?.(client.db(), AbortSignal.timeout(30_000));
      await client.close();
      expect(await schemaOf(fresh.url)).to.deep.equal(wanted);
    } finally {
      for (const database of [old, fresh]) await database.remove();
    }
  });
});
