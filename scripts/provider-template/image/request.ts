// Settings of an upstream, and the request that one picture becomes.
import type { ImageCall, Picture } from '../../../lib/plugin/contract.ts';

export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string | readonly string[];
  readonly proxy?: string;
}

export function bodyOf({ model, prompt, size, aspect, images }: ImageCall): object {
  return {
    model,
    prompt,
    ...(size && { size: `${size.width}x${size.height}` }),
    ...(!size && aspect && { aspect }),
    ...(images.length > 0 && { references: images.map(dataUrlOf) }),
  };
}

function dataUrlOf({ mediaType, bytes }: Picture): string {
  return `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`;
}
