// `tollgate catalog`: checks the catalog as a start would, takes costs over from public price lists, lists rates.
import type { Command } from 'commander';
import type { CostChange } from '../catalog/import-costs.ts';
import type { Config } from '../config.ts';
import { catalogActions } from '../manage/actions/catalog.ts';
import { type Answer, formatTable } from '../manage/answer.ts';
import { addCatalogConsoleCommands } from './catalog-console.ts';
import { onConfig, onStore } from './session.ts';

export function addCatalogCommands(program: Command): void {
  const catalog = program.command('catalog').description('models, prices and upstreams: check, import, rates, console');
  catalog
    .command('check')
    .description('Reads the catalog as a start would, with what pages wrote, and says what is wrong or switched off.')
    .addHelpText('after', '\nExample:\n  tollgate catalog check')
    .action(onConfig(catalogActions.check));
  catalog
    .command('import')
    .description('Writes what a public price list says routes cost into a catalog file, and shows what changes.')
    .argument('<format>', 'the format of the list: the name of a file in catalog/price-lists')
    .argument('<list>', 'the file of the list')
    .option('--into <file>', 'the catalog file with the costs; costs.json by default')
    .option('--accept', 'also write costs of routes without one, and prices that rise by more than 20 % or become zero')
    .addHelpText('after', '\nExample:\n  tollgate catalog import models-dev api.json --accept')
    .action(onConfig(importList));
  catalog
    .command('rates')
    .description('Lists the exchange rates that gateways of this store have used, the latest of a currency last.')
    .addHelpText('after', '\nExample:\n  tollgate catalog rates --json')
    .action(onStore(catalogActions.listRates));
  addCatalogConsoleCommands(catalog);
}

interface ImportFlags {
  readonly into?: string;
  readonly accept?: boolean;
}

/** Fails if something is left to decide, or if a start would refuse the catalog as it is now. */
async function importList(config: Config, format: string, list: string, flags: ImportFlags): Promise<Answer> {
  const { importCosts } = await import('../catalog/import.ts');
  const { listPriceChanges } = await import('../catalog/import-costs.ts');
  const report = await importCosts(config, { format, list, into: flags.into, accept: flags.accept === true });
  const { into, written, heldBack, unchanged, unlisted, elsewhere, refusal } = report;
  const failed = heldBack.length > 0 || refusal !== undefined;
  const toJson = (change: CostChange) => ({
    upstream: change.upstream,
    model: change.model,
    needs: change.needs ?? null,
    prices: Object.fromEntries(
      listPriceChanges(change).map(({ name, before = null, after = null }) => [name, { before, after }]),
    ),
  });
  const rows = [...written, ...heldBack].flatMap((change) => {
    const result = heldBack.includes(change) ? NEEDS[change.needs ?? 'new'] : 'written';
    const { upstream, model } = change;
    return listPriceChanges(change).map(({ name, before = '-', after = '-' }) => [
      upstream,
      model,
      name,
      before,
      after,
      result,
    ]);
  });
  const lines = [
    ...(rows.length > 0 ? [formatTable(['Upstream', 'Model', 'Price', ' Before', ' After', 'Result'], rows)] : []),
    `${written.length} written to ${into}, ${heldBack.length} left out, ${unchanged} unchanged`,
    ...(heldBack.length > 0 ? ['Write what was left out with --accept.'] : []),
    ...elsewhere.map((route) => `not changed: ${route}`),
    ...(unlisted.length > 0 ? [`not in the list: ${unlisted.join(', ')}`] : []),
    ...(refusal === undefined ? [] : [`A start would refuse the catalog now: ${refusal}`]),
  ];
  const json = {
    ...{ ok: !failed, into, written: written.map(toJson), held_back: heldBack.map(toJson) },
    ...{ unchanged, unlisted, elsewhere, refusal: refusal ?? null },
  };
  return { json, text: lines.join('\n'), failed };
}

const NEEDS = {
  new: 'left out: no cost so far',
  rise: 'left out: rises by more than 20 %',
  zero: 'left out: becomes zero',
  currency: 'left out: another currency',
} as const;
