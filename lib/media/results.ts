// Stores the results of upstreams, links to them and reads them again.
import { makeSecret, SECRET_DIGITS } from '../base/base62.ts';
import { fault } from '../base/faults.ts';
import { findExtension, sniffImage, sniffWhole } from '../base/sniff.ts';
import type { MediaStore, StoredMedia } from '../store/ports/media.ts';
import { StoreError } from '../store/store.ts';
import type { MediaSource } from '../upstream/contract/provider.ts';
import { upstreamFault } from '../upstream/host/fault.ts';
import type { Fetcher } from './fetcher.ts';
import { type ByteBudget, createImage, holdBytes, IMAGE_BYTES_MAX, type Image, tooLarge } from './image.ts';
import type { RemoteResult } from './result.ts';
import { URL_LENGTH_MAX } from './url.ts';

export interface KeepRequest {
  readonly kind: 'image' | 'video';
  /** The owner of the result. */
  readonly account: string;
  /** Origin of the upstream's `baseUrl`, which results may be fetched from; undefined if it has none. */
  readonly upstreamOrigin: string | undefined;
  /** The proxy in the upstream's settings. */
  readonly proxy?: string | undefined;
  /** How long a linked result that is not there yet is tried again; not at all by default. */
  readonly patienceMs?: number;
  readonly signal: AbortSignal;
}

interface OwnImageRequest {
  /** The request field that faults name. */
  readonly field: string;
  readonly budget?: ByteBudget;
}

export interface Results {
  /**
   * Stores a result. Throws upstream faults if it cannot be fetched or is of the wrong type, the signal's reason, and a
   * 503 fault if the store does not accept it.
   */
  keep(source: MediaSource, request: KeepRequest): Promise<StoredMedia>;
  /** Builds the public link of a stored file. */
  buildLink(media: Pick<StoredMedia, 'id' | 'mediaType'>): string;
  /** The id in one of our own links, whether or not the file exists; undefined for any other URL. */
  readLinkId(url: string): string | undefined;
  /** Reads a stored image. Throws 400 faults if it is unknown or has expired, and 503 if there is no room. */
  readImage(id: string, request: OwnImageRequest): Promise<Image>;
}

/** Limits of results; bytes from a provider are already bounded by its reply. */
const BYTES_MAX: Readonly<Record<KeepRequest['kind'], number>> = {
  image: 32 * 1024 * 1024,
  video: 2 * 1024 * 1024 * 1024,
};

/** The path of the links. */
export const MEDIA_PATH = '/media';
/** The file name in a link: id and extension. */
const FILE = new RegExp(`^([0-9A-Za-z]{${SECRET_DIGITS}})\\.([a-z0-9]{3,4})$`);
/** Printable ASCII without backslashes: nothing that a URL parser would drop or rewrite. */
const PLAIN = /^[\x21-\x5b\x5d-\x7e]+$/;

export interface ResultsOptions {
  readonly media: MediaStore;
  readonly fetcher: () => Fetcher;
  /** Without a trailing slash. */
  readonly publicUrl: () => string;
  readonly ttlMs: number;
  readonly onStored?: ((media: StoredMedia) => void) | undefined;
  /** ms since the epoch. */
  readonly now?: () => number;
}

export function createResults({ media, fetcher, publicUrl, ttlMs, onStored, now = Date.now }: ResultsOptions): Results {
  async function keep(source: MediaSource, request: KeepRequest): Promise<StoredMedia> {
    const { kind, upstreamOrigin, proxy, patienceMs, signal } = request;
    signal.throwIfAborted();
    if ('bytes' in source) return store(checkOwnResult(source.bytes, kind), request);
    const { url, headers } = source;
    const limits = { kind, bytesMax: BYTES_MAX[kind], upstreamOrigin, proxy, patienceMs, signal };
    return fetcher().fetchResult(url, { ...limits, headers }, (result) => store(result, request));
  }

  async function store({ sniffed, chunks }: Pick<RemoteResult, 'sniffed' | 'chunks'>, { kind, account }: KeepRequest) {
    const createdAt = now();
    const expiresAt = createdAt + ttlMs;
    const { mediaType } = sniffed;
    try {
      const stored = await media.write({ id: makeSecret(), account, kind, mediaType, createdAt, expiresAt }, chunks);
      onStored?.(stored);
      return stored;
    } catch (error) {
      throw error instanceof StoreError ? fault('result_not_kept', {}, error) : error;
    }
  }

  function readLinkId(text: string): string | undefined {
    if (text.length > URL_LENGTH_MAX || !PLAIN.test(text)) return undefined;
    const url = URL.parse(text);
    const base = URL.parse(`${publicUrl()}${MEDIA_PATH}/`);
    if (!url || url.origin !== base?.origin || url.username !== '' || url.password !== '') return undefined;
    return url.pathname.startsWith(base.pathname)
      ? parseFileName(url.pathname.slice(base.pathname.length))?.id
      : undefined;
  }

  async function readImage(id: string, { field, budget }: OwnImageRequest): Promise<Image> {
    try {
      const found = await media.get(id);
      if (!found || found.expiresAt <= now()) throw fault('image_gone', { field });
      if (found.kind !== 'image') throw fault('image_unsupported', { field });
      if (found.bytes > IMAGE_BYTES_MAX) throw tooLarge(field);
      return await readWhole(found, { field, budget });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.blames === 'batch') throw fault('image_gone', { field }, error);
      throw fault('store_unavailable', {}, error);
    }
  }

  async function readWhole({ id, bytes }: StoredMedia, { field, budget }: OwnImageRequest): Promise<Image> {
    const held = holdBytes(bytes, budget);
    if (!held) throw fault('no_room');
    try {
      let filled = 0;
      for await (const chunk of media.read(id)) {
        held.bytes.set(chunk, filled);
        filled += chunk.length;
      }
      const sniffed = sniffImage(held.bytes);
      if (!sniffed) throw fault('image_unsupported', { field });
      return createImage(held, sniffed);
    } catch (error) {
      held.release();
      throw error;
    }
  }

  const buildLink: Results['buildLink'] = ({ id, mediaType }) =>
    `${publicUrl()}${MEDIA_PATH}/${id}.${findExtension(mediaType) ?? 'bin'}`;

  return { keep, buildLink, readLinkId, readImage };
}

/** Parses the file name in a link. */
export function parseFileName(name: string): { readonly id: string; readonly extension: string } | undefined {
  const [, id, extension] = FILE.exec(name) ?? [];
  return id === undefined || extension === undefined ? undefined : { id, extension };
}

function checkOwnResult(bytes: Uint8Array, kind: KeepRequest['kind']): Pick<RemoteResult, 'sniffed' | 'chunks'> {
  if (bytes.length > BYTES_MAX[kind]) throw upstreamFault('protocol', 'the result is too large');
  const sniffed = sniffWhole(bytes);
  if (sniffed?.kind !== kind) throw upstreamFault('protocol', `the result is no ${kind}, or is cut short`);
  return { sniffed, chunks: singleChunk(bytes) };
}

async function* singleChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
