// Pictures that a request links to or contains: fetched a few at a time, all of them or none.
import type { Picture } from '../upstream/contract/provider.ts';
import type { Image } from './image.ts';

export interface RequestPicture {
  readonly type: 'picture';
  /** The request field it stands in, for faults. */
  readonly field: string;
  /** A link not fetched yet, or the picture itself. */
  readonly source: string | Image;
}

/** Fetches one picture; throws the fault that names its field, or the signal's reason. */
export type FetchReference = (url: string, options: FetchOptions) => Promise<Image>;

export interface FetchOptions {
  readonly field: string;
  readonly signal: AbortSignal;
}

/** Links fetched concurrently for one call. */
const FETCHES_AT_ONCE = 4;

/** Fetches the links. If several fail, one is reported, and the rest is abandoned. */
export async function fetchReferences(
  pictures: readonly RequestPicture[],
  fetch: FetchReference,
  outer: AbortSignal,
): Promise<ReadonlyMap<RequestPicture, Image>> {
  const links = pictures.filter(({ source }) => typeof source === 'string');
  const fetched = new Map<RequestPicture, Image>();
  if (links.length === 0) return fetched;
  const over = new AbortController();
  const signal = AbortSignal.any([outer, over.signal]);
  const next = links.values();
  const work = async () => {
    for (const picture of next) {
      const { field, source } = picture;
      fetched.set(picture, await fetch(source as string, { field, signal }));
    }
  };
  const workers = Array.from({ length: Math.min(FETCHES_AT_ONCE, links.length) }, work);
  try {
    await Promise.all(workers);
  } catch (error) {
    over.abort(error);
    await Promise.allSettled(workers);
    for (const image of fetched.values()) image.release();
    throw error;
  }
  return fetched;
}

/** As a provider takes it: fetched. */
export function pictureOf({ source, field }: RequestPicture): Picture {
  if (typeof source === 'string') throw new Error(`the picture ${field} was not fetched`);
  const { bytes, size, mediaType } = source;
  return { mediaType: mediaType as Picture['mediaType'], bytes, ...(size && { size }) };
}

/** Frees the bytes of all that were read. */
export function releasePictures(pictures: readonly RequestPicture[]): void {
  for (const { source } of pictures) if (typeof source !== 'string') source.release();
}
