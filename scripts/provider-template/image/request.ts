// The request that one picture becomes.
import type { Host, ImageCall, JsonBody } from '../../../lib/plugin/contract.ts';

/** Made while it is sent: no copy of a picture stands around meanwhile. */
export function bodyOf({ model, prompt, size, aspect, images }: ImageCall, { image }: Host): JsonBody {
  return (base64) => ({
    model,
    prompt,
    ...(size && { size: `${size.width}x${size.height}` }),
    ...(!size && aspect && { aspect }),
    ...(images.length > 0 && { references: images.map((picture) => image.dataUrl(picture, base64)) }),
  });
}
