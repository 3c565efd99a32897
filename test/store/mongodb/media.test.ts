// Media in MongoDB: readable by GridFS tools, and the remains of broken writes.
import { expect } from 'chai';
import { Db, type Document, GridFSBucket, MongoClient } from 'mongodb';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import { openStore } from '../../../lib/store/open.ts';
import { type Store, StoreError } from '../../../lib/store/store.ts';
import { makeGate } from '../../../testkit/faulty-store.ts';
import { createMongoDatabase, type MongoDatabase } from '../../../testkit/mongod.ts';
import { rejection } from '../../contract/store/context.ts';
import { bytesOf, newMedia, piecesOf } from '../../contract/store/media.ts';
import { PNG } from '../../media/sample-images.ts';

describe('MongoDB: media', () => {
  let database: MongoDatabase;
  let client: MongoClient;
  let store: Store;
  before(async () => {
    database = await createMongoDatabase();
    store = await openStore(database.url);
    client = await MongoClient.connect(database.url);
  });
  after(async () => {
    await client.close();
    await store.close();
    await database.remove();
  });
  afterEach(async () => {
    await Promise.all([files().deleteMany({}), chunks().deleteMany({})]);
  });

  const files = () => client.db().collection<{ _id: string } & Document>('media.files');
  const chunks = () => client.db().collection('media.chunks');
  const counts = async () => [await files().countDocuments(), await chunks().countDocuments()];

  /** Starts to write, and continues when the gate opens. */
  async function begin() {
    const begun = makeGate();
    const gate = makeGate();
    async function* source() {
      yield Buffer.alloc(1_200_000, 7);
      begun.open();
      await gate.opened;
      yield Buffer.alloc(100, 8);
    }
    const media = newMedia({ expiresAt: Date.now() + HOUR_MS });
    const written = store.media.write(media, source());
    await begun.opened;
    const [file] = await files().find({ filename: media.id }).toArray();
    return { media, written, gate, file: file as Document & { _id: string } };
  }
  const age = (file: { _id: string }, ms: number) =>
    files().updateOne({ _id: file._id }, { $set: { uploadDate: new Date(Date.now() - ms) } });

  it('can be read by any GridFS tool', async () => {
    const bytes = Buffer.concat([PNG, Buffer.alloc(1_200_000, 7)]);
    const { id } = await store.media.write(newMedia(), piecesOf(bytes));
    const bucket = new GridFSBucket(client.db(), { bucketName: 'media' });
    const read = Buffer.concat(await bucket.openDownloadStreamByName(id).toArray());
    expect(read.equals(bytes)).to.equal(true);
  });

  it('are removed with their chunks an hour after an abandoned write', async () => {
    const { file, written, gate } = await begin();
    await age(file, HOUR_MS - 60_000);
    expect(await store.media.clean(Date.now() + 1000 * HOUR_MS, 10)).to.equal(0);
    expect(await counts()).to.deep.equal([1, 2]);
    await age(file, HOUR_MS + 60_000);
    expect(await store.media.clean(Date.now(), 10)).to.equal(1);
    expect(await counts()).to.deep.equal([0, 0]);
    gate.open();
    const error = await rejection(written);
    expect(error)
      .to.be.instanceOf(StoreError)
      .with.property('message', 'a media file was removed while it was written');
  });

  it('stay during a write that takes hours', async () => {
    const { now } = performance;
    const media = newMedia({ expiresAt: Date.now() + HOUR_MS });
    let removed: number | undefined;
    async function* slow() {
      yield Buffer.alloc(600_000, 7);
      const [file] = await files().find({ filename: media.id }).toArray();
      await age(file as { _id: string }, 2 * HOUR_MS);
      performance.now = () => now.call(performance) + 120_000;
      yield Buffer.alloc(600_000, 8);
      removed = await store.media.clean(Date.now(), 10);
    }
    await store.media.write(media, slow()).finally(() => {
      performance.now = now;
    });
    expect(removed).to.equal(0);
    expect((await store.media.get(media.id))?.bytes).to.equal(1_200_000);
  });

  it('of broken writes are removed after expired ones', async () => {
    const { file, written, gate } = await begin();
    await age(file, HOUR_MS + 60_000);
    const { id } = await store.media.write(newMedia({ expiresAt: Date.now() - 1 }), piecesOf(PNG));
    expect(await store.media.clean(Date.now(), 1)).to.equal(1);
    expect(await store.media.get(id)).to.equal(undefined);
    expect(await counts()).to.deep.equal([1, 2]);
    expect(await store.media.clean(Date.now(), 1)).to.equal(1);
    expect(await counts()).to.deep.equal([0, 0]);
    gate.open();
    await rejection(written);
  });

  it('continue if their writer reports just before a cleanup', async () => {
    const { media, file, written, gate } = await begin();
    await age(file, HOUR_MS + 60_000);
    const { command } = Db.prototype;
    Db.prototype.command = async function (this: Db, ...args) {
      if ((args[0] as Document).update === 'media.files') {
        Db.prototype.command = command;
        await age(file, 0);
      }
      return command.apply(this, args);
    };
    const removed = await store.media.clean(Date.now(), 10).finally(() => {
      Db.prototype.command = command;
    });
    gate.open();
    await written;
    expect(removed).to.equal(0);
    expect((await store.media.get(media.id))?.bytes).to.equal(1_200_100);
  });

  it('cannot continue once a cleanup has started with them', async () => {
    const { media, file, written, gate } = await begin();
    await files().updateOne({ _id: file._id }, { $set: { uploadDate: new Date(0) } });
    gate.open();
    expect(await rejection(written)).to.be.instanceOf(StoreError);
    expect(await store.media.get(media.id)).to.equal(undefined);
    expect(await store.media.clean(Date.now(), 10)).to.equal(1);
    expect(await counts()).to.deep.equal([0, 0]);
  });

  it('of a killed cleanup are removed by the next', async () => {
    const { id } = await store.media.write(newMedia({ expiresAt: Date.now() - 1 }), piecesOf(PNG));
    await chunks().deleteMany({});
    expect(await rejection(bytesOf(store, id)))
      .to.be.instanceOf(StoreError)
      .with.property('blames', 'batch');
    expect(await store.media.clean(Date.now(), 10)).to.equal(1);
    expect(await counts()).to.deep.equal([0, 0]);
  });

  it('of a broken write do not block another write', async () => {
    const { media, written, gate } = await begin();
    const again = await store.media.write(media, piecesOf(PNG));
    gate.open();
    expect(await rejection(written))
      .to.be.instanceOf(StoreError)
      .with.property('blames', 'batch');
    expect(await store.media.get(media.id)).to.deep.equal(again);
    expect((await bytesOf(store, media.id)).equals(PNG)).to.equal(true);
  });

  it('leave nothing if their source fails', async () => {
    async function* breaking() {
      yield Buffer.alloc(1_200_000, 7);
      throw new Error('it broke off');
    }
    await rejection(store.media.write(newMedia(), breaking()));
    expect(await counts()).to.deep.equal([0, 0]);
  });

  it('are found by indexes', async () => {
    const queries = [
      files().find({ filename: 'x', 'metadata.whole': true }),
      files().find({ 'metadata.whole': true, 'metadata.expiresAt': { $lte: 5 } }),
      files().find({ 'metadata.whole': false, uploadDate: { $lt: new Date() } }),
      chunks().find({ files_id: 'x', n: 0 }),
    ];
    for (const query of queries) {
      const plan = JSON.stringify((await query.explain('queryPlanner')).queryPlanner.winningPlan);
      expect(plan).to.contain('IXSCAN').and.not.to.contain('COLLSCAN');
    }
  });
});
