// `tollgate catalog`: checks the catalog as a start would.
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { type Answer, formatPairs } from './output.ts';
import { onConfig } from './session.ts';

export function addCatalogCommands(program: Command): void {
  const catalog = program.command('catalog').description('models, prices and upstreams: check');
  catalog
    .command('check')
    .description('Reads the catalog of CATALOG_DIR as a start would, and says what is wrong or switched off.')
    .addHelpText('after', '\nExample:\n  tollgate catalog check')
    .action(onConfig(check));
}

async function check(config: Config): Promise<Answer> {
  const { checkCatalog } = await import('../catalog/check.ts');
  const { models, usable, upstreams, switched_off, warnings } = await checkCatalog(config);
  const pairs = formatPairs([
    ['catalog', 'valid'],
    ['models', String(models)],
    ['usable', `${usable}, as a start counts them: smart included`],
    ['upstreams', String(upstreams)],
    ['switched off', switched_off.join(', ') || 'none'],
  ]);
  const lines = warnings.map((warning) => `warning: ${warning}`);
  return { json: { ok: true, models, usable, upstreams, switched_off, warnings }, text: [pairs, ...lines].join('\n') };
}
