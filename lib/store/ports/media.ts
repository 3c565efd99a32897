// The port of stored media: pictures and videos that were made, kept until they expire.

/** One stored file. */
export interface StoredMedia {
  /** Unguessable: whoever knows it may read the file. */
  readonly id: string;
  readonly account: string;
  readonly kind: 'image' | 'video';
  /** By its bytes: `image/png`, `video/mp4`. */
  readonly mediaType: string;
  readonly bytes: number;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** From then on it is not found, and the cleaner may remove it. */
  readonly expiresAt: number;
}

export type NewMedia = Omit<StoredMedia, 'bytes'>;

/** Bytes of a file, both ends included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface MediaStore {
  /**
   * Writes a file as its chunks come, never whole in memory; resolves when all of it is durable, and only then `get` finds
   * it. Rejects with what the chunks throw, or with a `StoreError`; then nothing is found, and what was written is removed
   * by the cleaner at the latest.
   */
  write(media: NewMedia, chunks: AsyncIterable<Uint8Array>): Promise<StoredMedia>;
  /** Expired or not, while it is there. */
  get(id: string): Promise<StoredMedia | undefined>;
  /**
   * The bytes of a file or a part of it, as they are read; throws a `StoreError` that blames the batch when it is gone
   * meanwhile. Whoever has begun reads to the end or calls `return`, as `for await` does: a file is open until then.
   */
  read(id: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** Removes files that expired before `now`, and what broken writes have left; resolves to how many. Safe at once in many processes. */
  clean(now: number, limit: number): Promise<number>;
  /** All files with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly StoredMedia[]>;
}
