// Reads an image that a request links to: our own links from the store, others over the network.
import type { Fetcher, ImageRequest } from './fetcher.ts';
import type { Image } from './image.ts';
import type { Results } from './results.ts';

interface ImageSources {
  readonly results: Pick<Results, 'readLinkId' | 'readImage'>;
  readonly fetcher: () => Pick<Fetcher, 'fetchImage'>;
}

/** Throws like `Results.readImage` and `Fetcher.fetchImage`. */
export async function readLinkedImage(
  { results, fetcher }: ImageSources,
  url: string,
  request: ImageRequest,
): Promise<Image> {
  const id = results.readLinkId(url);
  if (id === undefined) return fetcher().fetchImage(url, request);
  const image = await results.readImage(id, request);
  if (!request.signal.aborted) return image;
  image.release();
  throw request.signal.reason;
}
