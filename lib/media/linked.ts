// A picture that a request names: a link of our own is read from the store, any other is fetched.
import type { Fetcher, ImageRequest } from './fetcher.ts';
import type { Image } from './image.ts';
import type { Results } from './results.ts';

export interface PictureMeans {
  readonly results: Pick<Results, 'idOf' | 'readImage'>;
  readonly fetcher: () => Pick<Fetcher, 'fetchImage'>;
}

/** Throws as `Results.readImage` and `Fetcher.fetchImage` do. */
export async function readLinked(
  { results, fetcher }: PictureMeans,
  url: string,
  request: ImageRequest,
): Promise<Image> {
  const id = results.idOf(url);
  if (id === undefined) return fetcher().fetchImage(url, request);
  const image = await results.readImage(id, request);
  if (!request.signal.aborted) return image;
  image.release();
  throw request.signal.reason;
}
