// Resolution labels such as `720p` or `2k`: pixels of the shorter side, and which label is nearest.

export const RESOLUTION_LABEL = /^(?:[1-9]\d{2,3}p|[1-9]k)$/;

/** The label of requests without a resolution. */
export const RESOLUTION_DEFAULT = '1080p';

/** Pixels of the shorter side. `4k` is 3840 wide and 2160 high, so a thousand is 540; but `2k` is 2560 by 1440. */
export function parseShortSide(label: string): number {
  if (label === '2k') return 1440;
  return Number.parseInt(label, 10) * (label.endsWith('k') ? 540 : 1);
}

/** The label with the nearest shorter side, the smaller of two equally near ones; undefined without labels. */
export function findNearestResolution(labels: Iterable<string>, shortSide: number): string | undefined {
  const distance = (label: string) => Math.abs(parseShortSide(label) - shortSide);
  return [...labels].sort(
    (one, other) => distance(one) - distance(other) || parseShortSide(one) - parseShortSide(other),
  )[0];
}
