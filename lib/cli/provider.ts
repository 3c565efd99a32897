// `tollgate provider`: the contract suite for your own plugin, from a checkout or the packed package.
import type { Command } from 'commander';
import { addCheckCommand } from './checks.ts';

export function addProviderCommands(program: Command): void {
  addCheckCommand(program.command('provider').description('provider plugins: check'), {
    description: "Runs the contract suite on a plugin's folder, against its recordings, on this machine only.",
    example: 'tollgate provider check /srv/my-providers/acme',
    suite: 'provider',
  });
}
