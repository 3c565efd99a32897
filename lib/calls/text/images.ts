// The images of a text request on their way to a model.
import { fault } from '../../base/faults.ts';
import { type FetchReference, fetchReferences, type RequestImage, toProviderImage } from '../../media/reference.ts';
import type { Content, TextMessage, ToolResultContent } from '../../upstream/contract/provider.ts';
import type { RequestContent, RequestResult, TextRequest } from './request.ts';

const IMAGES_BYTES_MAX = 48 * 1024 * 1024;

/** The request with all its images fetched. */
export async function fetchPromptImages(
  request: TextRequest,
  fetch: FetchReference,
  signal: AbortSignal,
): Promise<TextRequest> {
  const images = listRequestImages(request);
  const fetched = await fetchReferences(images, boundBytes(images, fetch), signal);
  if (fetched.size === 0) return request;
  const there = (content: RequestContent): RequestContent => {
    if (content.type === 'tool-result')
      return { ...content, content: content.content.map(there) as RequestResult['content'] };
    const image = content.type === 'image' ? fetched.get(content) : undefined;
    return image && content.type === 'image' ? { ...content, source: image } : content;
  };
  return { ...request, messages: request.messages.map(({ role, content }) => ({ role, content: content.map(there) })) };
}

/** Limits the images of a request to the bytes that a body may have. */
function boundBytes(images: readonly RequestImage[], fetch: FetchReference): FetchReference {
  let bytes = images.reduce((sum, { source }) => (typeof source === 'string' ? sum : sum + source.bytes.length), 0);
  return async (url, options) => {
    const image = await fetch(url, options);
    bytes += image.bytes.length;
    if (bytes <= IMAGES_BYTES_MAX) return image;
    image.release();
    const hint = `is one image too many: they have more than ${IMAGES_BYTES_MAX / 1024 / 1024} MiB in all`;
    throw fault('invalid_field', { field: options.field, hint });
  };
}

export function listRequestImages({ messages }: TextRequest): readonly RequestImage[] {
  return messages.flatMap(({ content }) => content.flatMap(listImages));
}

function listImages(part: RequestContent): readonly RequestImage[] {
  if (part.type === 'tool-result') return part.content.flatMap(listImages);
  return part.type === 'image' ? [part] : [];
}

/** Messages as a provider takes them: every image is fetched. */
export function toProviderMessages({
  messages,
  images,
}: Pick<TextRequest, 'messages' | 'images'>): readonly TextMessage[] {
  // Most calls have none: their messages are passed as they are.
  if (images === 0) return messages as readonly TextMessage[];
  return messages.map(({ role, content }) => ({ role, content: content.map(toProviderContent) }));
}

function toProviderContent(part: RequestContent): Content {
  if (part.type === 'image') {
    const { cache, detail } = part;
    return { type: 'image', ...toProviderImage(part), ...(detail && { detail }), ...(cache && { cache }) };
  }
  return part.type === 'tool-result'
    ? { ...part, content: part.content.map(toProviderContent) as ToolResultContent['content'] }
    : part;
}
