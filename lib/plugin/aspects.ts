// Shapes of pictures and videos, `16:9`: which of those that an upstream draws is nearest to what is wanted.
import type { ImageCall } from './call-contract.ts';

/** Width by height. */
export function ratioOf(aspect: string): number {
  const [width = 1, height = 1] = aspect.split(':').map(Number);
  return width / height;
}

/** The first of those that are equally near. Undefined when there is none. */
export function nearestAspect(aspects: readonly string[], ratio: number): string | undefined {
  const distance = (aspect: string) => Math.abs(Math.log(ratioOf(aspect) / ratio));
  return [...aspects].sort((one, other) => distance(one) - distance(other))[0];
}

/** `HostImage.aspectOf`. */
export function aspectOf({ size, aspect }: Pick<ImageCall, 'size' | 'aspect'>, aspects: readonly string[]) {
  const ratio = aspect !== undefined ? ratioOf(aspect) : size && size.width / size.height;
  return ratio !== undefined && ratio > 0 ? nearestAspect(aspects, ratio) : undefined;
}
