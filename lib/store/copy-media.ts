// Copies the media files that have not expired from one store to another.
import { isDeepStrictEqual } from 'node:util';
import { mismatchError } from './copy-mismatch.ts';
import type { MediaStore, StoredMedia } from './ports/media.ts';
import { StoreError } from './store.ts';
import { walkRows } from './walks.ts';

const FILES_PER_PAGE = 200;

/** Resolves to the number of files, including those that an earlier copy has written. */
export async function copyMedia(from: MediaStore, to: MediaStore): Promise<number> {
  let copied = 0;
  for await (const media of walkRows(FILES_PER_PAGE, from.page, ({ id }) => id)) {
    if (media.expiresAt > Date.now() && (await copyFile(from, to, media))) copied += 1;
  }
  return copied;
}

/** False if the file is missing: it expired in the meantime, or was lost before. */
async function copyFile(from: MediaStore, to: MediaStore, media: StoredMedia): Promise<boolean> {
  const { bytes: _, ...head } = media;
  const source = watchReads(from.read(media.id));
  try {
    const copy = (await to.get(media.id)) ?? (await to.write(head, source.chunks));
    if (isDeepStrictEqual(copy, media)) return true;
  } catch (error) {
    if (source.isLost(error)) return false;
    throw error;
  }
  throw mismatchError(`a media file of ${media.account}`);
}

/** Passes the chunks on and remembers whether reading them failed. */
function watchReads(chunks: AsyncIterable<Uint8Array>) {
  let failure: unknown;
  async function* watch() {
    try {
      yield* chunks;
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  const isLost = (error: unknown) => error === failure && error instanceof StoreError && error.blames === 'batch';
  return { chunks: watch(), isLost };
}
