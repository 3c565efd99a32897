// `tollgate doctor`: checks an installation and says what to do.
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import type { Answer } from '../manage/answer.ts';
import type { Finding } from '../manage/doctor/check.ts';
import { onConfig } from './session.ts';

interface DoctorFlags {
  readonly calls?: boolean;
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Checks settings, disk, store, catalog, public address, mail, the Telegram bot, upstreams, webhooks and the clock, and ' +
        'says what to do. Changes nothing. Run it where the service runs, with its environment. Exit code 1 if something has failed.',
    )
    .option('--calls', 'also make a small real call by each upstream that answers text, which its vendor bills')
    .addHelpText('after', '\nExample:\n  tollgate doctor --calls')
    .action(onConfig(runDoctor));
}

const MARKS: Readonly<Record<Finding['state'], string>> = { ok: '✓', warning: '!', failed: '✗' };

async function runDoctor(config: Config, { calls = false }: DoctorFlags): Promise<Answer> {
  const { examine } = await import('../manage/doctor/doctor.ts');
  const findings = await examine(config, { calls });
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const lines = findings.map(({ name, state, detail, advice }) => {
    const line = `${MARKS[state]} ${name}: ${detail}`;
    return advice === undefined ? line : `${line}\n    ${advice}`;
  });
  const isFailed = count('failed') > 0;
  return {
    json: { ok: !isFailed, findings },
    text: [...lines, '', `${count('ok')} fine, ${count('warning')} to look at, ${count('failed')} failed`].join('\n'),
    failed: isFailed,
  };
}
