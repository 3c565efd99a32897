// `npm test`: the tests, and beside them what reads the code without running it, which uses the time that tests wait.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Below the tests, of which some are judged by the clock. */
const POLITE = 10;

const checks = spawn(process.execPath, [fileURLToPath(new URL('./checks.ts', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (checks.pid !== undefined) setPriority(checks.pid, POLITE);
let findings = '';
checks.stdout.setEncoding('utf8').on('data', (text: string) => {
  findings += text;
});
const tests = spawn('npm', ['run', '-s', 'test:all', '--', ...process.argv.slice(2)], { stdio: 'inherit' });

const [checked, tested] = await Promise.all([checks, tests].map(waitForEnd));
if (checked !== 0) console.log(`\nThe tests are above. Types, lint or tidy failed:\n\n${findings}`);
process.exitCode = checked === 0 && tested === 0 ? 0 : 1;

/** Resolves to its exit code, null after a signal. */
async function waitForEnd(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'close');
  return code;
}
