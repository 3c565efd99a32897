// Resolution labels such as `720p` or `2k`: pixels of the shorter side, and which label is nearest.

export const RESOLUTION_LABEL = /^(?:[1-9]\d{2,3}p|[1-9]k)$/;

/** The label that a request without one is for. */
export const RESOLUTION_DEFAULT = '1080p';

/** In labels in thousands, the shorter side is nine sixteenths of the longer: 2k is 2560 wide, 4k 3840. */
const SHORT_SIDES = new Map([
  ['2k', 1440],
  ['4k', 2160],
]);

/** Pixels of the shorter side. */
export function shortSideOf(label: string): number {
  const number = Number.parseInt(label, 10);
  return SHORT_SIDES.get(label) ?? (label.endsWith('k') ? number * 540 : number);
}

/** The label whose shorter side is nearest, the smaller of two equally near ones. Undefined if there is none. */
export function nearestResolution(labels: Iterable<string>, shortSide: number): string | undefined {
  const distance = (label: string) => Math.abs(shortSideOf(label) - shortSide);
  return [...labels].sort((one, other) => distance(one) - distance(other) || shortSideOf(one) - shortSideOf(other))[0];
}
