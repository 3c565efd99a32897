// The upstream request for one image.
import type { Host, ImageCall, JsonBody } from '../../../lib/upstream/contract/provider.ts';

/** Built while it is being sent, so that no copy of an image is kept in memory. */
export function buildBody({ model, prompt, size, aspect, images }: ImageCall, { image }: Host): JsonBody {
  return (base64) => ({
    model,
    prompt,
    ...(size && { size: `${size.width}x${size.height}` }),
    ...(!size && aspect && { aspect }),
    ...(images.length > 0 && { references: images.map((reference) => image.dataUrl(reference, base64)) }),
  });
}
