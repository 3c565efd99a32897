// `npm test`: the tests, and beside them what reads the code without running it, which uses the time that tests wait.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Below the tests, of which some are judged by the clock. */
const POLITE = 10;

/** Some wait for most of their time, which others use. */
const WORKERS = 6;
/** Those of one folder are alike, some at work and some at waiting: past the heavy ones all folders take turns. */
const HEAVY = 'browser|contract|store|upstream';
const FILES = [
  `test/{${HEAVY.replaceAll('|', ',')}}/**/*.test.ts`,
  'test/*.test.ts',
  ...['[a-d]', '[e-l]', '[m-p]', '[!a-p]'].map((first) => `test/!(${HEAVY})/**/${first}*.test.ts`),
];

const checks = spawn(process.execPath, [fileURLToPath(new URL('./checks.ts', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (checks.pid !== undefined) setPriority(checks.pid, POLITE);
let findings = '';
checks.stdout.setEncoding('utf8').on('data', (text: string) => {
  findings += text;
});
const options = ['--parallel', '--jobs', String(WORKERS), ...process.argv.slice(2)];
const tests = spawn('mocha', [...options, ...FILES], { stdio: 'inherit' });

const [checked, tested] = await Promise.all([checks, tests].map(waitForEnd));
if (checked !== 0) console.log(`\nThe tests are above. Types, lint or tidy failed:\n\n${findings}`);
process.exitCode = checked === 0 && tested === 0 ? 0 : 1;

/** Resolves to its exit code, null after a signal. */
async function waitForEnd(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'close');
  return code;
}
