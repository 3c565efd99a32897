// A consistent copy of the database file and its media files, made while other connections write.
import { backup, DatabaseSync } from 'node:sqlite';
import { BACKUP_SETTING, getDefaultMediaFolder, writeBackup } from '../backup-file.ts';
import { StoreError } from '../store.ts';
import type { ConnectionOptions } from './connection.ts';
import { type MediaFiles, openMediaFiles } from './media-files.ts';

/** Pages copied per step: 16 MiB. */
const PAGES_PER_STEP = 4096;

/** `pages` is shared with the thread that reports progress: pages copied, and total pages. */
export function copyDatabase(
  { path, mediaFolder }: Pick<ConnectionOptions, 'path' | 'mediaFolder'>,
  file: string,
  pages: Int32Array,
): Promise<void> {
  return writeBackup(file, async (target) => {
    const source = new DatabaseSync(path);
    try {
      // The open read keeps one snapshot: without it every commit of another connection would restart the copy.
      source.exec('PRAGMA query_only = ON; BEGIN; SELECT count(*) FROM sqlite_schema');
      const total = await backup(source, target, {
        rate: PAGES_PER_STEP,
        progress({ totalPages, remainingPages }) {
          pages.set([totalPages - remainingPages, totalPages]);
        },
      });
      pages.set([total, total]);
    } finally {
      source.close();
    }
    markAsBackup(target);
    await copyMediaFiles(target, {
      from: openMediaFiles(mediaFolder),
      to: openMediaFiles(getDefaultMediaFolder(target)),
    });
  });
}

/** As on any copy, people sign in again: ended sessions would be open again, and used links would work again. */
function markAsBackup(target: string): void {
  const db = new DatabaseSync(target);
  try {
    db.exec('DELETE FROM sessions; DELETE FROM links');
    db.prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)').run(
      BACKUP_SETTING,
      new Date().toISOString(),
    );
  } finally {
    db.close();
  }
}

/** Copies the media files, and deletes rows whose file is missing. */
async function copyMediaFiles(target: string, { from, to }: { from: MediaFiles; to: MediaFiles }): Promise<void> {
  const db = new DatabaseSync(target);
  try {
    db.prepare('DELETE FROM media WHERE expires_at <= ?').run(Date.now());
    const forget = db.prepare('DELETE FROM media WHERE id = ?');
    for (const row of db.prepare('SELECT id, bytes, expires_at AS expiresAt FROM media').all()) {
      const { id, bytes, expiresAt } = row as { id: string; bytes: number; expiresAt: number };
      await to.write({ id, expiresAt }, from.read(id, { first: 0, last: bytes - 1 })).catch((error) => {
        if (!isMissingFile(error)) throw error;
        forget.run(id);
      });
    }
  } finally {
    db.close();
  }
}

/** The file expired and was removed in the meantime, or was lost before. */
function isMissingFile(error: unknown): boolean {
  return error instanceof StoreError && error.blames === 'batch';
}

const POLL_EVERY_MS = 200;

/** Reports the pages copied by another thread, until the work is done. */
export async function reportBackupProgress(
  work: (pages: Int32Array) => Promise<void>,
  onPages: ((progress: { readonly done: number; readonly total: number }) => void) | undefined,
): Promise<void> {
  const pages = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const report = () => {
    const [done = 0, total = 0] = pages;
    if (total > 0) onPages?.({ done, total });
  };
  const timer = onPages && setInterval(report, POLL_EVERY_MS);
  try {
    await work(pages);
    report();
  } finally {
    clearInterval(timer);
  }
}
