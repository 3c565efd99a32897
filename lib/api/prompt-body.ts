// Reading of picture and video requests: JSON under the usual body limits, and the pictures to start from.
import { fault } from '../base/faults.ts';
import type { Refusal } from '../calls/images/request.ts';
import { readBody } from '../http/body.ts';
import { SMALL_BYTES } from '../http/memory-quota.ts';
import { readLinked } from '../media/linked.ts';
import { type FetchReference, fetchReferences, type RequestPicture } from '../media/reference.ts';
import type { FormatName, RequestOf } from './formats.ts';
import type { Prompted } from './image-parts.ts';
import type { PaidRequest } from './paid-route.ts';

type PromptedFormat = { [Name in FormatName]: RequestOf<Name> extends Prompted ? Name : never }[FormatName];

/** The request in a JSON body; the reservation then holds its weight. `look` may refuse a long one before it is copied. */
export async function readPromptBody<Name extends PromptedFormat>(
  { request, services, call, reservation, repeat }: PaidRequest,
  format: Name,
  look: (head: RequestOf<Name>) => Promise<void>,
): Promise<RequestOf<Name>> {
  const { signal } = call;
  let asked: RequestOf<Name>;
  try {
    const bytes = await readBody(request.raw.req, { signal, reservation, limits: services.bodyLimits });
    if (repeat) await repeat.readBody(bytes);
    asked = await services.parser.parse(bytes, { format, signal, look });
  } finally {
    reservation.releaseAll();
  }
  const bytes = bytesOf(asked);
  if (bytes > SMALL_BYTES) reservation.take(bytes);
  return asked;
}

function bytesOf({ prompt, pictures }: Prompted): number {
  const inline = pictures.map(({ source }) => (typeof source === 'string' ? 0 : source.bytes.length));
  return inline.reduce((sum, bytes) => sum + bytes, prompt.length);
}

interface Refusable extends Prompted {
  /** What is wrong with one of them. */
  readonly refusal: Refusal | undefined;
}

/** The pictures of a request, including those it only links to. */
export async function withLinked(
  { services, call, reservation }: PaidRequest,
  { pictures, refusal }: Refusable,
): Promise<readonly RequestPicture[]> {
  if (refusal) throw fault(refusal.code, refusal.detail);
  const budget = { take: (bytes: number) => reservation.takePart(bytes) };
  const fetch: FetchReference = (url, options) => readLinked(services, url, { ...options, budget });
  const fetched = await fetchReferences(pictures, fetch, call.signal);
  return pictures.map((picture) => ({ ...picture, source: fetched.get(picture) ?? picture.source }));
}
