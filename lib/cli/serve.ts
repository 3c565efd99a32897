// `tollgate serve`: the gateway itself, as `npm start` runs it in a checkout.
import type { Command } from 'commander';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .summary('the gateway itself')
    .description('Starts the gateway and serves until SIGTERM or Ctrl-C; creates the store if there is none.')
    .addHelpText('after', '\nSettings are environment variables.\n\nExample:\n  tollgate serve')
    .action(async () => {
      const { serve } = await import('../serve.ts');
      serve();
    });
}
