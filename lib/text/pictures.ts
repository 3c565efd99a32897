// The pictures of a text request on their way to a model, let go at the end.
import { type FetchReference, fetchReferences, pictureOf, type RequestPicture } from '../media/reference.ts';
import type { Content, TextMessage } from '../plugin/contract.ts';
import type { RequestContent, TextRequest } from './request.ts';

/** The request with all its pictures there. */
export async function fetchPictures(
  request: TextRequest,
  fetch: FetchReference,
  signal: AbortSignal,
): Promise<TextRequest> {
  const fetched = await fetchReferences(picturesOf(request), fetch, signal);
  if (fetched.size === 0) return request;
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

/** Empties a request that no route can need any more, whoever still refers to it. */
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
  return part.type === 'text' ? part : { type: 'image', ...pictureOf(part) };
}
