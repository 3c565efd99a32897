// `npm run mutants`: do the tests notice mistakes? Makes one small mistake at a time in a copy of the checkout and runs
// the nearest tests first. Exits with 1 if fewer than 90 % are noticed. Mistakes are drawn, or come from a list: a JSON
// array of `{ "path", "before", "after" }`, where `before` is a text that the file has once.
import { readOptions } from '../options.ts';
import { type Checkout, createCheckout } from './checkout.ts';
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
  /** Takes the word of tests that are loaded once for all mutants, and does not run others for what they overlook. */
  quick: { type: 'boolean', default: false },
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
  const checkouts = Array.from({ length: Number(values.jobs) }, () => createCheckout(Number(values.limit) * 1000));
  const removeAll = () => {
    for (const { remove } of checkouts) remove();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(2));
  process.once('exit', removeAll);
  const mutants = takeCompiling(checkouts[0] as Checkout);
  const judgeAll = async (all: readonly Mutant[], way: 'loaded' | 'apart') => {
    const waiting = [...all];
    const survivors: Mutant[] = [];
    const work = async (checkout: Checkout) => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const steps = testsFor(mutant.path, Number(values.tests), mutant.before);
        const outcome = await checkout[way].judge(mutant, steps);
        console.log(`${outcome.padEnd(8)} ${describe(mutant)}`);
        if (outcome === 'survived') survivors.push(mutant);
      }
    };
    await Promise.all(checkouts.map(work));
    return survivors;
  };
  let survivors = await judgeAll(mutants, 'loaded');
  if (!values.quick && survivors.length > 0) {
    console.log(`\nagain, in processes of their own: ${survivors.length}`);
    survivors = await judgeAll(survivors, 'apart');
  }
  // The processes that have the tests loaded would keep this one.
  removeAll();
  return summarize(mutants, survivors);
}

/** Of each lot the first mutant that compiles. */
function takeCompiling({ findBroken }: Checkout): readonly Mutant[] {
  const taken: Mutant[] = [];
  let broken = 0;
  let open = lots.map((lot) => lot[Symbol.iterator]());
  while (open.length > 0) {
    const drawn = open.flatMap((lot) => {
      const { value, done } = lot.next();
      return done || value === undefined ? [] : [{ lot, mutant: value }];
    });
    const wrong = findBroken(drawn.map(({ mutant }) => mutant));
    taken.push(...drawn.map(({ mutant }) => mutant).filter((mutant) => !wrong.includes(mutant)));
    open = drawn.filter(({ mutant }) => wrong.includes(mutant)).map(({ lot }) => lot);
    broken += open.length;
  }
  console.log(`${broken} others do not compile`);
  return taken;
}

function summarize(mutants: readonly Mutant[], survivors: readonly Mutant[]): boolean {
  if (survivors.length > 0) console.log(`\nunnoticed:\n${survivors.map(describe).join('\n')}`);
  console.log();
  for (const [room, drawn = []] of Object.entries(Object.groupBy(mutants, ({ path }) => nameRoom(path)))) {
    const missed = drawn.filter((mutant) => survivors.includes(mutant)).length;
    console.log(`${room.padEnd(20)} ${drawn.length - missed} of ${drawn.length}`);
  }
  const noticed = mutants.length - survivors.length;
  const share = ((100 * noticed) / mutants.length).toFixed(1);
  console.log(`\n${title}: ${noticed} of ${mutants.length} noticed (${share} %)`);
  return noticed >= SHARE_MIN * mutants.length;
}

function nameRoom(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

function describe({ path, line, kind, before, after }: Mutant): string {
  return `${path}:${line} ${kind}\n         - ${before}\n         + ${after}`;
}
