// `tollgate support-bundle`: writes what a maintainer needs to help into one file, without secrets.

import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config.ts';
import { type Answer, formatPairs } from '../manage/answer.ts';
import { onConfig } from './session.ts';

export function addSupportBundleCommand(program: Command): void {
  program
    .command('support-bundle')
    .description(
      'Writes versions, settings, models, the findings of "tollgate doctor" and the metrics into a JSON file: no keys or ' +
        'passwords, no accounts, people or prompts. Read it before you send it.',
    )
    .argument('<file>', 'a new file')
    .addHelpText('after', '\nExample:\n  tollgate support-bundle tollgate-support.json')
    .action(onConfig(writeBundle));
}

async function writeBundle(config: Config, file: string): Promise<Answer> {
  const { buildBundle } = await import('../manage/doctor/bundle.ts');
  const text = await buildBundle(config);
  try {
    await writeFile(file, `${text}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new OperatorError(`The file ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}.`);
  }
  const bytes = Buffer.byteLength(text) + 1;
  return {
    json: { file, bytes },
    text: formatPairs([
      ['file', file],
      ['bytes', String(bytes)],
    ]),
  };
}
