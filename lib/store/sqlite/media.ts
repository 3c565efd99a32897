// The rows of media files in the SQLite store; a row is written once its file is complete on disk.
import type { DatabaseSync } from 'node:sqlite';
import { type LatestMedia, type MediaStore, NEWEST_MEDIA_MAX, type StoredMedia } from '../ports/media.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const SELECT = `SELECT id, account, kind, media_type AS mediaType, bytes, created_at AS createdAt, expires_at AS expiresAt
  FROM media`;

export function mediaWrites({ db, write }: Connection): PortWrites<'media'> {
  const add = db.prepare(
    'INSERT INTO media (id, account, kind, media_type, bytes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const drop = db.prepare('DELETE FROM media WHERE id IN (SELECT value FROM json_each(?))');
  return {
    add: ({ id, account, kind, mediaType, bytes, createdAt, expiresAt }: StoredMedia): void => {
      write(() => add.run(id, account, kind, mediaType, bytes, createdAt, expiresAt));
    },
    drop: (ids: readonly string[]): number => write(() => Number(drop.run(JSON.stringify(ids)).changes)),
  };
}

export function mediaReads(db: DatabaseSync): PortReads<'media'> {
  const select = db.prepare(`${SELECT} WHERE id = ?`);
  const latest = db.prepare(
    `SELECT * FROM (${SELECT} WHERE expires_at > ? ORDER BY expires_at DESC LIMIT ${NEWEST_MEDIA_MAX})
    WHERE account = ? AND createdAt >= ? LIMIT ?`,
  );
  const page = db.prepare(`${SELECT} WHERE id > ? ORDER BY id LIMIT ?`);
  const expired = db.prepare('SELECT id FROM media WHERE expires_at <= ? ORDER BY expires_at LIMIT ?');
  const known = db.prepare('SELECT id FROM media WHERE id IN (SELECT value FROM json_each(?))');
  return {
    get: (id: string): StoredMedia | undefined => {
      const row = select.get(id);
      return row && readMediaRow(row);
    },
    latest: (account: string, { now, from, limit }: LatestMedia): StoredMedia[] =>
      latest.all(now, account, from, limit).map(readMediaRow),
    page: ({ after = '', limit }: Parameters<MediaStore['page']>[0]): StoredMedia[] =>
      page.all(after, limit).map(readMediaRow),
    expired: (now: number, limit: number): string[] => expired.all(now, limit).map(getRowId),
    /** The given ids that have a row. */
    known: (ids: readonly string[]): string[] => known.all(JSON.stringify(ids)).map(getRowId),
  };
}

const getRowId = (row: Record<string, unknown>) => row.id as string;

function readMediaRow(row: Record<string, unknown>): StoredMedia {
  return { ...row } as unknown as StoredMedia;
}
