// Media of the SQLite store: files in a folder, and a row for each complete file.
import assert from 'node:assert/strict';
import { isBase62, SECRET_DIGITS } from '../../base/base62.ts';
import type { MediaStore, NewMedia, StoredMedia } from '../ports/media.ts';
import { StoreError } from '../store.ts';
import { deleteMediaFile, type MediaFiles, type OldFile } from './media-files.ts';
import type { MediaRows } from './thread-ports.ts';

export function mediaStore(rows: MediaRows, files: MediaFiles): MediaStore {
  async function write(media: NewMedia, chunks: AsyncIterable<Uint8Array>): Promise<StoredMedia> {
    // The id becomes a file name.
    assert(media.id.length === SECRET_DIGITS && isBase62(media.id));
    if (await rows.get(media.id)) throw alreadyExistsError();
    const stored = { ...media, bytes: await files.write(media, chunks) };
    try {
      await rows.add(stored);
      return stored;
    } catch (error) {
      // Removes the file only if it is certainly ours and has no row.
      const isOurs = error instanceof StoreError && error.applied === 'no' && error.blames === 'store';
      if (isOurs) await files.remove(media.id).catch(() => undefined);
      throw error;
    }
  }

  async function* read(id: string, range?: { readonly first: number; readonly last: number }) {
    const media = await rows.get(id);
    if (!media) throw new StoreError('the media file does not exist', 'no', undefined, 'batch');
    const last = media.bytes - 1;
    yield* files.read(id, range ? { first: range.first, last: Math.min(range.last, last) } : { first: 0, last });
  }

  async function clean(now: number, limit: number): Promise<number> {
    const expired = await rows.expired(now, limit);
    const { failures } = await removeEach(expired, files.remove);
    // The row is deleted last: until then it lists the file to remove. One that cannot be removed is tried again with the
    // lost ones, so that it holds up no others.
    const dropped = expired.length > 0 ? await rows.drop(expired) : 0;
    const lost = await deleteLostFiles(now, limit - dropped);
    const [failure] = [...failures, ...lost.failures];
    if (failure !== undefined) throw failure;
    return dropped + lost.removed;
  }

  /** Files of broken writes, and of removed rows. */
  async function deleteLostFiles(now: number, limit: number): Promise<Removal> {
    if (limit <= 0) return { removed: 0, failures: [] };
    const old = await files.findOld(now);
    const whole = old.filter(({ unfinished }) => !unfinished).map(({ id }) => id);
    const known = new Set(whole.length > 0 ? await rows.known(whole) : []);
    const isLost = ({ id, unfinished }: OldFile) => unfinished || !known.has(id);
    const paths = old.filter(isLost).map(({ path }) => path);
    return removeEach(paths, deleteMediaFile, limit);
  }

  return { write, get: rows.get, read, clean, latest: rows.latest, page: rows.page };
}

interface Removal {
  readonly removed: number;
  /** Of files that stay. */
  readonly failures: readonly unknown[];
}

/** Goes on after a failure, until `limit` files are removed. */
async function removeEach(
  names: readonly string[],
  remove: (name: string) => Promise<boolean>,
  limit = names.length,
): Promise<Removal> {
  let removed = 0;
  const failures: unknown[] = [];
  for (const name of names) {
    if (removed >= limit) break;
    try {
      if (await remove(name)) removed += 1;
    } catch (error) {
      failures.push(error);
    }
  }
  return { removed, failures };
}

function alreadyExistsError(): StoreError {
  return new StoreError('the media file already exists', 'no', undefined, 'batch');
}
