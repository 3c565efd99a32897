// The pictures of a request on their way to a model: links are fetched, a few at a time, and all are let go at the end.
import type { Image } from '../media/image.ts';
import type { Content, TextMessage } from '../plugin/contract.ts';
import type { RequestContent, RequestPicture, TextRequest } from './request.ts';

/** Fetches one picture; throws the fault that names its field. */
export type FetchPicture = (url: string, field: string) => Promise<Image>;

/** Links that are asked at once for one call. */
const FETCHES_AT_ONCE = 4;

/** The request with all its pictures there. Of several that cannot be had, one is named. */
export async function fetchPictures(request: TextRequest, fetch: FetchPicture): Promise<TextRequest> {
  const links = picturesOf(request).filter(({ source }) => typeof source === 'string');
  if (links.length === 0) return request;
  const fetched = new Map<RequestPicture, Image>();
  const next = links.values();
  const worker = async () => {
    for (const picture of next) fetched.set(picture, await fetch(picture.source as string, picture.field));
  };
  await Promise.all(Array.from({ length: Math.min(FETCHES_AT_ONCE, links.length) }, worker));
  const there = (content: RequestContent): RequestContent => {
    const image = content.type === 'picture' ? fetched.get(content) : undefined;
    return image && content.type === 'picture' ? { ...content, source: image } : content;
  };
  return { ...request, messages: request.messages.map(({ role, content }) => ({ role, content: content.map(there) })) };
}

export function picturesOf({ messages }: TextRequest): readonly RequestPicture[] {
  return messages.flatMap(({ content }) => content.filter((part) => part.type === 'picture'));
}

/** Bytes of the pictures that came with the request. */
export function inlineBytesOf(request: TextRequest): number {
  return picturesOf(request).reduce(
    (sum, { source }) => sum + (typeof source === 'string' ? 0 : source.bytes.length),
    0,
  );
}

/** Messages as a provider takes them: every picture is there. */
export function messagesOf({ messages, images }: TextRequest): readonly TextMessage[] {
  // Most calls have none: their messages go as they are.
  if (images === 0) return messages as readonly TextMessage[];
  return messages.map(({ role, content }) => ({ role, content: content.map(contentOf) }));
}

function contentOf(part: RequestContent): Content {
  if (part.type === 'text') return part;
  const { source, field } = part;
  if (typeof source === 'string') throw new Error(`the picture ${field} was not fetched`);
  return {
    type: 'image',
    mediaType: source.mediaType as `image/${'png' | 'jpeg' | 'gif' | 'webp'}`,
    bytes: source.bytes,
  };
}
