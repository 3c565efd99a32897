// Reads image and video requests in JSON, and their input images.
import { fault } from '../base/faults.ts';
import type { Refusal } from '../calls/images/request.ts';
import { SMALL_BYTES } from '../http/memory-quota.ts';
import { readLinkedImage } from '../media/linked.ts';
import { type FetchReference, fetchReferences, type RequestImage } from '../media/reference.ts';
import { type CallBodyOptions, readCallBody } from './call-body.ts';
import type { FormatName, ParsedRequest } from './formats.ts';
import type { PaidRequest } from './paid-route.ts';
import type { PromptRequest } from './prompt-parts.ts';

type PromptFormat = { [Name in FormatName]: ParsedRequest<Name> extends PromptRequest ? Name : never }[FormatName];

/** The request in a JSON body; the reservation then holds its prompt and images, unless they are small. */
export async function readPromptBody<Name extends PromptFormat>(
  paid: PaidRequest,
  options: CallBodyOptions<Name>,
): Promise<ParsedRequest<Name>> {
  const parsed = await readCallBody(paid, options);
  const bytes = countBytes(parsed);
  if (bytes > SMALL_BYTES) paid.reservation.take(bytes);
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
  const fetch: FetchReference = (url, options) => readLinkedImage(services, url, { ...options, budget: reservation });
  const fetched = await fetchReferences(images, fetch, call.signal);
  return images.map((image) => ({ ...image, source: fetched.get(image) ?? image.source }));
}
