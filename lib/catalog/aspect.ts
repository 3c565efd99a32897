// The shapes of pictures and videos, `16:9`: which there are, and which is nearest to a size.
import type { Size } from '../plugin/contract.ts';

/** An upstream that draws in others gets the nearest. */
export const ASPECTS: readonly string[] = ['1:1', '16:9', '9:16', '4:3', '3:4'];

export const ASPECT = /^[1-9]\d?:[1-9]\d?$/;

/** Width by height. */
export function ratioOf(aspect: string): number {
  const [width = 1, height = 1] = aspect.split(':').map(Number);
  return width / height;
}

/** The first of those that are equally near. Undefined when there is none. */
export function nearestAspect(aspects: readonly string[], { width, height }: Size): string | undefined {
  const distance = (aspect: string) => Math.abs(Math.log(ratioOf(aspect) / (width / height)));
  return [...aspects].sort((one, other) => distance(one) - distance(other))[0];
}
