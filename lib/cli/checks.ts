// The commands that run a contract suite on a plugin's folder and report each check as it ends.

import { resolve } from 'node:path';
import type { Command } from 'commander';
import { pluralize } from '../base/pluralize.ts';
import type { Answer } from '../manage/answer.ts';
import { superviseChecks, type Verdict } from '../upstream/check/supervisor.ts';
import type { Suite } from '../upstream/check/worker.ts';
import { print } from './output.ts';

interface CheckCommand {
  readonly description: string;
  readonly example: string;
  readonly suite: Suite;
}

export function addCheckCommand(parent: Command, { description, example, suite }: CheckCommand): void {
  parent
    .command('check')
    .description(description)
    .argument('<folder>', 'the folder of the plugin, with its index and its fixtures')
    .addHelpText('after', `\nExample:\n  ${example}`)
    .action(async function act(this: Command, folder: string): Promise<void> {
      const json = this.optsWithGlobals().json === true;
      print(await runAll(superviseChecks(suite, resolve(folder)), json ? () => {} : writeLine), { json });
    });
}

interface Failure {
  readonly group: string;
  readonly check: string;
  readonly reason: string;
}

/** Prints each check as it ends, because a run takes a while. */
async function runAll(verdicts: AsyncIterable<Verdict>, printLine: (line: string) => void): Promise<Answer> {
  const failures: Failure[] = [];
  const unchecked: Failure[] = [];
  let group = '';
  let all = 0;
  for await (const { reason, unchecked: why, ...each } of verdicts) {
    if (each.group !== group) printLine(`\n${each.group}`);
    group = each.group;
    all += 1;
    if (why !== undefined) {
      unchecked.push({ group, check: each.name, reason: why });
      printLine(`  – ${each.name}\n      not checked: ${why}`);
    } else if (reason !== undefined) {
      failures.push({ group, check: each.name, reason });
      printLine(`  ✗ ${each.name}\n      ${reason.replaceAll('\n', '\n      ')}`);
    } else printLine(`  ✓ ${each.name}`);
  }
  const failed = failures.length > 0;
  const count = all - unchecked.length;
  const missing = unchecked.length > 0 ? `; ${pluralize(unchecked.length, 'case')} not checked` : '';
  return {
    json: { ok: !failed, checks: count, failures, unchecked },
    text: `\n${pluralize(count, 'check')}, ${failed ? `${failures.length} failed` : 'all passed'}${missing}`,
    failed,
  };
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
