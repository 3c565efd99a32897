// The pictures of a request on their way to a model: links are fetched, a few at a time, and all are let go at the end.
import type { Image } from '../media/image.ts';
import type { Content, TextMessage } from '../plugin/contract.ts';
import type { RequestContent, RequestPicture, TextRequest } from './request.ts';

/** Fetches one picture; throws the fault that names its field, or the signal's reason. */
export type FetchPicture = (url: string, options: FetchOptions) => Promise<Image>;

export interface FetchOptions {
  readonly field: string;
  readonly signal: AbortSignal;
}

/** Links that are asked at once for one call. */
const FETCHES_AT_ONCE = 4;

/** The request with all its pictures there. Of several that cannot be had, one is named, and nothing goes on. */
export async function fetchPictures(
  request: TextRequest,
  fetch: FetchPicture,
  outer: AbortSignal,
): Promise<TextRequest> {
  const links = picturesOf(request).filter(({ source }) => typeof source === 'string');
  if (links.length === 0) return request;
  const fetched = new Map<RequestPicture, Image>();
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
  const there = (content: RequestContent): RequestContent => {
    const image = content.type === 'picture' ? fetched.get(content) : undefined;
    return image && content.type === 'picture' ? { ...content, source: image } : content;
  };
  return { ...request, messages: request.messages.map(({ role, content }) => ({ role, content: content.map(there) })) };
}

export function picturesOf({ messages }: TextRequest): readonly RequestPicture[] {
  return messages.flatMap(({ content }) => content.filter((part) => part.type === 'picture'));
}

/** Bytes of the texts, about, and of the pictures that came with the request. */
export function bytesOf({ system = '', messages }: TextRequest): number {
  let bytes = system.length;
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type === 'text') bytes += part.text.length;
      else if (typeof part.source !== 'string') bytes += part.source.bytes.length;
    }
  }
  return bytes;
}

/** Empties a request that no route can need any more, whoever still holds it. */
export function letGo(request: TextRequest): void {
  for (const { source } of picturesOf(request)) if (typeof source !== 'string') source.release();
  Object.assign(request, { system: undefined, messages: [] } satisfies Partial<TextRequest>);
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
