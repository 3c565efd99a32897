// `npm run test:slow`: what takes minutes and is not needed for every change, step by step. Names as arguments run only
// those. The last line has the totals: a step that counts its own tests adds them, any other counts as one.
import { type ChildProcess, spawn } from 'node:child_process';

interface Step {
  readonly name: string;
  /** After `npm run -s`. */
  readonly command: readonly string[];
}

interface Totals {
  readonly passed: number;
  readonly failed: number;
}

/** More than any takes on a busy or slow machine: the long tests took half an hour on one. */
const STEP_MS_MAX = 3_000_000;

const STEPS: readonly Step[] = [
  { name: 'long', command: ['test:long'] },
  { name: 'mongodb', command: ['test:mongodb'] },
  { name: 'tests', command: ['test:slow:mocha'] },
  { name: 'failover', command: ['test:failover'] },
  { name: 'crash-sqlite', command: ['crash', '--', '--rounds', '20'] },
  { name: 'crash-mongodb', command: ['crash', '--', '--rounds', '20', '--store', 'mongodb'] },
  { name: 'faults', command: ['faults', '--', '--minutes', '1'] },
  { name: 'agents', command: ['agents'] },
  { name: 'siege', command: ['siege', '--', '--short'] },
  { name: 'topology', command: ['topology'] },
];

const usage = `usage: npm run test:slow -- [${STEPS.map(({ name }) => name).join('|')}]...\n`;
const wanted = process.argv.slice(2);
if (wanted.includes('--help')) {
  process.stdout.write(usage);
  process.exit(0);
}
const unknown = wanted.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) {
  process.stderr.write(usage);
  process.exit(2);
}

let [passed, failed] = [0, 0];
const lines: string[] = [];
for (const step of STEPS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`\n== ${step.name}`);
  const startedAt = performance.now();
  const totals = await run(step);
  passed += totals.passed;
  failed += totals.failed;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  lines.push(`${totals.failed === 0 ? 'ok    ' : 'FAILED'} ${step.name}, ${seconds} s`);
}
console.log(`\n${lines.join('\n')}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Each step has its own process group, which key presses in the terminal do not reach. */
function endGroup(child: ChildProcess): void {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
}

/** Runs one step and passes on its output; on a timeout it is killed with everything it started. */
function run({ command }: Step): Promise<Totals> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '-s', ...command], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    let tail = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text);
      tail = (tail + text).slice(-1000);
    });
    const onSignal = () => {
      endGroup(child);
      process.exit(1);
    };
    process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
    const timer = setTimeout(() => {
      console.log(`it took more than ${STEP_MS_MAX / 1000} s`);
      endGroup(child);
    }, STEP_MS_MAX);
    child.on('error', reject).on('close', (code) => {
      clearTimeout(timer);
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
      resolve(readTotals(tail, code));
    });
  });
}

/** A step that exits with an error has failed, whatever it counted. */
function readTotals(output: string, code: number | null): Totals {
  const [, passed = '0', failed = '0'] = /^(\d+) passed, (\d+) failed.*\s*$/m.exec(output) ?? [];
  const counted = { passed: Number(passed), failed: Number(failed) };
  if (code !== 0) return { ...counted, failed: Math.max(1, counted.failed) };
  return counted.passed + counted.failed > 0 ? counted : { passed: 1, failed: 0 };
}
