// Resolution labels such as `720p` or `2k`: pixels of the shorter side, and which label is nearest.

export const RESOLUTION_LABEL = /^(?:[1-9]\d{2,3}p|[1-9]k)$/;

/** The label that a request without one is for. */
export const RESOLUTION_DEFAULT = '1080p';

/** Pixels of the shorter side: in thousands, nine sixteenths of the longer, as 4k is 3840 wide; but 2k is 2560 wide. */
export function shortSideOf(label: string): number {
  if (label === '2k') return 1440;
  return Number.parseInt(label, 10) * (label.endsWith('k') ? 540 : 1);
}

/** The label whose shorter side is nearest, the smaller of two equally near ones. Undefined if there is none. */
export function nearestResolution(labels: Iterable<string>, shortSide: number): string | undefined {
  const distance = (label: string) => Math.abs(shortSideOf(label) - shortSide);
  return [...labels].sort((one, other) => distance(one) - distance(other) || shortSideOf(one) - shortSideOf(other))[0];
}
