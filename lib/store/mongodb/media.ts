// Media in the MongoDB store, in the layout of GridFS, so that its tools can read them. The GridFS bucket of the driver
// supports neither deadlines nor our write concern: its streams hang for as long as a server is frozen.
import { randomBytes } from 'node:crypto';
import { Binary, type Collection, type Document } from 'mongodb';
import { HOUR_MS } from '../../base/durations.ts';
import {
  type ByteRange,
  type LatestMedia,
  type MediaStore,
  NEWEST_MEDIA_MAX,
  type NewMedia,
  type StoredMedia,
} from '../ports/media.ts';
import { StoreError } from '../store.ts';
import { call, read, SCAN_MS, send } from './call.ts';
import { readNow } from './clock.ts';
import type { Connection } from './connection.ts';
import { isDuplicate } from './failure.ts';
import type { Row } from './rows.ts';

/** Small enough to be sent within one attempt, even over a slow link between members. */
const CHUNK_BYTES = 512 * 1024;
const DURABLE = { writeConcern: { w: 'majority', j: true } };
/** How often a write reports that it is alive. */
const TOUCH_EVERY_MS = 60_000;
/** A write silent for this long is dead. */
const BROKEN_AFTER_MS = HOUR_MS;
/** Marks a broken write before it is removed, so that it cannot continue. */
const NEVER = new Date(0);

export function mediaStore({ db, client }: Connection): MediaStore {
  const files = db.collection<Row>('media.files');
  const chunks = db.collection<Row>('media.chunks');

  async function runDurable(document: Document): Promise<Document> {
    return call({ repeatable: true }, (signal) => send(db, { ...document, ...DURABLE }, { signal }));
  }

  /** Changes an incomplete file, unless a cleaner has marked it as broken. */
  async function updateFile(file: string, change: Document): Promise<void> {
    const q = { _id: file, 'metadata.whole': false, uploadDate: { $gt: NEVER } };
    const { n } = await runDurable({ update: 'media.files', updates: [{ q, u: change }] });
    if (n !== 1 && !(await isWhole(file))) throw new StoreError('a media file was removed while it was written', 'no');
  }

  /** Whether an earlier attempt has completed the file. */
  async function isWhole(file: string): Promise<boolean> {
    return (await read((signal) => files.findOne({ _id: file, 'metadata.whole': true }, { signal }))) !== null;
  }

  /** Ignores a duplicate, which an earlier attempt has inserted. */
  async function insertOnce(collection: string, document: Document): Promise<void> {
    await call({ repeatable: true }, (signal) =>
      send(db, { insert: collection, documents: [document], ...DURABLE }, { signal }).catch((error) => {
        if (!isDuplicate(error)) throw error;
      }),
    );
  }

  async function write(media: NewMedia, source: AsyncIterable<Uint8Array>): Promise<StoredMedia> {
    if (await get(media.id)) throw new StoreError('the media file already exists', 'no', undefined, 'batch');
    // A new id, so that leftovers of a broken write of the same media do not collide.
    const file = randomBytes(12).toString('hex');
    const { id: filename, ...metadata } = media;
    const head = { _id: file, length: 0, chunkSize: CHUNK_BYTES, filename, metadata: { ...metadata, whole: false } };
    await insertOnce('media.files', { ...head, uploadDate: new Date(await readNow(client)) });
    try {
      const bytes = await writeChunks(file, source);
      await updateFile(file, { $set: { length: bytes, 'metadata.whole': true }, $currentDate: { uploadDate: true } });
      return { ...media, bytes };
    } catch (error) {
      // If the store fails, removing would fail, too: the cleaner will do it.
      if (!(error instanceof StoreError)) await remove(file).catch(() => undefined);
      throw error;
    }
  }

  async function writeChunks(file: string, source: AsyncIterable<Uint8Array>): Promise<number> {
    let bytes = 0;
    let n = 0;
    let touchedAt = performance.now();
    for await (const data of splitChunks(source)) {
      if (performance.now() - touchedAt > TOUCH_EVERY_MS) {
        await updateFile(file, { $currentDate: { uploadDate: true } });
        touchedAt = performance.now();
      }
      await insertOnce('media.chunks', { _id: `${file}-${n}`, files_id: file, n, data: new Binary(data) });
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
    return row ? readMediaDocument(row) : undefined;
  }

  /** Reads one chunk at a time: a cursor would stay open if the caller stopped reading. */
  async function* readChunks(id: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const file = await find(id);
    if (!file) throw missingFileError();
    const first = range?.first ?? 0;
    const last = Math.min(range?.last ?? Number.POSITIVE_INFINITY, Number(file.length) - 1);
    for (let n = Math.floor(first / CHUNK_BYTES); n * CHUNK_BYTES <= last; n += 1) {
      const row = await read((signal) => chunks.findOne({ files_id: file._id, n }, { signal }));
      if (!row) throw missingFileError();
      const begin = n * CHUNK_BYTES;
      yield (row.data as Binary).buffer.subarray(Math.max(0, first - begin), last + 1 - begin);
    }
  }

  /** Deletes the file row last: until then it lists the chunks to remove. */
  async function remove(file: string): Promise<number> {
    await runDurable({ delete: 'media.chunks', deletes: [{ q: { files_id: file }, limit: 0 }] });
    const { n } = await runDurable({ delete: 'media.files', deletes: [{ q: { _id: file }, limit: 1 }] });
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
      const { n } = await runDurable({ update: 'media.files', updates: [{ q, u: { $set: { uploadDate: NEVER } } }] });
      if (n === 1) removed += await remove(_id);
    }
    return removed;
  }

  async function page({ after = '', limit }: Parameters<MediaStore['page']>[0]): Promise<readonly StoredMedia[]> {
    const filter = { 'metadata.whole': true, filename: { $gt: after } };
    const rows = await read((signal) => files.find(filter, { signal }).sort({ filename: 1 }).limit(limit).toArray());
    return rows.map(readMediaDocument);
  }

  return { write, get, read: readChunks, clean, page, latest: (account, wanted) => readLatest(files, account, wanted) };
}

async function readLatest(
  files: Collection<Row>,
  account: string,
  { now, from, limit }: LatestMedia,
): Promise<readonly StoredMedia[]> {
  const pipeline = [
    { $match: { 'metadata.whole': true, 'metadata.expiresAt': { $gt: now } } },
    { $sort: { 'metadata.expiresAt': -1 } },
    { $limit: NEWEST_MEDIA_MAX },
    { $match: { 'metadata.account': account, 'metadata.createdAt': { $gte: from } } },
    { $limit: limit },
  ];
  const rows = await read((signal) => files.aggregate(pipeline, { signal }).toArray(), SCAN_MS);
  return rows.map(readMediaDocument);
}

/** Chunks of equal length, except the last. Each has its own memory, because an abandoned attempt may still send it. */
async function* splitChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
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
      chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

function readMediaDocument({ filename, length, metadata }: Document): StoredMedia {
  const { account, kind, mediaType, createdAt, expiresAt } = metadata;
  return {
    id: filename,
    account,
    kind,
    mediaType,
    bytes: Number(length),
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
  };
}

function missingFileError(): StoreError {
  return new StoreError('the media file does not exist', 'no', undefined, 'batch');
}
