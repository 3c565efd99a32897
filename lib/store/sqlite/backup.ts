// A consistent copy of the database file, made while other connections write.
import { backup, DatabaseSync } from 'node:sqlite';
import { writeBackup } from '../backup-file.ts';

/** Pages copied per turn of the thread pool: 16 MiB. */
const PAGES_PER_STEP = 4096;

/** `pages` is shared with whoever watches: those that are copied, and all of them. */
export function copyDatabase(path: string, file: string, pages: Int32Array): Promise<void> {
  return writeBackup(file, async (target) => {
    const source = new DatabaseSync(path);
    try {
      // The open read keeps one snapshot: without it every commit of another connection restarts the copy.
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
  });
}

const LOOK_EVERY_MS = 200;

/** Tells of the pages that another thread has copied, until the work is done. */
export async function watchPages(
  work: (pages: Int32Array) => Promise<void>,
  onPages: ((progress: { readonly done: number; readonly total: number }) => void) | undefined,
): Promise<void> {
  const pages = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const look = () => {
    const [done = 0, total = 0] = pages;
    if (total > 0) onPages?.({ done, total });
  };
  const timer = onPages && setInterval(look, LOOK_EVERY_MS);
  try {
    await work(pages);
    look();
  } finally {
    clearInterval(timer);
  }
}
