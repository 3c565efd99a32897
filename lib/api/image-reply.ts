// The reply to an image request: the link, and the image itself for clients that asked for it and cannot read links.
import type { Image } from '../media/image.ts';
import type { Results } from '../media/results.ts';
import type { StoredMedia } from '../store/ports/media.ts';
import type { PaidRequest } from './paid-route.ts';

/** A body whose only result is a link. */
export interface ImageReply {
  readonly data: readonly [{ readonly url: string }];
  readonly [field: string]: unknown;
}

/**
 * The stored image; undefined if it is too large, if there is no room for it, or if it cannot be read: it is paid for
 * by then, and the link leads to it.
 */
export async function readMadeImage(
  { reservation, state }: PaidRequest,
  { results, image }: { readonly results: Results; readonly image: StoredMedia },
): Promise<Image | undefined> {
  try {
    return await results.readImage(image.id, { field: 'response_format', budget: reservation });
  } catch (error) {
    state.notes.err = error as Error;
    return undefined;
  }
}

/** Three bytes are four characters. */
const PIECE_BYTES = 3 * 64 * 1024;

/** The body as JSON, piece by piece, with the image in base64 beside its link. */
export function* writeImageReply({ data: [link], ...rest }: ImageReply, bytes: Buffer): Generator<string> {
  yield `{"data":[${JSON.stringify(link).slice(0, -1)},"b64_json":"`;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.toString('base64', at, at + PIECE_BYTES);
  yield `"}],${JSON.stringify(rest).slice(1)}`;
}
