// What `npm test` finds by reading the code without running it, side by side; each one's output stays together.
import { spawn } from 'node:child_process';

const CHECKS = ['types', 'lint', 'tidy'];

const codes = await Promise.all(CHECKS.map(run));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;

/** A script of the manifest. Resolves with its exit code. */
function run(script: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--run', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject).on('close', (code) => {
      process.stdout.write(output);
      resolve(code);
    });
  });
}
