// Archives old calls: writes them to a file, which is verified and synced to disk before the first call is removed from
// the store. Every step can be interrupted and repeated; the store records the progress.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS } from '../base/durations.ts';
import { OperatorError } from '../base/operator-error.ts';
import { syncToDisk } from '../store/disk.ts';
import type { Archive, WholeCall } from '../store/ports/archives.ts';
import type { OnProgress, Store } from '../store/store.ts';
import { accountIds } from '../store/walks.ts';
import { type ArchiveTotals, readArchive, type VerifiedArchive, verifyArchive, writeArchive } from './archive-file.ts';
import { walkArchivableCalls } from './archive-walk.ts';
import { foldUsage } from './usage-fold.ts';

type Parts = Pick<Store, 'accounts' | 'archives' | 'attempts' | 'journal' | 'ledger' | 'usage'>;

/**
 * Younger calls stay: the month that `GET /balance` adds up, idempotency keys (a day), and settlements that the store has
 * not confirmed yet all lie within this time.
 */
export const ARCHIVE_DAYS_MIN = 35;
/** Calls removed in one transaction. */
const CALLS_PER_STEP = 100;

interface ArchiveOptions {
  readonly before: number;
  /** An absolute path. */
  readonly file: string;
  readonly now?: () => number;
  readonly onProgress?: OnProgress | undefined;
}

/** Resolves to the archive; undefined if there was nothing to archive. Rejects with `OperatorError`. */
export async function archiveLedger(store: Parts, options: ArchiveOptions): Promise<Archive | undefined> {
  const { before, file, now = Date.now, onProgress } = options;
  const latest = now() - ARCHIVE_DAYS_MIN * DAY_MS;
  if (before > latest) {
    const day = new Date(latest).toISOString().slice(0, 10);
    throw new OperatorError(
      `Calls can be archived once they are ${ARCHIVE_DAYS_MIN} days old: now those before ${day}.`,
    );
  }
  const run = await claimArchive(store, { before, file, startedAt: now() });
  const leaving = run.state === 'leaving' ? run : await writeArchiveFile(store, run, onProgress);
  if (!leaving) return undefined;
  if ((await verifyArchive(file)).sha256 !== leaving.sha256) {
    throw new OperatorError(`The file ${file} is not the archive that its calls were written to: put that one back.`);
  }
  await openWallets(store, file);
  await removeCalls(store, leaving, onProgress);
  const done: Archive = { ...leaving, state: 'done' };
  await store.archives.put(done);
  return done;
}

/** Continues the unfinished archive, if it is the same one, or starts a new one. */
async function claimArchive(
  { archives }: Pick<Store, 'archives'>,
  wanted: Pick<Archive, 'before' | 'file' | 'startedAt'>,
): Promise<Archive> {
  const id = `arc_${randomBytes(12).toString('hex')}`;
  const empty = { sha256: null, calls: 0, entries: 0, charged: 0n, first: null, last: null };
  const run = await archives.begin({ id, ...wanted, state: 'writing', ...empty });
  if (run.file !== wanted.file || run.before !== wanted.before) {
    throw new OperatorError(
      `An archive of calls before ${new Date(run.before).toISOString()} to ${run.file} is unfinished: repeat that one.`,
    );
  }
  if (run.id === id && existsSync(wanted.file)) {
    await archives.drop(id);
    throw new OperatorError(`The file ${wanted.file} already exists.`);
  }
  return run;
}

/** Resolves to the archive with its file complete; undefined if there was nothing to write. */
async function writeArchiveFile(store: Parts, run: Archive, onProgress?: OnProgress): Promise<Archive | undefined> {
  const { file, id } = run;
  const path = `${file}.${randomBytes(4).toString('hex')}.unfinished`;
  try {
    if (!existsSync(file)) {
      const { calls } = await writeCalls(store, run, path, onProgress);
      if (calls === 0) {
        await store.archives.drop(id);
        return undefined;
      }
      await verifyArchive(path);
      await syncToDisk(path);
      // Unlike a rename it never replaces a file.
      await link(path, file);
      await syncToDisk(dirname(file));
    }
  } catch (error) {
    // No call has been removed from the store yet.
    if (!existsSync(file)) await store.archives.drop(id);
    throw toFileError(error, file);
  } finally {
    await rm(path, { force: true });
  }
  const { head, totals, sha256 } = await verifyArchive(file);
  if (head.id !== id) throw new OperatorError(`The file ${file} already exists.`);
  const leaving: Archive = { ...run, state: 'leaving', ...toArchiveTotals({ totals, sha256 }) };
  await store.archives.put(leaving);
  return leaving;
}

/** An operator can fix errors of the file system, so they become operator errors. */
function toFileError(error: unknown, file: string): unknown {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? error.code : undefined;
  return code === undefined ? error : new OperatorError(`The archive ${file} cannot be written: ${code}.`);
}

function toArchiveTotals({ totals, sha256 }: Pick<VerifiedArchive, 'totals' | 'sha256'>) {
  const { calls, entries, charged, first, last } = totals;
  return { sha256, calls, entries, charged, first, last };
}

async function writeCalls(
  store: Parts,
  { id, before }: Archive,
  path: string,
  onProgress?: OnProgress,
): Promise<ArchiveTotals> {
  const writer = writeArchive(path, { tollgate: 'ledger archive', version: 1, id, before });
  const total = onProgress ? (await store.journal.size()).entries : 0;
  let done = 0;
  try {
    for await (const wallets of accountIds(store)) {
      for (const wallet of wallets) {
        // The usage sums of archived calls could not be computed later.
        await foldUsage(store, wallet);
        for await (const line of walkArchivableCalls(store, wallet, before)) {
          await writer.add(line);
          if (!('call' in line)) continue;
          done += line.call.entries.length;
          onProgress?.({ done, total, unit: 'entries' });
        }
      }
    }
    return await writer.end();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** From here on, the balance of a wallet is its opening plus the later entries, even while earlier rows are still there. */
async function openWallets({ archives }: Parts, file: string): Promise<void> {
  let opened = 0;
  for await (const line of readArchive(file)) {
    if ('start' in line) opened = line.start.from?.seq ?? 0;
    if (!('stop' in line)) continue;
    const { to } = line.stop;
    const { wallet } = to;
    if (await archives.open(to, opened)) continue;
    const found = await archives.opening(wallet);
    if (found?.seq === to.seq) continue;
    throw new OperatorError(
      `The wallet ${wallet} begins at entry ${found?.seq ?? 0}: ${file} belongs to another store.`,
    );
  }
}

async function removeCalls({ archives }: Parts, { file, entries: total }: Archive, onProgress?: OnProgress) {
  let waiting: WholeCall[] = [];
  let done = 0;
  const flush = async () => {
    const [first] = waiting;
    if (!first) return;
    const from = performance.now();
    await archives.remove(first.charge.wallet, waiting);
    done += waiting.reduce((sum, { entries }) => sum + entries.length, 0);
    onProgress?.({ done, total, unit: 'entries' });
    waiting = [];
    // Pauses as long as the removal took: calls of running gateways come first.
    await pause(performance.now() - from);
  };
  for await (const line of readArchive(file)) {
    if ('call' in line) waiting.push(line.call);
    if ('stop' in line || waiting.length >= CALLS_PER_STEP) await flush();
  }
}
