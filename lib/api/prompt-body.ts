// Reads image and video requests: JSON under the usual body limits, and the input images.
import { fault } from '../base/faults.ts';
import type { Refusal } from '../calls/images/request.ts';
import { readBody } from '../http/body.ts';
import { SMALL_BYTES } from '../http/memory-quota.ts';
import { readLinkedImage } from '../media/linked.ts';
import { type FetchReference, fetchReferences, type RequestImage } from '../media/reference.ts';
import type { FormatName, ParsedRequest } from './formats.ts';
import type { PromptRequest } from './image-parts.ts';
import type { PaidRequest } from './paid-route.ts';

type PromptFormat = { [Name in FormatName]: ParsedRequest<Name> extends PromptRequest ? Name : never }[FormatName];

/** The request in a JSON body; the reservation then holds its weight. `look` may refuse a long one before it is copied. */
export async function readPromptBody<Name extends PromptFormat>(
  { request, services, call, reservation, idempotency }: PaidRequest,
  format: Name,
  inspectHead: (head: ParsedRequest<Name>) => Promise<void>,
): Promise<ParsedRequest<Name>> {
  const { signal } = call;
  let parsed: ParsedRequest<Name>;
  try {
    const bytes = await readBody(request.raw.req, { signal, reservation, limits: services.bodyLimits });
    if (idempotency) await idempotency.readBody(bytes);
    parsed = await services.parser.parse(bytes, { format, signal, inspectHead });
  } finally {
    reservation.releaseAll();
  }
  const bytes = countBytes(parsed);
  if (bytes > SMALL_BYTES) reservation.take(bytes);
  return parsed;
}

function countBytes({ prompt, images }: PromptRequest): number {
  const inline = images.map(({ source }) => (typeof source === 'string' ? 0 : source.bytes.length));
  return inline.reduce((sum, bytes) => sum + bytes, prompt.length);
}

interface MaybeRefused extends PromptRequest {
  /** Set if one of the images cannot be read. */
  readonly refusal: Refusal | undefined;
}

/** Returns the images of a request, with linked ones fetched. */
export async function fetchLinkedImages(
  { services, call, reservation }: PaidRequest,
  { images, refusal }: MaybeRefused,
): Promise<readonly RequestImage[]> {
  if (refusal) throw fault(refusal.code, refusal.detail);
  const budget = { take: (bytes: number) => reservation.takePart(bytes) };
  const fetch: FetchReference = (url, options) => readLinkedImage(services, url, { ...options, budget });
  const fetched = await fetchReferences(images, fetch, call.signal);
  return images.map((image) => ({ ...image, source: fetched.get(image) ?? image.source }));
}
