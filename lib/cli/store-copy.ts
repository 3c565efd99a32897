// `tollgate store copy`: moves the books to another database, and back.
import type { Command } from 'commander';
import type { Store } from '../store/store.ts';
import { type Answer, formatPairs } from './output.ts';
import { withBar } from './progress.ts';
import { onConfig } from './session.ts';

interface CopyFlags {
  readonly force?: boolean;
}

export function addStoreCopyCommand(store: Command): void {
  store
    .command('copy')
    .description(
      'Copies a whole store into an empty one and verifies both. Stop every gateway on the source first. ' +
        'A copy that broke off is continued by repeating the command. Nothing is written to the source.',
    )
    .argument('<from>', 'the database URL of the source')
    .argument('<to>', 'the database URL of the target')
    .option('--force', 'copy although gateways work on the source; what they write meanwhile may be missing')
    .addHelpText('after', '\nExample:\n  tollgate store copy sqlite:./data/tollgate.db mongodb://db1,db2,db3/tollgate')
    .action(onConfig((_, from: string, to: string, flags: CopyFlags) => copy(from, to, flags)));
}

async function copy(fromUrl: string, toUrl: string, { force = false }: CopyFlags): Promise<Answer> {
  const { nameOfStore, openStore } = await import('../store/open.ts');
  const from = await openStore(fromUrl, { readOnly: true });
  try {
    const alive = await from.gateways();
    if (alive.length > 0 && !force) throw await inUse(alive);
    const to = await openStore(toUrl, { unfinished: true });
    try {
      const answer = await copyVerified({ from, to }, { from: nameOfStore(fromUrl), to: nameOfStore(toUrl) }, alive);
      return alive.length > 0 ? forced(answer, alive) : answer;
    } finally {
      await to.close().catch(() => {});
    }
  } finally {
    await from.close().catch(() => {});
  }
}

async function inUse(alive: readonly string[]): Promise<Error> {
  const { OperatorError } = await import('../config.ts');
  return new OperatorError(
    `Gateways work on the source (${alive.join(', ')}): stop them first. One that was killed counts as alive until ` +
      'its lease is over. With --force what they write meanwhile may be missing in the copy.',
  );
}

function forced(answer: Answer, alive: readonly string[]): Answer {
  const warning =
    `Copied beside ${alive.join(', ')}. What they and other commands wrote since the copy began may be missing: ends of ` +
    'calls, whose holds go back in full; charges; top-ups; accounts, keys and the counts of their uses.';
  return { ...answer, json: { ...answer.json, beside: alive, warning }, text: `${answer.text}\n${warning}` };
}

interface Sides<T> {
  readonly from: T;
  readonly to: T;
}

async function copyVerified(
  { from, to }: Sides<Store>,
  names: Sides<string>,
  alive: readonly string[],
): Promise<Answer> {
  const { copyStore } = await import('../store/copy.ts');
  const live = alive.length > 0;
  const source = await verify(from, 'source');
  const report = await withBar((onProgress) => copyStore({ from, to, live, onProgress }));
  const target = await verify(to, 'target');
  const { accounts, keys, settings, resumed } = report;
  const { wallets, entries } = target;
  if (!live && (wallets !== source.wallets || entries !== source.entries)) {
    const { OperatorError } = await import('../config.ts');
    throw new OperatorError(`The target has ${entries} entries of ${source.entries}: copy again into an empty one.`);
  }
  const counts = { accounts, wallets, keys, entries, settings };
  const rows = Object.entries({ ...names, ...counts }).map(([name, value]) => [name, String(value)] as const);
  const line = resumed ? 'Finished the copy that had broken off; both stores add up.' : 'Copied; both stores add up.';
  return { json: { ok: true, ...names, ...counts, resumed }, text: `${line}\n${formatPairs(rows)}` };
}

async function verify(store: Store, side: 'source' | 'target') {
  const { verifyLedger } = await import('../ledger/audit.ts');
  const report = await withBar((show) => verifyLedger(store, show));
  if (report.ok) return report;
  const { OperatorError } = await import('../config.ts');
  const [first] = report.problems;
  throw new OperatorError(`The ${side} does not add up: wallet ${first?.wallet}, ${first?.problem}.`);
}
