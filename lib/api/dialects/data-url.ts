// An image of an answer as the URL that holds it.
import type { CollectedImage } from '../../stream/collect.ts';

export function writeDataUrl({ mediaType, base64 }: Pick<CollectedImage, 'mediaType' | 'base64'>): string {
  return `data:${mediaType};base64,${base64}`;
}
