// Aspect ratios such as `16:9`: which of an upstream's is nearest to the one requested.
import type { ImageCall } from '../contract/call.ts';

/** Width by height. */
export function parseRatio(aspect: string): number {
  const [width = 1, height = 1] = aspect.split(':').map(Number);
  return width / height;
}

/** The first of equally near ones. Undefined if there is none. */
export function nearestAspect(aspects: readonly string[], ratio: number): string | undefined {
  const distance = (aspect: string) => Math.abs(Math.log(parseRatio(aspect) / ratio));
  return [...aspects].sort((one, other) => distance(one) - distance(other))[0];
}

/** `HostImage.aspectOf`. */
export function findNearestAspect({ size, aspect }: Pick<ImageCall, 'size' | 'aspect'>, aspects: readonly string[]) {
  const ratio = aspect !== undefined ? parseRatio(aspect) : size && size.width / size.height;
  return ratio !== undefined && ratio > 0 ? nearestAspect(aspects, ratio) : undefined;
}
