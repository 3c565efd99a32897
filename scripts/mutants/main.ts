// `npm run mutants`: do the tests notice mistakes? Makes one small mistake at a time in a copy of the checkout and runs
// the nearest tests first. Exits with 1 if fewer than 90 % are noticed. Mistakes are drawn, or come from a list: a JSON
// array of `{ "path", "before", "after" }`, where `before` is a text that the file has once.
import { readOptions } from '../options.ts';
import { createCheckout, type Outcome } from './checkout.ts';
import { drawLots, type Mutant } from './draw.ts';
import { readList } from './list.ts';
import { testsFor } from './tests.ts';

const SHARE_MIN = 0.9;

const values = readOptions({
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  count: { type: 'string', default: '60' },
  only: { type: 'string' },
  list: { type: 'string' },
  /** Copies that work side by side. */
  jobs: { type: 'string', default: '1' },
  /** Seconds for a step of up to eight files of tests. */
  limit: { type: 'string', default: '240' },
  /** Files of tests for one mutant, besides those of its own folder. */
  tests: { type: 'string', default: '40' },
  /** Shows the mutants without running tests. */
  dry: { type: 'boolean', default: false },
});

const lots = values.list ? readList(values.list) : drawLots(Number(values.seed), Number(values.count), values.only);
const title = values.list ?? `seed ${values.seed}`;
console.log(`${title}, ${lots.length} mutants`);
if (values.dry) {
  for (const lot of lots) {
    const [mutant] = lot;
    if (mutant) console.log(describe(mutant));
  }
} else process.exitCode = (await campaign()) ? 0 : 1;

async function campaign(): Promise<boolean> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(2));
  const counts = { killed: 0, timeout: 0, survived: 0, broken: 0 };
  const survivors: string[] = [];
  const waiting = [...lots];
  const work = async () => {
    const checkout = createCheckout(Number(values.limit) * 1000);
    process.once('exit', checkout.remove);
    try {
      for (let lot = waiting.shift(); lot !== undefined; lot = waiting.shift()) {
        for (const mutant of lot) {
          const steps = testsFor(mutant.path, Number(values.tests), mutant.before);
          const outcome = await checkout.judge(mutant, steps);
          counts[outcome] += 1;
          if (outcome === 'broken') continue;
          report(outcome, mutant);
          if (outcome === 'survived') survivors.push(describe(mutant));
          break;
        }
      }
    } finally {
      checkout.remove();
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  const noticed = counts.killed + counts.timeout;
  const total = noticed + counts.survived;
  if (survivors.length > 0) console.log(`\nsurvivors:\n${survivors.join('\n')}`);
  console.log(
    `\n${title}: ${noticed} of ${total} noticed (${((100 * noticed) / total).toFixed(1)} %), ` +
      `${counts.timeout} by timeout; ${counts.broken} did not compile`,
  );
  return noticed >= SHARE_MIN * total;
}

function report(outcome: Outcome, mutant: Mutant): void {
  console.log(`${outcome.padEnd(8)} ${describe(mutant)}`);
}

function describe({ path, line, kind, before, after }: Mutant): string {
  return `${path}:${line} ${kind}\n         - ${before}\n         + ${after}`;
}
