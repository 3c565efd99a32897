// Servers, databases and URLs that a ledger cannot use are refused in one plain line.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { MongoMemoryServer } from 'mongodb-memory-server-core';
import { OperatorError } from '../../../lib/base/operator-error.ts';
import { findServerProblem } from '../../../lib/store/mongodb/connection.ts';
import { SCHEMA_VERSION } from '../../../lib/store/mongodb/migration.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { StoreOptions } from '../../../lib/store/store.ts';
import { itLong, longer } from '../../../testkit/long.ts';
import { createBareMongoDatabase, type MongoDatabase } from '../../../testkit/mongod.ts';
import { binary, LAUNCH_MS_MAX } from '../../../testkit/replica-set.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { rejection } from '../../contract/store/context.ts';

async function refused(url: string, options?: StoreOptions): Promise<string> {
  const error = await rejection(openStore(url, options));
  expect(error).to.be.instanceOf(OperatorError);
  const { message } = error as OperatorError;
  expect(message).to.not.include('\n');
  return message;
}

describe('openStore on MongoDB: servers', () => {
  const servers: MongoMemoryServer[] = [];
  const start = async (args: string[]) => {
    const instance = { storageEngine: 'wiredTiger', launchTimeout: LAUNCH_MS_MAX, args } as const;
    const server = await MongoMemoryServer.create({ binary: await binary(), instance });
    servers.push(server);
    return `127.0.0.1:${server.instanceInfo?.port}`;
  };
  /** The two slowest openings run at the same time. */
  let slow: { readonly fresh: Promise<string>; readonly dead: Promise<string> };
  const openFresh = async () =>
    refused(`mongodb://${await start(['--wiredTigerCacheSizeGB', '0.25', '--replSet', 'fresh'])}/a`);
  before(() => {
    slow = {
      // It takes a server of its own.
      fresh: longer(async () => '', openFresh)(),
      dead: refused('mongodb://ann:p%40ss@127.0.0.1:9/a?replicaSet=rs&authSource=admin'),
    };
    for (const refusal of Object.values(slow)) refusal.catch(() => undefined);
  });
  after(async () => {
    for (const server of servers) await server.stop({ doCleanup: true, force: true });
  });

  itLong('refuses a standalone server, even if the URL names a replica set', async () => {
    const host = await start(['--wiredTigerCacheSizeGB', '0.25']);
    expect(await refused(`mongodb://${host}/a`)).to.match(/at 127\.0\.0\.1:\d+ is a standalone.*--replSet/);
    const from = performance.now();
    expect(await refused(`mongodb://${host}/a?replicaSet=rs`)).to.match(/is a standalone.*--replSet/);
    // It stays a standalone server: nothing waits after the first check.
    expect(performance.now() - from, 'ms').to.be.lessThan(4500);
  })
    ?.timeout(30_000)
    .retries(3);

  itLong('refuses a replica set that was never initiated', async () => {
    expect(await slow.fresh).to.include('rs.initiate()');
  })?.timeout(30_000);

  it('reports the hosts that do not answer, and nothing else of the URL', async () => {
    expect(await slow.dead)
      .to.include('127.0.0.1:9')
      .and.to.not.match(/ann|p%40ss|p@ss/);
  }).timeout(30_000);

  itTimed('refuses another replica set than the one the URL names', async () => {
    const { url, remove } = await createBareMongoDatabase();
    const other = url.replace(/replicaSet=[^&]*/, 'replicaSet=other');
    const from = performance.now();
    if (other !== url) expect(await refused(other)).to.include('the URL asks for other');
    // It stays another replica set: nothing waits after the first check.
    expect(performance.now() - from, 'ms').to.be.lessThan(4500);
    await remove();
  }).timeout(30_000);

  it('accepts servers from 6.0 and routers of a cluster', () => {
    const member = { setName: 'rs' };
    expect(findServerProblem(member, { version: '6.0.0' })).to.equal(undefined);
    expect(findServerProblem(member, { version: '10.1.0' })).to.equal(undefined);
    expect(findServerProblem({ msg: 'isdbgrid' }, { version: '7.0.2' })).to.equal(undefined);
    expect(findServerProblem(member, { version: '5.0.31' }))
      .to.include('5.0.31')
      .and.to.include('6.0');
    expect(findServerProblem(member, {})).to.include('6.0');
    expect(findServerProblem({}, { version: '8.0.0' })).to.include('standalone');
  });
});

describe('openStore on MongoDB: URLs', () => {
  it('refuses an invalid URL without showing its secrets', async () => {
    for (const url of ['mongodb://', 'mongodb://ann:s3cret@', 'mongodb://ann:s3c:ret@host:port/a']) {
      expect(await refused(url), url)
        .to.include('URL')
        .and.to.not.match(/s3cret|s3c|ann/);
    }
    expect(await refused('mongodb://localhost/a?nonsense=1')).to.include('nonsense');
    for (const password of ['p@ss', 'p/ss', 'p%ss', 'p:ss'])
      expect(await refused(`mongodb://ann:${password}@host/a`), password).to.match(/write @ as %40.*% as %25\.$/);
  });
});

describe('openStore on MongoDB: databases', () => {
  let database: MongoDatabase;
  let client: MongoClient;
  beforeEach(async () => {
    database = await createBareMongoDatabase();
    client = await MongoClient.connect(database.url);
  });
  afterEach(async () => {
    await client.close();
    await database.remove();
  });

  it('refuses a database of another program, and leaves it unchanged', async () => {
    await client.db().collection('articles').insertOne({ title: 'a' });
    expect(await refused(database.url)).to.include('another program');
    expect((await client.db().listCollections().toArray()).map(({ name }) => name)).to.deep.equal(['articles']);
  });

  it('opens a database in which another process has begun to make the store', async () => {
    await client.db().createCollection('schema');
    await client.db().createCollection('devices');
    const opening = openStore(database.url);
    await delay(300);
    await client.db().collection<{ _id: string; version: number }>('schema').insertOne({ _id: 'version', version: 0 });
    await (await opening).close();
  });

  itLong('opens a database whose maker was killed before it had written the version', async () => {
    await client.db().createCollection('schema');
    await (await openStore(database.url)).close();
  });

  it('writes nothing to a read-only database', async () => {
    await (await openStore(database.url)).close();
    const store = await openStore(database.url, { readOnly: true });
    try {
      expect(await rejection(store.settings.set('a', 'b'))).to.include({ name: 'StoreError', applied: 'no' });
      expect(await store.settings.list()).to.deep.equal([]);
    } finally {
      await store.close();
    }
  });

  it('refuses a newer schema', async () => {
    await (await openStore(database.url)).close();
    await client
      .db()
      .collection<{ _id: string }>('schema')
      .updateOne({ _id: 'version' }, { $inc: { version: 1 } });
    expect(await refused(database.url))
      .to.include(`version ${SCHEMA_VERSION + 1}`)
      .and.to.include('newer');
  });

  it('completes an unfinished schema, even with concurrent openers', async () => {
    await (await openStore(database.url)).close();
    await client.db().dropCollection('entries');
    await client.db().collection('charges').dropIndexes();
    await client
      .db()
      .collection<{ _id: string }>('schema')
      .updateOne({ _id: 'version' }, { $set: { version: 0 } });
    for (const opening of [{ existing: true }, { readOnly: true }]) {
      expect(await refused(database.url, opening)).to.match(/^There is no Tollgate store in the database /);
    }
    const stores = await Promise.all([openStore(database.url), openStore(database.url), openStore(database.url)]);
    for (const store of stores) await store.close();
    const row = await client.db().collection<{ _id: string; version: number }>('schema').findOne({ _id: 'version' });
    expect(row?.version).to.equal(SCHEMA_VERSION);
    const indexes = async (name: string) => (await client.db().collection(name).indexes()).map((index) => index.name);
    expect(await indexes('entries')).to.have.members(['_id_', 'journal', 'charged_by_time', 'of_money', 'of_payments']);
    expect(await indexes('charges')).to.have.members(['_id_', 'of_wallet', 'held', 'exposed']);
  });
});
