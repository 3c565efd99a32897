// The images uploaded with the playground's form, checked by the rules of the API (hence its reader).
import { readImageSources } from '../../api/image-request.ts';
import { fault } from '../../base/faults.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import type { RequestImage } from '../../media/reference.ts';
import type { Form } from '../forms.ts';
import { countKeptImages, NO_CONVERSATION } from './conversation.ts';
import type { PlaygroundForm } from './fields.ts';

/** Throws a fault if one of them is invalid. The caller releases them. */
export function readFormImages({ files }: Form): readonly RequestImage[] {
  const { images, refusal } = readImageSources(files.map((file) => ({ field: file.name, source: file })));
  if (refusal) throw fault(refusal.code, refusal.detail);
  return images;
}

/** The request with images: first those of earlier turns that are sent again, then those of its last message. */
export function attachImages(
  request: TextRequest,
  images: readonly RequestImage[],
  { conversation = NO_CONVERSATION, keptCalls }: Pick<PlaygroundForm, 'conversation' | 'keptCalls'>,
): TextRequest {
  if (images.length === 0) return request;
  const counts = countKeptImages(conversation, keptCalls);
  const messages = [...request.messages];
  const prompt = messages.length - 1;
  const left = [...images];
  const attach = (at: number, count: number) => {
    const message = messages[at];
    if (message && count > 0) messages[at] = { ...message, content: [...message.content, ...left.splice(0, count)] };
  };
  for (const [turn, count] of counts.entries()) attach(prompt - 2 * (counts.length - turn), count);
  attach(prompt, left.length);
  return { ...request, images: images.length, messages };
}
