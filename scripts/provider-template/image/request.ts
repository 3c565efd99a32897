// The request that one picture becomes.
import type { Base64, ImageCall, JsonBody } from '../../../lib/plugin/contract.ts';

/** Made while it is sent: no copy of a picture stands around meanwhile. */
export function bodyOf({ model, prompt, size, aspect, images }: ImageCall): JsonBody {
  const dataUrls = (base64: Base64) =>
    images.map(({ mediaType, bytes }) => `data:${mediaType};base64,${base64(bytes)}`);
  return (base64) => ({
    model,
    prompt,
    ...(size && { size: `${size.width}x${size.height}` }),
    ...(!size && aspect && { aspect }),
    ...(images.length > 0 && { references: dataUrls(base64) }),
  });
}
