// Media in the MongoDB store, laid out as GridFS has it, so that its tools read them. The driver's own bucket knows neither
// our deadlines nor our concerns: its streams hang for as long as a server is frozen.
import { randomBytes } from 'node:crypto';
import { Binary, type Document } from 'mongodb';
import type { ByteRange, MediaStore, NewMedia, StoredMedia } from '../ports/media.ts';
import { StoreError } from '../store.ts';
import { call, read, send } from './call.ts';
import { readNow } from './clock.ts';
import type { Connection } from './connection.ts';
import { isDuplicate } from './failure.ts';
import type { Row } from './rows.ts';

/** Sent within one attempt also where a link between members is slow. */
const CHUNK_BYTES = 512 * 1024;
const DURABLE = { writeConcern: { w: 'majority', j: true } };
/** A write says so often that it goes on. */
const TOUCH_EVERY_MS = 60_000;
/** One that has not for so long never will. */
const BROKEN_AFTER_MS = 3_600_000;
/** Given to a broken write before it is removed: it cannot go on then. */
const NEVER = new Date(0);

export function mediaStore({ db, client }: Connection): MediaStore {
  const files = db.collection<Row>('media.files');
  const chunks = db.collection<Row>('media.chunks');

  async function command(document: Document): Promise<Document> {
    return call({ repeatable: true }, (signal) => send(db, { ...document, ...DURABLE }, { signal }));
  }

  /** Changes a file that is not whole yet, and that no cleaner has taken for a broken one. */
  async function update(file: string, change: Document): Promise<void> {
    const q = { _id: file, 'metadata.whole': false, uploadDate: { $gt: NEVER } };
    const { n } = await command({ update: 'media.files', updates: [{ q, u: change }] });
    if (n !== 1 && !(await isWhole(file))) throw new StoreError('a media file was removed while it was written', 'no');
  }

  /** An attempt before has done it. */
  async function isWhole(file: string): Promise<boolean> {
    return (await read((signal) => files.findOne({ _id: file, 'metadata.whole': true }, { signal }))) !== null;
  }

  /** A repeat finds what an attempt before has inserted. */
  async function insert(collection: string, document: Document): Promise<void> {
    await call({ repeatable: true }, (signal) =>
      send(db, { insert: collection, documents: [document], ...DURABLE }, { signal }).catch((error) => {
        if (!isDuplicate(error)) throw error;
      }),
    );
  }

  async function write(media: NewMedia, source: AsyncIterable<Uint8Array>): Promise<StoredMedia> {
    if (await get(media.id)) throw new StoreError('there is such a media file already', 'no', undefined, 'batch');
    // Of its own: what a broken write of the same media has left is not in the way.
    const file = randomBytes(12).toString('hex');
    const { id: filename, ...metadata } = media;
    const head = { _id: file, length: 0, chunkSize: CHUNK_BYTES, filename, metadata: { ...metadata, whole: false } };
    await insert('media.files', { ...head, uploadDate: new Date(await readNow(client)) });
    try {
      const bytes = await writeChunks(file, source);
      await update(file, { $set: { length: bytes, 'metadata.whole': true }, $currentDate: { uploadDate: true } });
      return { ...media, bytes };
    } catch (error) {
      // A store that fails would not do this either: a cleaner will.
      if (!(error instanceof StoreError)) await remove(file).catch(() => undefined);
      throw error;
    }
  }

  async function writeChunks(file: string, source: AsyncIterable<Uint8Array>): Promise<number> {
    let [bytes, n, touchedAt] = [0, 0, performance.now()];
    for await (const data of inChunks(source)) {
      if (performance.now() - touchedAt > TOUCH_EVERY_MS) {
        await update(file, { $currentDate: { uploadDate: true } });
        touchedAt = performance.now();
      }
      await insert('media.chunks', { _id: `${file}-${n}`, files_id: file, n, data: new Binary(data) });
      bytes += data.length;
      n += 1;
    }
    return bytes;
  }

  async function find(id: string): Promise<Row | null> {
    return read((signal) => files.findOne({ filename: id, 'metadata.whole': true }, { signal }));
  }

  async function get(id: string): Promise<StoredMedia | undefined> {
    const row = await find(id);
    return row ? mediaOf(row) : undefined;
  }

  /** One by one: a cursor would stay open with whoever leaves. */
  async function* readChunks(id: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const file = await find(id);
    if (!file) throw gone();
    const [first, last] = [
      range?.first ?? 0,
      Math.min(range?.last ?? Number.POSITIVE_INFINITY, Number(file.length) - 1),
    ];
    for (let n = Math.floor(first / CHUNK_BYTES); n * CHUNK_BYTES <= last; n += 1) {
      const row = await read((signal) => chunks.findOne({ files_id: file._id, n }, { signal }));
      if (!row) throw gone();
      const begin = n * CHUNK_BYTES;
      yield (row.data as Binary).buffer.subarray(Math.max(0, first - begin), last + 1 - begin);
    }
  }

  /** The file last: until then it says what there is to remove. */
  async function remove(file: string): Promise<number> {
    await command({ delete: 'media.chunks', deletes: [{ q: { files_id: file }, limit: 0 }] });
    const { n } = await command({ delete: 'media.files', deletes: [{ q: { _id: file }, limit: 1 }] });
    return n as number;
  }

  async function clean(now: number, limit: number): Promise<number> {
    const list = (filter: Document, most: number) =>
      read((signal) =>
        files
          .find(filter, { signal, projection: { uploadDate: 1 } })
          .limit(most)
          .toArray(),
      );
    let removed = 0;
    const expired = { 'metadata.whole': true, 'metadata.expiresAt': { $lte: now } };
    for (const { _id } of await list(expired, limit)) removed += await remove(_id);
    const since = new Date((await readNow(client)) - BROKEN_AFTER_MS);
    const broken = { 'metadata.whole': false, uploadDate: { $lt: since } };
    for (const { _id, uploadDate } of removed < limit ? await list(broken, limit - removed) : []) {
      const q = { _id, 'metadata.whole': false, uploadDate };
      const { n } = await command({ update: 'media.files', updates: [{ q, u: { $set: { uploadDate: NEVER } } }] });
      if (n === 1) removed += await remove(_id);
    }
    return removed;
  }

  async function page({ after = '', limit }: Parameters<MediaStore['page']>[0]): Promise<readonly StoredMedia[]> {
    const filter = { 'metadata.whole': true, filename: { $gt: after } };
    const rows = await read((signal) => files.find(filter, { signal }).sort({ filename: 1 }).limit(limit).toArray());
    return rows.map(mediaOf);
  }

  return { write, get, read: readChunks, clean, page };
}

/** Pieces of one length but the last. Each has memory of its own: an attempt that is given up may still send it. */
async function* inChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let filled = 0;
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(part, filled);
      at += part.length;
      filled += part.length;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      [chunk, filled] = [Buffer.allocUnsafeSlow(CHUNK_BYTES), 0];
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

function mediaOf({ filename, length, metadata }: Document): StoredMedia {
  const { account, kind, mediaType, createdAt, expiresAt } = metadata;
  return {
    ...{ id: filename, account, kind, mediaType, bytes: Number(length) },
    ...{ createdAt: Number(createdAt), expiresAt: Number(expiresAt) },
  };
}

function gone(): StoreError {
  return new StoreError('there is no such media file', 'no', undefined, 'batch');
}
