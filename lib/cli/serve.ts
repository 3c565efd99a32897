// `tollgate serve`: the gateway itself, as `npm start` runs it in a checkout.
import type { Command } from 'commander';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Starts the gateway and serves until SIGTERM or Ctrl-C; makes the store if there is none.')
    .addHelpText('after', '\nIts settings are variables of the environment.\n\nExample:\n  PORT=8080 tollgate serve')
    .action(async () => {
      const { serve } = await import('../serve.ts');
      serve();
    });
}
