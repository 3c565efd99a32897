// The commands that run a contract suite on a plugin's folder and report each check as it ends.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { pluralize } from '../base/pluralize.ts';
import type { Check } from '../upstream/check/subject.ts';
import { type Answer, print } from './output.ts';

interface CheckCommand {
  readonly description: string;
  readonly example: string;
  /** The checks of a folder. */
  readonly collect: (folder: string) => Promise<readonly Check[]>;
}

export function addCheckCommand(parent: Command, { description, example, collect }: CheckCommand): void {
  parent
    .command('check')
    .description(description)
    .argument('<folder>', 'the folder of the plugin, with its index and its fixtures')
    .addHelpText('after', `\nExample:\n  ${example}`)
    .action(async function act(this: Command, folder: string): Promise<void> {
      const json = this.optsWithGlobals().json === true;
      print(await runAll(await collect(resolve(folder)), json ? () => {} : say), { json });
    });
}

interface Failure {
  readonly group: string;
  readonly check: string;
  readonly reason: string;
}

/** Prints each check as it ends, because a run takes a while. */
async function runAll(checks: readonly Check[], tell: (line: string) => void): Promise<Answer> {
  const failures: Failure[] = [];
  const unchecked: Failure[] = [];
  let group = '';
  for (const each of checks) {
    if (each.group !== group) tell(`\n${each.group}`);
    group = each.group;
    if (each.unchecked !== undefined) {
      unchecked.push({ group, check: each.name, reason: each.unchecked });
      tell(`  – ${each.name}\n      not checked: ${each.unchecked}`);
      continue;
    }
    const reason = await run(each);
    if (reason !== undefined) failures.push({ group, check: each.name, reason });
    tell(reason === undefined ? `  ✓ ${each.name}` : `  ✗ ${each.name}\n      ${reason.replaceAll('\n', '\n      ')}`);
  }
  const failed = failures.length > 0;
  const count = checks.length - unchecked.length;
  const missing = unchecked.length > 0 ? `; ${pluralize(unchecked.length, 'case')} not checked` : '';
  return {
    json: { ok: !failed, checks: count, failures, unchecked },
    text: `\n${pluralize(count, 'check')}, ${failed ? `${failures.length} failed` : 'all passed'}${missing}`,
    failed,
  };
}

/** No check takes longer, also on a busy machine. */
const CHECK_MS_MAX = 60_000;

/** Resolves to why the check failed; undefined if it passed. */
async function run(each: Check): Promise<string | undefined> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no end after ${CHECK_MS_MAX / 1000} s`)), CHECK_MS_MAX);
  try {
    await Promise.race([each.run(), late]);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim();
  } finally {
    clearTimeout(timer);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
