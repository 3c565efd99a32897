// The images of a chat's answer: in no field of the format, but where clients and vendors agree to have them.
import type { CollectedImage, CollectedReply } from '../../../stream/collect.ts';
import { writeDataUrl } from '../data-url.ts';

/** `index` counts the images of the answer. */
export function writeChatImage(image: Pick<CollectedImage, 'mediaType' | 'base64'>, index: number): object {
  return { type: 'image_url', index, image_url: { url: writeDataUrl(image) } };
}

/** The field of a whole message. */
export function writeChatImages({ blocks }: CollectedReply): object {
  const images = blocks.filter((block) => block.type === 'image');
  return images.length > 0 ? { images: images.map(writeChatImage) } : {};
}
