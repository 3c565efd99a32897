// Durations counted by buckets: sums of such counts are exact, and percentiles good to a fraction of a bucket.

/** The upper bounds of all buckets but the last, which has none. */
export const BUCKET_BOUNDS_MS = [
  ...[100, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000],
  ...[5000, 7500, 10_000, 20_000, 60_000],
] as const;

export const BUCKET_COUNT = BUCKET_BOUNDS_MS.length + 1;

export const NO_TIMES: readonly number[] = new Array(BUCKET_COUNT).fill(0);

export function findBucket(ms: number): number {
  const at = BUCKET_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return at === -1 ? BUCKET_BOUNDS_MS.length : at;
}

/** `sign` -1: without the others. */
export function addTimes(one: readonly number[], other: readonly number[], sign: 1 | -1 = 1): readonly number[] {
  if (other === NO_TIMES) return one;
  return one.map((count, at) => count + sign * (other[at] ?? 0));
}

/** The time that a share of all durations does not exceed, spread evenly within its bucket; undefined if there are none. */
export function estimatePercentile(counts: readonly number[], share: number): number | undefined {
  const wanted = counts.reduce((sum, count) => sum + count, 0) * share;
  if (wanted <= 0) return undefined;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    const from = BUCKET_BOUNDS_MS[at - 1] ?? 0;
    // The last bucket has no end: its start is what is known.
    const to = BUCKET_BOUNDS_MS[at] ?? from;
    if (count > 0 && below + count >= wanted) return Math.round(from + ((to - from) * (wanted - below)) / count);
    below += count;
  }
  return undefined;
}
