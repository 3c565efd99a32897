// Fits the weights of the router's findings: one layer with two outputs, `standard` over `lite` and `heavy` over
// `standard`, by stochastic gradient descent (AdaGrad) on the likelihood of the accepted tiers.
import { SMART_TIERS, type SmartTier } from '../lib/base/smart-tiers.ts';
import type { Findings } from '../lib/calls/smart/evidence.ts';
import { findDirection, findSignal } from '../lib/calls/smart/names.ts';
import { readFindings, TURNS, VOLUMES } from '../lib/calls/smart/request.ts';
import { computeScore, SMART_THRESHOLDS, shareWeight, WEIGHT_UNIT, type Weight } from '../lib/calls/smart/weights.ts';
import { type Labelled, readSet, type SetName, STRANGERS, USED } from '../test/calls/smart/prompts.ts';

export interface Example {
  readonly findings: Findings;
  readonly accept: readonly SmartTier[];
  readonly prompt: Labelled;
  readonly stranger: boolean;
  /** How many prompts it counts for. */
  readonly times: number;
}

/** What strangers wrote, and the last in their manner, counts for more than what the router's authors had in mind. */
const STRANGE: readonly SetName[] = [...STRANGERS, 'manner'];
const STRANGE_TIMES = 4;

/** Rarer findings are left out: nothing can be learnt from them. */
const SEEN_MIN = 2;
/** Each starts a row of random numbers. */
const ORDERS = [1, 2, 3];
const ROUNDS = 12;
/** The weights are the mean of those after the last rounds. */
const MEAN_ROUNDS = 4;
const RATE = 0.3;
const BASE_RATE = 0.02;
const SHRINKING = 1e-3;
/** Without it, `lite` would be right more rarely than the other tiers; it costs them as little as it gains. */
const FOR_LITE = 48;
const EVIDENCE_SHARE = 0.2;

/** What the specification says raises the score does, however little the prompts say about it. */
const LEAST: Readonly<Record<string, number>> = {
  'json.field': 0.3,
  'json.ask': 0.1,
  turns: 0.15,
  volume: 0.15,
  length: 0.05,
};

/** Hardly any labelled prompt has them. */
const UNSEEN = ['json.field', ...TURNS.map((least) => `turns.${least}`), ...VOLUMES.map((least) => `volume.${least}`)];

interface Row {
  /** Places of weights, two each. */
  readonly places: Int32Array;
  /** By how much each weight counts. */
  readonly shares: Float64Array;
  readonly accept: readonly boolean[];
  readonly times: number;
}

/** The used prompts; the tiers of earlier messages come from a fit to the prompts without any. */
export function readExamples(): Example[] {
  const prompts = USED.flatMap((name) =>
    readSet(name).map((prompt) => ({
      prompt,
      stranger: STRANGERS.some((each) => each === name),
      times: STRANGE.includes(name) ? STRANGE_TIMES : 1,
    })),
  );
  const read = (judgeTier: (findings: Findings) => SmartTier) =>
    prompts.map((one): Example => {
      const { request, accept } = one.prompt;
      return { ...one, findings: readFindings(request, judgeTier), accept };
    });
  const first = fitWeights(read(() => 'standard').filter(({ prompt }) => prompt.request.messages.length === 1));
  return read((findings) => chooseTier(findings, first));
}

/** As the router does by the weights in its file. */
export function chooseTier({ evidence, wordings }: Findings, weights: ReadonlyMap<string, Weight>): SmartTier {
  const sum = (names: Iterable<string>, side: keyof Weight) =>
    [...names].reduce((total, name) => total + (weights.get(name)?.[side] ?? 0), 0);
  const [standard, heavy] = (['standard', 'heavy'] as const).map(
    (side) => weights.get('base')![side] + sum(evidence, side) + shareWeight(sum(wordings, side), wordings.length),
  ) as [number, number];
  const score = computeScore({ standard, heavy });
  if (score >= SMART_THRESHOLDS.heavy) return 'heavy';
  return score >= SMART_THRESHOLDS.standard ? 'standard' : 'lite';
}

/** The mean of several fits, each with the examples in another order: by itself, the order moves 1 answer of 200. */
export function fitWeights(examples: readonly Example[]): Map<string, Weight> {
  const fits = ORDERS.map((seed) => fitOnce(examples, seed));
  const mean = (name: string, side: keyof Weight) =>
    Math.round(fits.reduce((sum, fit) => sum + fit.get(name)![side], 0) / fits.length);
  return new Map(
    [...fits[0]!.keys()].map((name) => [name, { standard: mean(name, 'standard'), heavy: mean(name, 'heavy') }]),
  );
}

function fitOnce(examples: readonly Example[], seed: number): Map<string, Weight> {
  const names = listSeen(examples);
  const places = new Map(names.map((name, index) => [name, index]));
  const limits = names.map(limitWeight);
  const rows = examples.map((example) => toRow(example, places));
  const weights = Float64Array.from({ length: 2 * names.length }, (_, at) => Math.max(0, limits[at >> 1]!.least));
  const slopes = new Float64Array(weights.length).fill(1e-8);
  const sums = new Float64Array(weights.length + 2);
  const base = [0, 0];
  const random = makeRandom(seed);
  const order = rows.map((_, index) => index);
  for (let round = 1; round <= ROUNDS; round++) {
    shuffle(order, random);
    for (const index of order) {
      const row = rows[index]!;
      const gradient = computeGradient(row, weights, base);
      for (let side = 0; side < 2; side++) base[side]! -= BASE_RATE * gradient[side]!;
      for (let nth = 0; nth < row.places.length; nth++) {
        const place = row.places[nth]!;
        for (let side = 0; side < 2; side++) {
          const at = 2 * place + side;
          const slope = gradient[side]! * row.shares[nth]! + SHRINKING * weights[at]!;
          slopes[at]! += slope * slope;
          const moved = weights[at]! - (RATE * slope) / Math.sqrt(slopes[at]!);
          weights[at] = Math.min(limits[place]!.most, Math.max(limits[place]!.least, moved));
        }
      }
    }
    if (round > ROUNDS - MEAN_ROUNDS) for (const [at, weight] of [...weights, ...base].entries()) sums[at]! += weight;
  }
  const means = sums.map((sum) => sum / MEAN_ROUNDS);
  const fitted = new Map<string, Weight>();
  const put = (name: string, at: number, share: number) =>
    fitted.set(name, {
      standard: Math.round(means[at]! * share * WEIGHT_UNIT),
      heavy: Math.round(means[at + 1]! * share * WEIGHT_UNIT),
    });
  put('base', weights.length, 1);
  const { standard, heavy } = fitted.get('base')!;
  fitted.set('base', { standard: standard - FOR_LITE, heavy });
  for (const [index, name] of names.entries()) put(name, 2 * index, isWording(name) ? 1 : EVIDENCE_SHARE);
  return fitted;
}

export function isWording(name: string): boolean {
  return name.startsWith('=');
}

function listSeen(examples: readonly Example[]): string[] {
  const seen = new Map<string, number>();
  for (const { findings } of examples) {
    for (const name of [...findings.evidence, ...findings.wordings]) seen.set(name, (seen.get(name) ?? 0) + 1);
  }
  for (const name of UNSEEN) seen.set(name, SEEN_MIN);
  return [...seen].filter(([, count]) => count >= SEEN_MIN).map(([name]) => name);
}

interface Limits {
  readonly least: number;
  readonly most: number;
}

function limitWeight(name: string): Limits {
  const direction = isWording(name) ? 0 : findDirection(findSignal(name));
  const least = (LEAST[name] ?? LEAST[name.split('.')[0]!] ?? 0) / EVIDENCE_SHARE;
  if (direction > 0) return { least, most: Number.POSITIVE_INFINITY };
  return { least: Number.NEGATIVE_INFINITY, most: direction < 0 ? 0 : Number.POSITIVE_INFINITY };
}

function toRow({ findings: { evidence, wordings }, accept, times }: Example, places: ReadonlyMap<string, number>): Row {
  const share = 1 / Math.sqrt(1 + wordings.length);
  const known = [...evidence, ...wordings].filter((name) => places.has(name));
  return {
    places: Int32Array.from(known, (name) => places.get(name)!),
    shares: Float64Array.from(known, (name) => (isWording(name) ? share : EVIDENCE_SHARE)),
    accept: SMART_TIERS.map((tier) => accept.includes(tier)),
    times,
  };
}

/** Of the negative log-likelihood that the tier is an accepted one, by the two outputs. */
function computeGradient({ places, shares, accept, times }: Row, weights: Float64Array, base: number[]): number[] {
  let [standard, heavy] = base as [number, number];
  for (let nth = 0; nth < places.length; nth++) {
    standard += weights[2 * places[nth]!]! * shares[nth]!;
    heavy += weights[2 * places[nth]! + 1]! * shares[nth]!;
  }
  const most = Math.max(0, standard, standard + heavy);
  const powers = [0, standard, standard + heavy].map((power) => Math.exp(power - most));
  const total = powers[0]! + powers[1]! + powers[2]!;
  const chances = powers.map((power) => power / total);
  const accepted = chances.reduce((sum, chance, tier) => sum + (accept[tier] ? chance : 0), 1e-12);
  const slopes = chances.map((chance, tier) => times * (chance - (accept[tier] ? chance / accepted : 0)));
  return [slopes[1]! + slopes[2]!, slopes[2]!];
}

function shuffle(order: number[], random: () => number): void {
  for (let index = order.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [order[index], order[other]] = [order[other]!, order[index]!];
  }
}

/** The same numbers on each run. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}
