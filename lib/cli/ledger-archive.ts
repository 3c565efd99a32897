// `tollgate ledger archive`: old calls leave the store for a file, which can be verified.
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { type Answer, formatMoney, formatPairs, formatTable, toTime } from '../manage/answer.ts';
import { readTime } from '../manage/arguments.ts';
import type { Session } from '../manage/session.ts';
import { toRub } from '../money/money.ts';
import type { Archive } from '../store/ports/archives.ts';
import { print } from './output.ts';
import { withBar } from './progress.ts';
import { onStore } from './session.ts';

interface ArchiveFlags {
  readonly before?: number;
  readonly to?: string;
}

export function addArchiveCommand(ledger: Command): void {
  const archive = ledger
    .command('archive')
    .description(
      'Moves calls that ended before a time, at least 35 days ago, into a new file; works beside running servers. ' +
        'Balances, usage, payments, corrections, open holds and videos stay. If it is interrupted, repeat the command.',
    )
    .option('--before <time>', 'a day (UTC), or a time with its zone', readTime)
    .option('--to <file>', 'the file; must not exist yet')
    .addHelpText('after', EXAMPLES)
    .action(onStore(move));
  archive
    .command('list')
    .description('Lists the archives of this store.')
    .addHelpText('after', '\nExample:\n  tollgate ledger archive list')
    .action(onStore(list, { readOnly: true }));
  archive
    .command('verify')
    .description(
      'Reads a whole archive and checks its sums; needs no store. If the store knows the archive, the sha256 ' +
        'must be the one noted there.',
    )
    .argument('<file>', 'the archive')
    .addHelpText('after', '\nExample:\n  tollgate ledger archive verify /backup/calls-2026-01.gz')
    .action(async function act(this: Command, file: string): Promise<void> {
      print(await verify(resolve(file)), { json: this.optsWithGlobals().json === true });
    });
}

const EXAMPLES = `
Examples:
  tollgate ledger archive --before 2026-02-01 --to /backup/calls-2026-01.gz
  tollgate ledger archive verify /backup/calls-2026-01.gz`;

async function move({ store }: Session, { before, to }: ArchiveFlags): Promise<Answer> {
  if (before === undefined || to === undefined) throw new InvalidArgumentError('--before and --to are needed');
  const { archiveLedger } = await import('../ledger/archive.ts');
  const done = await withBar((onProgress) => archiveLedger(store, { before, file: resolve(to), onProgress }));
  if (!done) return { json: { archived: false, calls: 0 }, text: 'No calls to archive.' };
  return { json: { archived: true, ...archiveJson(done) }, text: formatPairs(listPairs(done)) };
}

async function list({ store }: Session): Promise<Answer> {
  const archives = await store.archives.list();
  const rows = archives.map(({ before, state, calls, charged, file }) => [
    toTime(before),
    state,
    String(calls),
    formatMoney(charged),
    file,
  ]);
  return {
    json: { archives: archives.map(archiveJson) },
    text: rows.length === 0 ? 'No archives.' : formatTable(['before', 'state', ' calls', ' charged', 'file'], rows),
  };
}

async function verify(file: string): Promise<Answer> {
  const { verifyArchive } = await import('../ledger/archive-file.ts');
  const { head, totals, sha256 } = await verifyArchive(file);
  const recordedSha256 = await findRecordedSha256(head.id);
  if (recordedSha256 !== undefined && recordedSha256 !== sha256) {
    throw new OperatorError(
      `The archive ${file} adds up, but it is not the one that was written: its sha256 is ${sha256}, the store has ${recordedSha256}.`,
    );
  }
  const { wallets, calls, entries, charged } = totals;
  const before = toTime(head.before);
  const pairs = [
    ['archive', 'adds up'] as const,
    ['id', head.id] as const,
    ['before', before] as const,
    ['wallets', String(wallets)] as const,
    ['calls', String(calls)] as const,
    ['entries', String(entries)] as const,
    ['charged', formatMoney(charged)] as const,
    ['sha256', sha256] as const,
    ['store', recordedSha256 === undefined ? 'none that knows it' : 'has noted the same'] as const,
  ];
  const json = { ok: true, id: head.id, before, wallets, calls, entries, charged_rub: toRub(charged) };
  return { json: { ...json, sha256, compared: recordedSha256 !== undefined }, text: formatPairs(pairs) };
}

/** The sha256 of an archive as recorded in this machine's store; undefined if there is no store that knows it. */
async function findRecordedSha256(id: string): Promise<string | undefined> {
  const { readConfig } = await import('../config.ts');
  const { openOwnStore } = await import('../store/open.ts');
  const config = attempt(() => readConfig(process.env));
  const store =
    config &&
    (await openOwnStore(config, { inProcess: true, existing: true, readOnly: true }).catch(ignoreOperatorErrors));
  if (!store) return undefined;
  try {
    const note = (await store.archives.list()).find((archive) => archive.id === id);
    return note?.sha256 ?? undefined;
  } finally {
    await store.close().catch(() => {});
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    return ignoreOperatorErrors(error);
  }
}

/** Operator errors mean that there is no store here, or none of this version. */
function ignoreOperatorErrors(error: unknown): undefined {
  if (!(error instanceof OperatorError)) throw error;
}

function archiveJson({ id, file, before, state, calls, entries, charged, sha256, first, last }: Archive) {
  return {
    id,
    file,
    before: toTime(before),
    state,
    calls,
    entries,
    charged_rub: toRub(charged),
    sha256,
    first: toTime(first),
    last: toTime(last),
  };
}

function listPairs({ file, before, calls, entries, charged, sha256 }: Archive) {
  return [
    ['archive', file] as const,
    ['before', toTime(before)] as const,
    ['calls', String(calls)] as const,
    ['entries', String(entries)] as const,
    ['charged', formatMoney(charged)] as const,
    ['sha256', sha256 ?? ''] as const,
  ];
}
