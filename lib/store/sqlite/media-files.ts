// The folder of media files: each written under another name, made durable, and only then given its own.
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SECRET_DIGITS } from '../../base62.ts';
import { synced } from '../disk.ts';
import type { ByteRange } from '../ports/media.ts';
import { StoreError } from '../store.ts';

export interface MediaFiles {
  /**
   * Writes the file of an id as its chunks come; resolves to its size once it is durable. Rejects with what the chunks
   * throw, or with a `StoreError`; then it has removed what it wrote.
   */
  write(file: NewFile, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** Throws a `StoreError` that blames the batch when the file is not there or ends too soon. */
  read(id: string, range: ByteRange): AsyncGenerator<Uint8Array>;
  /** Whether it was there. */
  remove(id: string): Promise<boolean>;
  /** Files that have expired by their own time, and broken writes, in the folders whose turn it is. */
  findOld(now: number): Promise<readonly OldFile[]>;
}

export interface NewFile {
  readonly id: string;
  /** Becomes the file's time of change: another store that shares the folder by mistake sees that it is in use. */
  readonly expiresAt: number;
}

export interface OldFile {
  /** Its place in the folder, for `drop`. */
  readonly path: string;
  /** Whose it is, or was going to be. */
  readonly id: string;
  /** It has not got its own name. */
  readonly unfinished: boolean;
}

/** The first characters of an id name its folder. */
const PREFIX_DIGITS = 2;
const READ_BYTES = 256 * 1024;
/** Of the 3844 that there may be; every look takes the next ones. */
const FOLDERS_PER_LOOK = 64;
/** A write that has stalled this long never ends: a fetch ends sooner. */
const BROKEN_AFTER_MS = 3_600_000;
const NAME = new RegExp(`^([0-9A-Za-z]{${SECRET_DIGITS}})(\\.[0-9a-f]{8}\\.part)?$`);

export function openMediaFiles(root: string): MediaFiles {
  /** Where the next look begins; every process begins somewhere else. */
  let nextFolder = Math.floor(Math.random() * 62 ** PREFIX_DIGITS);
  const folderOf = (id: string) => join(root, id.slice(0, PREFIX_DIGITS));
  const pathOf = (id: string) => join(folderOf(id), id);

  async function write({ id, expiresAt }: NewFile, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const path = `${pathOf(id)}.${randomBytes(4).toString('hex')}.part`;
    try {
      const handle = await onDisk(async () => {
        await makeFolder(folderOf(id));
        return open(path, 'wx', 0o600);
      });
      const bytes = await fill(handle, chunks, expiresAt).finally(() => handle.close());
      await onDisk(async () => {
        await rename(path, pathOf(id));
        await synced(folderOf(id));
      });
      return bytes;
    } catch (error) {
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async function* read(id: string, { first, last }: ByteRange): AsyncGenerator<Uint8Array> {
    const handle = await onDisk(() => open(pathOf(id), 'r'));
    try {
      for (let at = first; at <= last; ) {
        const bytes = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, last + 1 - at));
        const { bytesRead } = await onDisk(() => handle.read(bytes, 0, bytes.length, at));
        if (bytesRead === 0) throw new StoreError('a media file is shorter than it was', 'no', undefined, 'batch');
        yield bytes.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }

  async function findOld(now: number): Promise<readonly OldFile[]> {
    const folders = (await list(root)).filter((name) => name.length === PREFIX_DIGITS).sort();
    const found: OldFile[] = [];
    for (let looked = 0; looked < Math.min(FOLDERS_PER_LOOK, folders.length); looked += 1) {
      const folder = join(root, folders[nextFolder % folders.length] as string);
      nextFolder += 1;
      for (const name of await list(folder)) {
        const [, id, part] = NAME.exec(name) ?? [];
        if (id === undefined) continue;
        const file = { path: join(folder, name), id, unfinished: part !== undefined };
        if (await isOver(file, now)) found.push(file);
      }
    }
    return found;
  }

  return { write, read, remove: (id) => drop(pathOf(id)), findOld };
}

/** Whether it was there: of several processes at once one is told so. */
export async function drop(path: string): Promise<boolean> {
  try {
    await onDisk(() => rm(path));
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function fill(handle: FileHandle, chunks: AsyncIterable<Uint8Array>, expiresAt: number): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) {
    // Continues where the last one ended, until all of it is written.
    await onDisk(() => handle.writeFile(chunk));
    bytes += chunk.length;
  }
  await onDisk(async () => {
    await handle.utimes(expiresAt / 1000, expiresAt / 1000);
    await handle.sync();
  });
  return bytes;
}

/** With what is above it, each durable in its own folder. */
async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  for (let at = folder; at.length >= made.length; at = dirname(at)) await synced(dirname(at));
}

async function list(folder: string): Promise<readonly string[]> {
  try {
    return await onDisk(() => readdir(folder));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** A write is judged by the clock of the disk's machine, which is this one: every chunk renews its time. */
async function isOver({ path, unfinished }: OldFile, now: number): Promise<boolean> {
  const { mtimeMs } = (await stat(path).catch(() => undefined)) ?? { mtimeMs: Number.POSITIVE_INFINITY };
  return unfinished ? Date.now() - mtimeMs > BROKEN_AFTER_MS : mtimeMs <= now;
}

async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    // Without the error itself, which names the file: whoever reads the log could read that too.
    throw new StoreError(`a media file: ${code}`, 'no', undefined, code === 'ENOENT' ? 'batch' : 'store');
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof StoreError && error.blames === 'batch';
}
