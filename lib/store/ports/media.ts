// The port of stored media: generated images and videos, kept until they expire.

/** One stored file. */
export interface StoredMedia {
  /** Unguessable: anyone who knows it may read the file. */
  readonly id: string;
  readonly account: string;
  readonly kind: 'image' | 'video';
  /** Detected from the bytes, such as `image/png` or `video/mp4`. */
  readonly mediaType: string;
  readonly bytes: number;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** From then on the file is not found, and the cleaner may remove it. */
  readonly expiresAt: number;
}

export type NewMedia = Omit<StoredMedia, 'bytes'>;

/** A range of bytes, inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** How many of the newest files of a store are searched for those of an account. */
export const NEWEST_MEDIA_MAX = 10_000;

export interface LatestMedia {
  /** ms since the epoch: what has expired by then is left out. */
  readonly now: number;
  /** Only those that were made since. */
  readonly from: number;
  readonly limit: number;
}

export interface MediaStore {
  /**
   * Writes a file chunk by chunk, never whole in memory. Resolves when the file is durable; only then does `get` find it.
   * Rejects with the error of the chunks, or with a `StoreError`; then the file is not found, and the cleaner eventually
   * removes the written part.
   */
  write(media: NewMedia, chunks: AsyncIterable<Uint8Array>): Promise<StoredMedia>;
  /** Finds a file until it is removed, even if it has expired. */
  get(id: string): Promise<StoredMedia | undefined>;
  /**
   * Reads the bytes of a file or a part of it; throws a `StoreError` that blames the batch if the file is removed in the
   * meantime. A caller must read to the end or call `return`, as `for await` does: the file stays open until then.
   */
  read(id: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  /**
   * Removes files that expired before `now` and leftovers of broken writes; resolves to how many. Safe to run concurrently.
   */
  clean(now: number, limit: number): Promise<number>;
  /** Files of an account among the `NEWEST_MEDIA_MAX` of the store that expire last, in this order. */
  latest(account: string, wanted: LatestMedia): Promise<readonly StoredMedia[]>;
  /** All files with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly StoredMedia[]>;
}
