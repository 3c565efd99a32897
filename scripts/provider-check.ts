// Runs the contract suite on one plugin folder and prints what passed: `npm run provider:check -- <folder>`.
import { resolve } from 'node:path';
import { type Check, collectChecks } from '../test/contract/provider/check.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) fail('usage: npm run provider:check -- <folder of a plugin>');

const checks = await collectChecks(resolve(folder), { thorough: true }).catch((error: Error) => fail(error.message));
let failed = 0;
let group = '';
for (const check of checks) {
  if (check.group !== group) print(`\n${check.group}`);
  group = check.group;
  const reason = await run(check);
  if (reason !== undefined) failed += 1;
  print(reason === undefined ? `  ✓ ${check.name}` : `  ✗ ${check.name}\n      ${reason}`);
}
print(`\n${checks.length} checks, ${failed === 0 ? 'all passed' : `${failed} failed`}`);
process.exitCode = failed === 0 ? 0 : 1;

/** The reason of a failure, indented; undefined when the check passed. */
async function run(check: Check): Promise<string | undefined> {
  try {
    await check.run();
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim().replaceAll('\n', '\n      ');
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
