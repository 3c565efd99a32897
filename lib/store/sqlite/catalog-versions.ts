// The catalog's part that operators write on pages, in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { CatalogVersion } from '../ports/catalog-versions.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COLUMNS = 'seq, at, user, note, text';

export function catalogVersionWrites({ db, write }: Connection): PortWrites<'catalogVersions'> {
  const add = db.prepare(`INSERT OR IGNORE INTO catalog_versions (${COLUMNS}) VALUES (?, ?, ?, ?, ?)`);
  const put = db.prepare(`INSERT OR REPLACE INTO catalog_versions (${COLUMNS}) VALUES (?, ?, ?, ?, ?)`);
  return {
    add: ({ seq, at, user, note, text }: CatalogVersion): boolean =>
      write(() => add.run(seq, at, user, note, text).changes === 1),
    put: (versions: readonly CatalogVersion[]): void =>
      write(() => {
        for (const { seq, at, user, note, text } of versions) put.run(seq, at, user, note, text);
      }),
  };
}

export function catalogVersionReads(db: DatabaseSync): PortReads<'catalogVersions'> {
  const one = db.prepare(`SELECT ${COLUMNS} FROM catalog_versions WHERE seq = ?`);
  const last = db.prepare('SELECT coalesce(max(seq), 0) AS seq FROM catalog_versions');
  const page = db.prepare(`SELECT ${COLUMNS} FROM catalog_versions WHERE seq < ? ORDER BY seq DESC LIMIT ?`);
  return {
    get: (seq: number): CatalogVersion | undefined => one.all(seq).map(readRow)[0],
    last: (): number => Number(last.get()?.seq),
    page: ({ before = Number.MAX_SAFE_INTEGER, limit }): CatalogVersion[] => page.all(before, limit).map(readRow),
  };
}

function readRow({ seq, at, user, note, text }: Record<string, unknown>): CatalogVersion {
  return { seq: Number(seq), at: Number(at), user: user as string, note: note as string, text: text as string };
}
