// The images uploaded with the playground's form, checked by the rules of the API (hence its reader).
import { readImageSources } from '../../api/image-request.ts';
import { fault } from '../../base/faults.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import type { RequestImage } from '../../media/reference.ts';
import type { Form } from '../forms.ts';

/** Throws a fault if one of them is invalid. The caller releases them. */
export function readFormImages({ files }: Form): readonly RequestImage[] {
  const { images, refusal } = readImageSources(files.map((file) => ({ field: file.name, source: file })));
  if (refusal) throw fault(refusal.code, refusal.detail);
  return images;
}

/** The request with images in its last message. */
export function attachImages(request: TextRequest, images: readonly RequestImage[]): TextRequest {
  const [last] = request.messages.slice(-1);
  if (images.length === 0 || !last) return request;
  const message = { ...last, content: [...last.content, ...images] };
  return { ...request, images: images.length, messages: [...request.messages.slice(0, -1), message] };
}
