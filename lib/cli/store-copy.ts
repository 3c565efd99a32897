// `tollgate store copy`: moves the books to another database, and back.
import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../operator-error.ts';
import type { Store } from '../store/store.ts';
import { type Answer, formatPairs } from './output.ts';
import { withBar } from './progress.ts';
import { onConfig } from './session.ts';

interface CopyFlags {
  readonly force?: boolean;
  /** Variables that hold the URLs. */
  readonly fromEnv?: string;
  readonly toEnv?: string;
}

export function addStoreCopyCommand(store: Command): void {
  store
    .command('copy')
    .description(
      'Copies a whole store into an empty one and verifies both. Stop every gateway on the source first. ' +
        'If a copy is interrupted, repeat the command to continue it. Nothing is written to the source.',
    )
    .argument('[from]', 'the database URL of the source')
    .argument('[to]', 'the database URL of the target')
    .option(
      '--from-env <name>',
      'read the source URL from this variable: a command line shows its password to everybody',
    )
    .option('--to-env <name>', 'the same for the target')
    .option('--force', 'copy even while gateways use the source; what they write meanwhile may be missing')
    .addHelpText('after', EXAMPLES)
    .action(
      onConfig(({ env }, first: string | undefined, second: string | undefined, flags: CopyFlags) => {
        const { from, to } = urlsOf([first, second], flags, env);
        return copy(from, to, flags);
      }),
    );
}

const EXAMPLES = `
Examples:
  tollgate store copy sqlite:./data/tollgate.db mongodb://db1,db2,db3/tollgate
  tollgate store copy sqlite:./data/tollgate.db --to-env DATABASE_URL`;

/** Each side from its variable, or else from the next argument. */
function urlsOf(
  urls: readonly (string | undefined)[],
  { fromEnv, toEnv }: CopyFlags,
  env: Readonly<Record<string, string | undefined>>,
): Sides<string> {
  const left = urls.filter((url) => url !== undefined);
  const take = (side: 'from' | 'to', variable: string | undefined): string => {
    if (variable === undefined) {
      const url = left.shift();
      if (url === undefined) throw new InvalidArgumentError(`missing argument '${side}', or --${side}-env`);
      return url;
    }
    const url = env[variable];
    if (!url) throw new InvalidArgumentError(`--${side}-env: the variable ${variable} is not set`);
    return url;
  };
  const sides = { from: take('from', fromEnv), to: take('to', toEnv) };
  if (left.length > 0) throw new InvalidArgumentError('too many arguments: a side is given twice');
  return sides;
}

async function copy(fromUrl: string, toUrl: string, { force = false }: CopyFlags): Promise<Answer> {
  const { nameOfStore, openStore } = await import('../store/open.ts');
  const from = await openStore(fromUrl, { readOnly: true });
  try {
    const alive = await from.gateways();
    if (alive.length > 0 && !force) throw inUse(alive);
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

function inUse(alive: readonly string[]): Error {
  return new OperatorError(
    `Gateways are using the source (${alive.join(', ')}): stop them first. One that was killed counts as alive until ` +
      'its lease expires. With --force, what they write meanwhile may be missing from the copy.',
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
  const { accounts, keys, jobs, settings, resumed } = report;
  const { wallets, entries } = target;
  if (!live && (wallets !== source.wallets || entries !== source.entries)) {
    throw new OperatorError(`The target has ${entries} of ${source.entries} entries: copy again into an empty store.`);
  }
  const counts = { accounts, wallets, keys, entries, jobs, settings };
  const rows = Object.entries({ ...names, ...counts }).map(([name, value]) => [name, String(value)] as const);
  const line = resumed ? 'Finished an interrupted copy; both stores add up.' : 'Copied; both stores add up.';
  return { json: { ok: true, ...names, ...counts, resumed }, text: `${line}\n${formatPairs(rows)}` };
}

async function verify(store: Store, side: 'source' | 'target') {
  const { verifyLedger } = await import('../ledger/audit.ts');
  const report = await withBar((show) => verifyLedger(store, show));
  if (report.ok) return report;
  const [first] = report.problems;
  throw new OperatorError(`The ${side} does not add up: wallet ${first?.wallet}, ${first?.problem}.`);
}
