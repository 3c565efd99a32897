// The images of a request, linked or inline: links are fetched a few at a time, all of them or none.
import type { Cacheable, ImageDetail, ImageInput } from '../upstream/contract/provider.ts';
import type { Image } from './image.ts';

export interface RequestImage extends Cacheable {
  readonly type: 'image';
  /** The request field of the image, for faults. */
  readonly field: string;
  /** A link that is not fetched yet, or the image itself. */
  readonly source: string | Image;
  readonly detail?: ImageDetail;
}

/** Fetches one image; throws a fault that names its field, or the signal's reason. */
export type FetchReference = (url: string, options: FetchOptions) => Promise<Image>;

interface FetchOptions {
  readonly field: string;
  readonly signal: AbortSignal;
}

/** Links of one call that are fetched at once. */
const FETCHES_AT_ONCE = 4;

/** Fetches all links; the first failure is thrown and ends the others. */
export async function fetchReferences(
  images: readonly RequestImage[],
  fetch: FetchReference,
  outer: AbortSignal,
): Promise<ReadonlyMap<RequestImage, Image>> {
  const links = images.filter(({ source }) => typeof source === 'string');
  const fetched = new Map<RequestImage, Image>();
  if (links.length === 0) return fetched;
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  const next = links.values();
  const work = async () => {
    for (const image of next) {
      const { field, source } = image;
      fetched.set(image, await fetch(source as string, { field, signal }));
    }
  };
  const workers = Array.from({ length: Math.min(FETCHES_AT_ONCE, links.length) }, work);
  try {
    await Promise.all(workers);
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(workers);
    for (const image of fetched.values()) image.release();
    throw error;
  }
  return fetched;
}

/** Converts a fetched image for providers. */
export function toProviderImage({ source, field }: RequestImage): ImageInput {
  if (typeof source === 'string') throw new Error(`the image ${field} was not fetched`);
  const { bytes, size, mediaType } = source;
  return { mediaType: mediaType as ImageInput['mediaType'], bytes, ...(size && { size }) };
}

/** Frees the memory of all images that were read. */
export function releaseImages(images: readonly RequestImage[]): void {
  for (const { source } of images) if (typeof source !== 'string') source.release();
}
