// Trains the weights of the router's signals on the tuning half of the development set and writes them to their file.
import { readFileSync, writeFileSync } from 'node:fs';
import { SIGNAL_NAMES, type SignalName, type Strengths } from '../lib/text/smart/names.ts';
import { readSignals, SMART_BASE, SMART_THRESHOLDS, type SmartTier } from '../lib/text/smart.ts';
import { readTuningHalf } from '../test/smart/prompts.ts';

/** What each signal is worth by judgement; data moves a weight as far as it has to, never past zero, and leaves zeros. */
const PRIORS: Readonly<Record<SignalName, number>> = {
  short: -4,
  greeting: -40,
  fragment: -22,
  translate: -32,
  fix: -30,
  shorten: -28,
  rewrite: -24,
  summarize: -4,
  classify: -28,
  extract: -28,
  convert: -28,
  lookup: -30,
  given_text: -22,
  fact: -26,
  define: -13,
  closed: -23,
  choice: -20,
  arithmetic: -34,
  list: -20,
  brief: -14,
  small_output: -18,
  simple: -2,
  compose: 1,
  ideas: 1,
  explain: 3,
  advice: 3,
  plan: 2,
  roleplay: 3,
  compare: 4,
  chat: 0,
  code: 34,
  debug: 32,
  review: 34,
  code_topic: 12,
  code_input: 8,
  math: 25,
  proof: 32,
  word_problem: 14,
  logic: 26,
  reasoning: 12,
  analysis: 15,
  criteria: 14,
  strategy: 13,
  design: 24,
  expert: 11,
  long_form: 6,
  long_output: 36,
  detailed: 8,
  many_parts: 11,
  json: 2,
  long_input: 4,
  dialog: 3,
  follow_up: 1,
};

/** Points over which a tier turns into the next. */
const SOFTNESS = 4;
/** How dear it is to move a weight by ten points, counted in prompts. */
const STIFFNESS = 1.5;
const STEPS = 4000;
const RATE = 0.6;

interface Example {
  readonly strengths: Strengths;
  readonly accept: readonly SmartTier[];
}

const examples: Example[] = readTuningHalf().map(({ request, accept }) => ({
  strengths: readSignals(request),
  accept,
}));
const weights = new Map<SignalName, number>(SIGNAL_NAMES.map((name) => [name, PRIORS[name]]));
for (let step = 0; step < STEPS; step++) descend(RATE * (1 - step / STEPS));

const rounded: Record<string, number> = Object.fromEntries(
  SIGNAL_NAMES.map((name) => [name, Math.round(weights.get(name)! * 10) / 10]),
);
writeFileSync(new URL('../lib/text/smart-weights.json', import.meta.url), `${JSON.stringify(rounded, undefined, 2)}\n`);
documentWeights(new URL('../docs/smart.md', import.meta.url));
for (const name of SIGNAL_NAMES)
  console.log(`${name.padEnd(14)} ${String(PRIORS[name]).padStart(6)} -> ${rounded[name]}`);

/** Puts the weights into the table of signals, whose rows are name, weight and meaning. */
function documentWeights(file: URL): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  const documented = lines.map((line) => {
    const [signal, , meaning] = line.split(' | ');
    const weight = rounded[signal?.slice(3, -1) ?? ''];
    return weight === undefined ? line : `${signal} | ${weight} | ${meaning}`;
  });
  writeFileSync(file, documented.join('\n'));
}

function descend(rate: number): void {
  const slopes = new Map<SignalName, number>(
    SIGNAL_NAMES.map((name) => [name, (2 * STIFFNESS * (weights.get(name)! - PRIORS[name])) / 100]),
  );
  for (const { strengths, accept } of examples) {
    const slope = slopeOf(scoreOf(strengths), accept);
    for (const [name, strength] of strengths) slopes.set(name, slopes.get(name)! + slope * strength);
  }
  for (const [name, slope] of slopes) {
    const prior = PRIORS[name];
    if (prior === 0) continue;
    const moved = weights.get(name)! - rate * slope;
    weights.set(name, moved * prior > 0 ? moved : Math.sign(prior) * 0.1);
  }
}

function scoreOf(strengths: Strengths): number {
  let score = SMART_BASE;
  for (const [name, strength] of strengths) score += weights.get(name)! * strength;
  return score;
}

/** The slope of minus the logarithm of the chance that the score falls into an accepted tier. */
function slopeOf(score: number, accept: readonly SmartTier[]): number {
  const overStandard = logistic((score - SMART_THRESHOLDS.standard) / SOFTNESS);
  const overHeavy = logistic((score - SMART_THRESHOLDS.heavy) / SOFTNESS);
  const slopeStandard = (overStandard * (1 - overStandard)) / SOFTNESS;
  const slopeHeavy = (overHeavy * (1 - overHeavy)) / SOFTNESS;
  let chance = 0;
  let slope = 0;
  if (accept.includes('lite')) {
    chance += 1 - overStandard;
    slope -= slopeStandard;
  }
  if (accept.includes('standard')) {
    chance += overStandard - overHeavy;
    slope += slopeStandard - slopeHeavy;
  }
  if (accept.includes('heavy')) {
    chance += overHeavy;
    slope += slopeHeavy;
  }
  return -slope / Math.max(chance, 1e-9);
}

function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
