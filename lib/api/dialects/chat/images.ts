// The images of a chat's answer: in no field of the format, but where clients and vendors agree to have them.
import type { CollectedImage, CollectedReply } from '../../../stream/collect.ts';
import { writeDataUrl } from '../data-url.ts';

type Image = Pick<CollectedImage, 'mediaType' | 'base64'>;

/** `index` counts the images of the answer. */
function writeChatImage(url: string, index: number): object {
  return { type: 'image_url', index, image_url: { url } };
}

/** Without a look at each character of the base64, which would take most of the time of a large image. */
export function writeChatImageJson(image: Image, index: number): string {
  const [before, after] = JSON.stringify(writeChatImage('|', index)).split('|');
  return `${before}${writeDataUrl(image)}${after}`;
}

/** The field of a whole message. */
export function writeChatImages({ blocks }: CollectedReply): object {
  const images = blocks.filter((block) => block.type === 'image');
  return images.length > 0 ? { images: images.map((image, index) => writeChatImage(writeDataUrl(image), index)) } : {};
}
