// `tollgate provider`: the contract suite on a plugin of one's own, from a checkout or the packed package.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { countOf } from '../count.ts';
import type { Check } from '../plugin/check/check.ts';
import { type Answer, print } from './output.ts';

export function addProviderCommands(program: Command): void {
  const provider = program.command('provider').description('provider plugins: check');
  provider
    .command('check')
    .description("Runs the contract suite on a plugin's folder, against its recordings, on this machine only.")
    .argument('<folder>', 'the folder of the plugin, with its index and its fixtures')
    .addHelpText('after', '\nExample:\n  tollgate provider check /srv/my-providers/acme')
    .action(async function act(this: Command, folder: string): Promise<void> {
      const json = this.optsWithGlobals().json === true;
      print(await check(folder, json ? () => {} : say), { json });
    });
}

interface Failure {
  readonly group: string;
  readonly check: string;
  readonly reason: string;
}

/** Reports each check as it ends, because a run takes a while. */
async function check(folder: string, tell: (line: string) => void): Promise<Answer> {
  const { collectChecks } = await import('../plugin/check/check.ts');
  const checks = await collectChecks(resolve(folder), { thorough: true });
  const failures: Failure[] = [];
  let group = '';
  for (const each of checks) {
    if (each.group !== group) tell(`\n${each.group}`);
    group = each.group;
    const reason = await run(each);
    if (reason !== undefined) failures.push({ group, check: each.name, reason });
    tell(reason === undefined ? `  ✓ ${each.name}` : `  ✗ ${each.name}\n      ${reason.replaceAll('\n', '\n      ')}`);
  }
  const failed = failures.length > 0;
  return {
    json: { ok: !failed, checks: checks.length, failures },
    text: `\n${countOf(checks.length, 'check')}, ${failed ? `${failures.length} failed` : 'all passed'}`,
    failed,
  };
}

/** Why it failed; undefined when it passed. */
async function run(each: Check): Promise<string | undefined> {
  try {
    await each.run();
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
