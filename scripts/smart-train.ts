// Fits the weights of the router's evidence to the labelled prompts, writes them to their file, and says how they do.
import { readFileSync, writeFileSync } from 'node:fs';
import { SMART_TIERS, type SmartTier } from '../lib/base/smart-tiers.ts';
import { findSignal, SIGNAL_NAMES, type SignalName } from '../lib/calls/smart/names.ts';
import { readEvidence, SMART_BASE, SMART_THRESHOLDS } from '../lib/calls/smart/route.ts';
import { type Labelled, readSet, USED } from '../test/calls/smart/prompts.ts';

/** The number of points over which one tier turns into the next. */
const SOFTNESS = 5;
/** The cost of moving a weight by ten points, counted in prompts. */
const STIFFNESS = 0.25;
/** Rarer evidence is left out: nothing can be learnt from it. */
const SEEN_MIN = 4;
const POINTS_MIN = 1.5;
const STEPS = 900;
const RATE = 0.8;
const FOLDS = 5;
const LINE_MAX = 120;

interface Example {
  readonly evidence: readonly string[];
  readonly accept: readonly SmartTier[];
  readonly tier: SmartTier;
}

type Weights = ReadonlyMap<string, number>;

const prompts: readonly Labelled[] = USED.flatMap(readSet);
const examples = prompts.map(
  ({ request, accept, tier }): Example => ({ evidence: [...readEvidence(request)], accept, tier }),
);
reportFolds();
const weights = fitPoints(examples);
writeWeights(new URL('../lib/calls/smart/weights.json', import.meta.url));
documentSignals(new URL('../docs/smart.md', import.meta.url));

/** How prompts are answered that the weights have not seen, though words and rules have. */
function reportFolds(): void {
  let right = 0;
  let swaps = 0;
  for (let fold = 0; fold < FOLDS; fold++) {
    const fitted = fitPoints(examples.filter((_, index) => index % FOLDS !== fold));
    for (const example of examples.filter((_, index) => index % FOLDS === fold)) {
      const tier = chooseTier(example, fitted);
      if (example.accept.includes(tier)) right++;
      else if (Math.abs(SMART_TIERS.indexOf(tier) - SMART_TIERS.indexOf(example.tier)) === 2) swaps++;
    }
  }
  const percent = (part: number) => `${((100 * part) / examples.length).toFixed(1)} %`;
  console.log(`prompts left out of the fit: right ${percent(right)}, lite <-> heavy ${percent(swaps)}`);
}

function chooseTier(example: Example, fitted: Weights): SmartTier {
  const score = example.evidence.reduce((sum, name) => sum + (fitted.get(name) ?? 0), SMART_BASE);
  if (score >= SMART_THRESHOLDS.heavy) return 'heavy';
  return score >= SMART_THRESHOLDS.standard ? 'standard' : 'lite';
}

/** Gradient descent (Adam) on the likelihood of the accepted tiers. */
function fitPoints(all: readonly Example[]): Weights {
  const seen = new Map<string, number>();
  for (const { evidence } of all) for (const name of evidence) seen.set(name, (seen.get(name) ?? 0) + 1);
  const names = [...seen].filter(([, count]) => count >= SEEN_MIN).map(([name]) => name);
  const places = new Map(names.map((name, at) => [name, at]));
  const rows = all.map(({ evidence }) => evidence.flatMap((name) => places.get(name) ?? []));
  const points = new Float64Array(names.length);
  const first = new Float64Array(names.length);
  const second = new Float64Array(names.length);
  for (let step = 1; step <= STEPS; step++) {
    const slopes = points.map((value) => (2 * STIFFNESS * value) / 100);
    for (const [index, row] of rows.entries()) {
      const slope = computeSlope(
        row.reduce((sum, at) => sum + points[at]!, SMART_BASE),
        all[index]!.accept,
      );
      for (const at of row) slopes[at]! += slope;
    }
    const rate = RATE * (1 - step / (STEPS + 1));
    for (let at = 0; at < names.length; at++) {
      first[at] = 0.9 * first[at]! + 0.1 * slopes[at]!;
      second[at] = 0.99 * second[at]! + 0.01 * slopes[at]! ** 2;
      const mean = first[at]! / (1 - 0.9 ** step);
      const spread = second[at]! / (1 - 0.99 ** step);
      points[at]! -= (rate * mean) / (Math.sqrt(spread) + 1e-9);
    }
  }
  return new Map(names.map((name, at) => [name, points[at]!]));
}

/** The gradient of the negative log-likelihood that the score falls into an accepted tier. */
function computeSlope(score: number, accept: readonly SmartTier[]): number {
  const overStandard = 1 / (1 + Math.exp((SMART_THRESHOLDS.standard - score) / SOFTNESS));
  const overHeavy = 1 / (1 + Math.exp((SMART_THRESHOLDS.heavy - score) / SOFTNESS));
  const risesStandard = (overStandard * (1 - overStandard)) / SOFTNESS;
  const risesHeavy = (overHeavy * (1 - overHeavy)) / SOFTNESS;
  const chances = { lite: 1 - overStandard, standard: overStandard - overHeavy, heavy: overHeavy };
  const rises = { lite: -risesStandard, standard: risesStandard - risesHeavy, heavy: risesHeavy };
  const chance = accept.reduce((sum, tier) => sum + chances[tier], 0);
  return -accept.reduce((sum, tier) => sum + rises[tier], 0) / Math.max(chance, 1e-9);
}

/** As few lines as the width allows: nobody reads hundreds of numbers in a column. */
function writeWeights(file: URL): void {
  const pairs = [...weights]
    .map(([name, points]): [string, number] => [name, Math.round(points * 10) / 10])
    .filter(([, points]) => Math.abs(points) >= POINTS_MIN)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const lines = [''];
  for (const [index, [name, points]] of pairs.entries()) {
    const pair = `"${name}": ${points}${index === pairs.length - 1 ? '' : ','}`;
    const line = lines.at(-1)!;
    if (line.length + pair.length >= LINE_MAX) lines.push(`  ${pair}`);
    else lines[lines.length - 1] = line === '' ? `  ${pair}` : `${line} ${pair}`;
  }
  writeFileSync(file, `{\n${lines.join('\n')}\n}\n`);
  console.log(`${pairs.length} weights`);
}

/** Puts the strongest evidence of each signal into the documentation's table: name, points, meaning. */
function documentSignals(file: URL): void {
  const strongest = new Map<SignalName, number>();
  for (const [name, points] of weights) {
    const signal = findSignal(name);
    if (Math.abs(points) > Math.abs(strongest.get(signal) ?? 0)) strongest.set(signal, Math.round(points * 10) / 10);
  }
  const lines = readFileSync(file, 'utf8').split('\n');
  const documented = lines.map((line) => {
    const [signal = '', , meaning] = line.split(' | ');
    const name = SIGNAL_NAMES.find((one) => signal === `| \`${one}\``);
    return name === undefined ? line : `${signal} | ${strongest.get(name) ?? 0} | ${meaning}`;
  });
  writeFileSync(file, documented.join('\n'));
}
