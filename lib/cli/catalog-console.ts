// `tollgate catalog console`: the part of the catalog that operators write on pages, for the command line.
import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { type Answer, formatTable } from '../manage/answer.ts';
import type { Session } from '../manage/session.ts';
import { onStore } from './session.ts';

export function addCatalogConsoleCommands(catalog: Command): void {
  const pages = catalog.command('console').description('what operators wrote on pages: export, history, restore');
  pages
    .command('export')
    .description('Prints the part of the catalog that pages have written, as a catalog file; keys are variables.')
    .addHelpText('after', '\nExample:\n  tollgate catalog console export > catalog/console.json')
    .action(onStore(exportPart));
  pages
    .command('history')
    .description('Lists its latest versions, with who saved them and what changed.')
    .addHelpText('after', '\nExample:\n  tollgate catalog console history')
    .action(onStore(listHistory));
  pages
    .command('restore')
    .description(
      'Makes an earlier version the latest one; 0 removes everything that pages wrote. Works beside gateways.',
    )
    .argument('<version>', 'the number of a version, or 0')
    .addHelpText('after', '\nExample:\n  tollgate catalog console restore 3')
    .action(onStore(restore));
}

const SHOWN_MAX = 50;

async function exportPart({ store }: Session): Promise<Answer> {
  const [latest] = await store.catalogVersions.page({ limit: 1 });
  const text = latest?.text ?? '{}';
  return { json: JSON.parse(text), text, file: `${text}\n` };
}

async function listHistory({ store }: Session): Promise<Answer> {
  const versions = (await store.catalogVersions.page({ limit: SHOWN_MAX })).map(({ seq, at, user, note }) => ({
    ...{ version: seq, at: new Date(at).toISOString(), user, note },
  }));
  const rows = versions.map(({ version, at, user, note }) => [`${version}`, at, user, note]);
  const text = rows.length === 0 ? 'no versions yet' : formatTable([' Version', 'Time', 'User', 'What'], rows);
  return { json: { versions }, text };
}

/** Not checked against files, which may be those of another machine: gateways that cannot load it keep the one before. */
async function restore(session: Session, text: string): Promise<Answer> {
  const { catalogVersions } = session.store;
  const wanted = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  const row = wanted === 0 ? { text: '{}' } : wanted !== undefined && (await catalogVersions.get(wanted));
  if (!row) throw new OperatorError(`There is no version ${JSON.stringify(text.slice(0, 20))}: see the history.`);
  const version = (await catalogVersions.last()) + 1;
  const saved = { seq: version, at: Date.now(), user: '-', note: `catalog.restore ${wanted}`, text: row.text };
  if (!(await catalogVersions.add(saved))) throw new OperatorError('Somebody has saved another version: try again.');
  const { recordAction } = await import('../manage/audited-action.ts');
  await recordAction(session, { action: 'catalog.restore', target: `${wanted}`, detail: { version } });
  return { json: { version }, text: `version ${version} is version ${wanted} again` };
}
