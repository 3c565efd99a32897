// The learnt weights, and the score that they add up to. All numbers are integers, so that every machine gets the same.
import { readFileSync } from 'node:fs';
import { flattenString } from '../../base/flat-string.ts';
import type { SmartThresholds } from '../../base/smart-tiers.ts';

/** How much a finding speaks for `standard` over `lite`, and for `heavy` over `standard`. */
export interface Weight {
  readonly standard: number;
  readonly heavy: number;
}

export const SMART_THRESHOLDS: SmartThresholds = { standard: 35, heavy: 65 };

/** The weight that makes one tier e times as likely as its neighbour. */
export const WEIGHT_UNIT = 128;
/** The weights in the file are rounded to multiples of it, and divided by it: it may take 400 KB. */
export const WEIGHT_STEP = 8;
/**
 * What `lite` and `heavy` need beyond what speaks against each other: between the two, `standard` is the safe guess.
 */
const GAP = 128;
/** At this margin, the score is halfway between the threshold and its end. */
const HALF = 3 * WEIGHT_UNIT;
const SHARE_BITS = 10;

let weights: ReadonlyMap<string, Weight> | undefined;

/** The file is read for the first request to `smart`: not every service has that model, and the weights take 2 MB. */
export function findWeight(name: string): Weight | undefined {
  weights ??= readWeights();
  return weights.get(name);
}

function readWeights(): ReadonlyMap<string, Weight> {
  const lines = readFileSync(new URL('./model/weights.txt', import.meta.url), 'utf8').split('\n');
  return new Map(lines.filter((line) => line !== '' && !line.startsWith('//')).map(readWeight));
}

function readWeight(line: string): [string, Weight] {
  const [standard, heavy, ...name] = line.split(' ');
  return [
    flattenString(name.join(' ')),
    { standard: Number(standard) * WEIGHT_STEP, heavy: Number(heavy) * WEIGHT_STEP },
  ];
}

/** The weights of wordings count less, the more there are: divided by the root of their number. */
export function shareWeight(sum: number, count: number): number {
  return Math.round((sum * Math.round((1 << SHARE_BITS) / Math.sqrt(1 + count))) / (1 << SHARE_BITS));
}

/** 0 to 100: below 35 if `lite` is likeliest, from 65 if `heavy` is; grows with either weight. */
export function computeScore({ standard, heavy }: Weight): number {
  const both = standard + heavy;
  const forLite = Math.min(-standard, -both - GAP);
  const forHeavy = Math.min(heavy, both - GAP);
  if (forLite > 0) return Math.floor((34 * HALF) / (HALF + forLite));
  if (forHeavy >= 0) return 65 + Math.floor((35 * forHeavy) / (HALF + forHeavy));
  return 35 + Math.floor((29 * -forLite) / Math.max(1, -forLite - forHeavy));
}
