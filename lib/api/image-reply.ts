// The reply to an image request: the link, and the image itself for clients that asked for it and cannot read links, as
// one body or as the only event of a stream.
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
  yield* writeBase64(bytes);
  yield `"}],${JSON.stringify(rest).slice(1)}`;
}

/** The event that ends a stream of an image; no partial image comes before it. */
export function* writeImageEvent(
  type: string,
  { data: [{ url }], created: created_at, ...rest }: ImageReply,
  image: Image | undefined,
): Generator<string> {
  const { width, height } = image?.size ?? {};
  const shown = image && { size: `${width}x${height}`, output_format: image.format };
  const head = { type, created_at, url, ...shown, background: 'auto', quality: 'auto', ...rest };
  yield `event: ${type}\ndata: ${JSON.stringify(head).slice(0, -1)}`;
  if (image) {
    yield ',"b64_json":"';
    yield* writeBase64(image.bytes);
    yield '"';
  }
  yield '}\n\n';
}

function* writeBase64(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.toString('base64', at, at + PIECE_BYTES);
}
