// Fits the router's weights to the labelled prompts, writes them to their file and the table of `docs/smart.md`, and
// says how such weights do on prompts of strangers that they were not fitted to. `--check` writes nothing and fails if
// the file would change.
import { readFileSync, writeFileSync } from 'node:fs';
import { findSignal, SIGNAL_NAMES, type SignalName } from '../lib/calls/smart/names.ts';
import { WEIGHT_STEP, type Weight } from '../lib/calls/smart/weights.ts';
import { readOptions } from './options.ts';
import { chooseTier, type Example, fitWeights, isWording, readExamples } from './smart-fit.ts';

const FILE = new URL('../lib/calls/smart/model/weights.txt', import.meta.url);
const DOCUMENT = new URL('../docs/smart.md', import.meta.url);
/** Smaller weights of wordings are left out. */
const WORDING_MIN = 184;
const FOLDS = 4;

const { check } = readOptions({ check: { type: 'boolean' } });
const examples = readExamples();
if (check) {
  if (formatWeights(fitWeights(examples)) !== readFileSync(FILE, 'utf8')) throw new Error('weights.txt is out of date');
} else {
  reportFolds();
  const weights = fitWeights(examples);
  writeFileSync(FILE, formatWeights(weights));
  documentSignals(weights);
}

/** How prompts of strangers are answered that the weights have not seen. */
function reportFolds(): void {
  const strangers = examples.filter((example) => example.stranger);
  const own = examples.filter((example) => !example.stranger);
  const isRight = ({ findings, accept }: Example, weights: ReadonlyMap<string, Weight>) =>
    accept.includes(chooseTier(findings, weights));
  const right = Array.from({ length: FOLDS }, (_, fold) => {
    const weights = fitWeights([...own, ...strangers.filter((_, index) => index % FOLDS !== fold)]);
    return strangers.filter((example, index) => index % FOLDS === fold && isRight(example, weights)).length;
  }).reduce((sum, count) => sum + count, 0);
  console.log(`prompts of strangers left out of the fit: right ${((100 * right) / strangers.length).toFixed(1)} %`);
}

function formatWeights(weights: ReadonlyMap<string, Weight>): string {
  const size = ({ standard, heavy }: Weight) => Math.abs(standard) + Math.abs(heavy);
  const lines = [...weights]
    .filter(([name, weight]) => size(weight) >= (isWording(name) ? WORDING_MIN : 1))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { standard, heavy }]) => `${toStep(standard)} ${toStep(heavy)} ${name}`)
    .filter((line) => !line.startsWith('0 0 '));
  console.log(`${lines.length} weights`);
  return `// Written by scripts/smart-train.ts: standard over lite, heavy over standard, of what is found in a request.\n${lines.join('\n')}\n`;
}

function toStep(weight: number): number {
  return Math.round(weight / WEIGHT_STEP) + 0;
}

/** Puts the strongest evidence of each signal into the documentation's table: name, weights, meaning. */
function documentSignals(weights: ReadonlyMap<string, Weight>): void {
  const most = new Map<SignalName, Weight>();
  const larger = (one: number, other: number) => (Math.abs(other) > Math.abs(one) ? other : one);
  for (const [name, { standard, heavy }] of weights) {
    if (name === 'base' || isWording(name)) continue;
    const before = most.get(findSignal(name)!) ?? { standard: 0, heavy: 0 };
    most.set(findSignal(name)!, {
      standard: larger(before.standard, standard),
      heavy: larger(before.heavy, heavy),
    });
  }
  const lines = readFileSync(DOCUMENT, 'utf8').split('\n');
  const documented = lines.map((line) => {
    const [signal = '', , meaning] = line.split(' | ');
    const name = SIGNAL_NAMES.find((one) => signal === `| \`${one}\``);
    if (name === undefined || name === 'wording') return line;
    const { standard, heavy } = most.get(name) ?? { standard: 0, heavy: 0 };
    return `${signal} | ${standard}, ${heavy} | ${meaning}`;
  });
  writeFileSync(DOCUMENT, documented.join('\n'));
}
