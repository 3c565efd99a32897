// The folder of media files: each file is written under a temporary name, synced, and then renamed.
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SECRET_DIGITS } from '../../base/base62.ts';
import { HOUR_MS } from '../../base/durations.ts';
import { makeFolder, syncToDisk } from '../disk.ts';
import type { ByteRange } from '../ports/media.ts';
import { StoreError } from '../store.ts';

export interface MediaFiles {
  /**
   * Writes the file of an id chunk by chunk; resolves to its size once it is durable. Rejects with the error of the chunks,
   * or with a `StoreError`, after removing the partial file.
   */
  write(file: NewFile, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** Throws a `StoreError` that blames the batch if the file is missing or too short. */
  read(id: string, range: ByteRange): AsyncGenerator<Uint8Array>;
  /** Resolves to whether the file existed. */
  remove(id: string): Promise<boolean>;
  /** Expired files and broken writes in the next few folders. */
  findOld(now: number): Promise<readonly OldFile[]>;
}

interface NewFile {
  readonly id: string;
  /** Becomes the mtime of the file, so that another store that shares the folder by mistake sees that it is in use. */
  readonly expiresAt: number;
}

export interface OldFile {
  /** The full path, for `deleteMediaFile`. */
  readonly path: string;
  /** The id of the file, also if it is unfinished. */
  readonly id: string;
  /** Whether it still has its temporary name. */
  readonly unfinished: boolean;
}

/** The first characters of an id name its folder. */
const PREFIX_DIGITS = 2;
const READ_BYTES = 256 * 1024;
/** Of up to 3844 folders; every scan takes the next ones. */
const FOLDERS_PER_SCAN = 64;
/** A write that has stalled this long is dead: a fetch ends sooner. */
const BROKEN_AFTER_MS = HOUR_MS;
const NAME = new RegExp(`^([0-9A-Za-z]{${SECRET_DIGITS}})(\\.[0-9a-f]{8}\\.part)?$`);

export function openMediaFiles(root: string): MediaFiles {
  /** Where the next scan starts; random, so that processes scan different folders. */
  let nextFolder = Math.floor(Math.random() * 62 ** PREFIX_DIGITS);
  const getFolder = (id: string) => join(root, id.slice(0, PREFIX_DIGITS));
  const getPath = (id: string) => join(getFolder(id), id);

  async function write({ id, expiresAt }: NewFile, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const path = `${getPath(id)}.${randomBytes(4).toString('hex')}.part`;
    try {
      const handle = await withDiskErrors(async () => {
        await makeFolder(getFolder(id));
        return open(path, 'wx', 0o600);
      });
      const bytes = await writeContent(handle, chunks, expiresAt).finally(() => handle.close());
      await withDiskErrors(async () => {
        await rename(path, getPath(id));
        await syncToDisk(getFolder(id));
      });
      return bytes;
    } catch (error) {
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async function* read(id: string, { first, last }: ByteRange): AsyncGenerator<Uint8Array> {
    const handle = await withDiskErrors(() => open(getPath(id), 'r'));
    try {
      for (let at = first; at <= last; ) {
        const bytes = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, last + 1 - at));
        const { bytesRead } = await withDiskErrors(() => handle.read(bytes, 0, bytes.length, at));
        if (bytesRead === 0) throw new StoreError('a media file is shorter than it was', 'no', undefined, 'batch');
        yield bytes.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }

  async function findOld(now: number): Promise<readonly OldFile[]> {
    const folders = (await listFolder(root)).filter((name) => name.length === PREFIX_DIGITS).sort();
    const found: OldFile[] = [];
    for (let scanned = 0; scanned < Math.min(FOLDERS_PER_SCAN, folders.length); scanned += 1) {
      const folder = join(root, folders[nextFolder % folders.length] as string);
      nextFolder += 1;
      for (const name of await listFolder(folder)) {
        const [, id, part] = NAME.exec(name) ?? [];
        if (id === undefined) continue;
        const file = { path: join(folder, name), id, unfinished: part !== undefined };
        if (await isRemovable(file, now)) found.push(file);
      }
    }
    return found;
  }

  return { write, read, remove: (id) => deleteMediaFile(getPath(id)), findOld };
}

/** Resolves to whether the file existed; of several concurrent processes, only one gets true. */
export async function deleteMediaFile(path: string): Promise<boolean> {
  try {
    await withDiskErrors(() => rm(path));
    return true;
  } catch (error) {
    if (isMissingError(error)) return false;
    throw error;
  }
}

async function writeContent(handle: FileHandle, chunks: AsyncIterable<Uint8Array>, expiresAt: number): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) {
    // Unlike `write`, `writeFile` writes the whole chunk.
    await withDiskErrors(() => handle.writeFile(chunk));
    bytes += chunk.length;
  }
  await withDiskErrors(async () => {
    await handle.utimes(expiresAt / 1000, expiresAt / 1000);
    await handle.sync();
  });
  return bytes;
}

async function listFolder(folder: string): Promise<readonly string[]> {
  try {
    return await withDiskErrors(() => readdir(folder));
  } catch (error) {
    if (isMissingError(error)) return [];
    throw error;
  }
}

/** Every chunk renews the mtime of an unfinished file, which comes from the clock of this machine. */
async function isRemovable({ path, unfinished }: OldFile, now: number): Promise<boolean> {
  const { mtimeMs } = (await stat(path).catch(() => undefined)) ?? { mtimeMs: Number.POSITIVE_INFINITY };
  return unfinished ? Date.now() - mtimeMs > BROKEN_AFTER_MS : mtimeMs <= now;
}

async function withDiskErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    // Without the original error, which contains the file name: a reader of the log could then download the file.
    throw new StoreError(`a media file: ${code}`, 'no', undefined, code === 'ENOENT' ? 'batch' : 'store');
  }
}

function isMissingError(error: unknown): boolean {
  return error instanceof StoreError && error.blames === 'batch';
}
