// `tollgate store`: backs up the store, and copies it to another.

import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Answer, formatPairs } from '../manage/answer.ts';
import type { Session } from '../manage/session.ts';
import { withBar } from './progress.ts';
import { onStore } from './session.ts';
import { addStoreCopyCommand } from './store-copy.ts';

export function addStoreCommands(program: Command): void {
  const store = program.command('store').description('the database as a whole: backup, copy');
  store
    .command('backup')
    .description('Writes a consistent copy of the whole store to a new file; works beside a running server.')
    .argument('<file>', 'the copy; must not exist yet')
    .addHelpText('after', '\nExample:\n  tollgate store backup /backup/tollgate-2026-10-06.db')
    .action(onStore(backup));
  addStoreCopyCommand(store);
}

async function backup({ store }: Session, name: string): Promise<Answer> {
  const file = resolve(name);
  await withBar((show) => store.backup(file, show));
  const { size: bytes } = await stat(file);
  const { getDefaultMediaFolder } = await import('../store/backup-file.ts');
  const folder = getDefaultMediaFolder(file);
  const media = existsSync(folder) ? { media: folder } : {};
  const text = formatPairs([['backup', file], ['bytes', String(bytes)], ...Object.entries(media)]);
  return { json: { file, bytes, ...media }, text };
}
