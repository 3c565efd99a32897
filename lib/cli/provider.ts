// `tollgate provider`: makes, records for and checks your own plugin, from a checkout or the packed package.
import type { Command } from 'commander';
import { addCheckCommand } from './checks.ts';
import { addNewCommand } from './provider-new.ts';
import { addRecordCommand } from './provider-record.ts';

export function addProviderCommands(program: Command): void {
  const provider = program.command('provider').description('provider plugins: new, record, check');
  addNewCommand(provider);
  addRecordCommand(provider);
  addCheckCommand(provider, {
    description: "Runs the contract suite on a plugin's folder, against its recordings, on this machine only.",
    example: 'tollgate provider check /srv/my-providers/acme',
    suite: 'provider',
  });
}
