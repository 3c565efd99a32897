// Settings in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { Setting, SettingStore } from '../ports/settings.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

export function settingWrites({ db, write }: Connection): PortWrites<'settings'> {
  const set = db.prepare(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = ?2',
  );
  const insert = db.prepare('INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const update = db.prepare('UPDATE settings SET value = ?2 WHERE name = ?1 AND value IN (?2, ?3)');
  return {
    replace: (name: string, { before, after }: Parameters<SettingStore['replace']>[1]): boolean =>
      write(() => {
        const added = before === undefined && insert.run(name, after).changes === 1;
        return added || update.run(name, after, before ?? after).changes === 1;
      }, 'full'),
    set: (name: string, value: string): void => {
      // Also syncs earlier commits, which are in the same log.
      write(() => set.run(name, value), 'full');
    },
  };
}

export function settingReads(db: DatabaseSync): PortReads<'settings'> {
  const get = db.prepare('SELECT value FROM settings WHERE name = ?');
  const all = db.prepare(
    'SELECT name, value FROM settings WHERE name >= ?1 AND name < ?1 || char(0x10ffff) ORDER BY name',
  );
  return {
    get: (name: string): string | undefined => get.get(name)?.value as string | undefined,
    list: (prefix = ''): Setting[] =>
      all.all(prefix).map((row) => ({ name: row.name as string, value: row.value as string })),
  };
}
