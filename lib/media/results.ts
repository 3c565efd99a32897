// Results that upstreams made: kept, linked and found again.
import type { MediaSource } from '../plugin/contract.ts';
import type { StoredMedia } from '../store/ports/media.ts';
import type { ByteBudget, Image } from './image.ts';

export interface KeepRequest {
  readonly kind: 'image' | 'video';
  /** Whose it is. */
  readonly account: string;
  /** Scheme, host and port of the upstream's `baseUrl`, which results may be fetched from; absent when it has none. */
  readonly upstreamOrigin: string | undefined;
  readonly signal: AbortSignal;
}

export interface OwnImageRequest {
  /** The request field that faults name. */
  readonly field: string;
  readonly budget?: ByteBudget;
}

export interface Results {
  /**
   * Stores a result. Throws faults of the upstream for what cannot be fetched or is not what it should be by its bytes,
   * the reason of the signal, and a 503 fault when the store does not take it.
   */
  keep(source: MediaSource, request: KeepRequest): Promise<StoredMedia>;
  /** Under `PUBLIC_URL`. */
  linkOf(media: Pick<StoredMedia, 'id' | 'mediaType'>): string;
  /** The id in one of our own links, whether or not there is such a file; undefined for every other URL. */
  idOf(url: string): string | undefined;
  /** A stored picture that has not expired. Throws 400 faults for an id that is none, and a 503 when there is no room. */
  readImage(id: string, request: OwnImageRequest): Promise<Image>;
}
