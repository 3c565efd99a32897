// Prints how often the router is right on the labelled prompts: by tier, by language, and which tiers it confuses.
// `--misses=SET` or `--misses=all` shows where it is wrong; `--pin` notes how each prompt is routed, for the tests.

import type { SmartTier } from '../lib/base/smart-tiers.ts';
import { type Judgement, judge } from '../test/calls/smart/judgement.ts';
import { GUARD, HELD, LATER_HELD, type Labelled, readSet, USED } from '../test/calls/smart/prompts.ts';
import { pinRoutings } from '../test/calls/smart/routings.ts';
import { readOptions } from './options.ts';

const TIERS: readonly SmartTier[] = ['lite', 'standard', 'heavy'];
const SETS: readonly [string, () => readonly Labelled[]][] = [
  [HELD, () => readSet(HELD)],
  [GUARD, () => readSet(GUARD)],
  [LATER_HELD.join(' and '), () => LATER_HELD.flatMap(readSet)],
  ['all used sets', () => USED.flatMap(readSet)],
  ...USED.map((name): [string, () => readonly Labelled[]] => [name, () => readSet(name)]),
];

const { misses: missesWanted, pin } = readOptions({ misses: { type: 'string' }, pin: { type: 'boolean' } });

for (const [name, read] of SETS) {
  const judgement = judge(read());
  print(name, judgement);
  if (missesWanted === 'all' || missesWanted === name) printMisses(judgement);
}

if (pin) pinRoutings();

function print(name: string, judgement: Judgement): void {
  console.log(
    `\n${name}: ${judgement.total} prompts, right ${percent(judgement.right, judgement.total)}, lite <-> heavy ${judgement.swaps}`,
  );
  for (const lang of ['en', 'ru'] as const) {
    const cells = TIERS.map((tier) => {
      const some = judgement.rows.filter((row) => row.prompt.lang === lang && row.prompt.tier === tier);
      return `${tier} ${percent(some.filter((row) => row.right).length, some.length)}`;
    });
    const all = judgement.rows.filter((row) => row.prompt.lang === lang);
    console.log(`  ${lang}  ${percent(all.filter((row) => row.right).length, all.length)}   ${cells.join('   ')}`);
  }
  console.log(
    `  label \\ answer ${TIERS.map((tier) => tier.padStart(9)).join('')}   (a tier that is accepted counts as the label)`,
  );
  for (const label of TIERS) {
    console.log(
      `  ${label.padEnd(14)} ${TIERS.map((tier) => String(judgement.confusion[label][tier]).padStart(9)).join('')}`,
    );
  }
}

function printMisses(judgement: Judgement): void {
  for (const { prompt, routing, right } of judgement.rows) {
    if (right) continue;
    const text = prompt.request.messages.map((message) => message.content[0]?.text ?? '').join(' ⏎ ');
    console.log(
      `  ${prompt.id} ${prompt.tier} -> ${routing.tier} ${routing.score} [${routing.signals.join(' ')}] ${text.slice(0, 150).replaceAll('\n', '⏎')}`,
    );
  }
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;
}
