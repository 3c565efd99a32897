// `tollgate store copy`: moves the books to another database, and back.
import { type Command, InvalidArgumentError } from 'commander';
import type { CopyProgress, CopyReport } from '../store/copy.ts';
import type { Store } from '../store/store.ts';
import { type Answer, formatPairs } from './output.ts';
import { onConfig } from './session.ts';

const BAR_WIDTH = 40;

export function addStoreCopyCommand(store: Command): void {
  store
    .command('copy')
    .description(
      'Copies a whole store into an empty one and verifies both. Stop every gateway on the source first. ' +
        'A copy that broke off is continued by repeating the command.',
    )
    .argument('[from]', 'the database URL of the source')
    .argument('[to]', 'the database URL of the target')
    .option('--from-env <name>', 'take the URL of the source from a variable: a command line shows its password to all')
    .option('--to-env <name>', 'the same for the target')
    .addHelpText('after', EXAMPLES)
    .action(
      onConfig(({ env }, first: string | undefined, second: string | undefined, variables: Variables) => {
        const { from, to } = urlsOf([first, second], variables, env);
        return copy(from, to);
      }),
    );
}

const EXAMPLES = `
Examples:
  tollgate store copy sqlite:./data/tollgate.db mongodb://db1,db2,db3/tollgate
  tollgate store copy sqlite:./data/tollgate.db --to-env DATABASE_URL`;

interface Variables {
  readonly fromEnv?: string;
  readonly toEnv?: string;
}

/** Each side from its variable, or else from the next argument. */
function urlsOf(
  urls: readonly (string | undefined)[],
  { fromEnv, toEnv }: Variables,
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

async function copy(fromUrl: string, toUrl: string): Promise<Answer> {
  const { openStore } = await import('../store/open.ts');
  const from = await openStore(fromUrl);
  try {
    const to = await openStore(toUrl, { unfinished: true });
    try {
      return await copyVerified({ from, to }, { from: nameOf(fromUrl), to: nameOf(toUrl) });
    } finally {
      await to.close().catch(() => {});
    }
  } finally {
    await from.close().catch(() => {});
  }
}

interface Sides<T> {
  readonly from: T;
  readonly to: T;
}

async function copyVerified({ from, to }: Sides<Store>, names: Sides<string>): Promise<Answer> {
  const { copyStore } = await import('../store/copy.ts');
  const source = await verify(from, 'source');
  const bar = createBar(process.stderr);
  let report: CopyReport;
  try {
    report = await copyStore({ from, to, live: false, onProgress: bar.show });
  } finally {
    bar.end();
  }
  const target = await verify(to, 'target');
  const { accounts, keys, settings, resumed } = report;
  const { wallets, entries } = target;
  if (wallets !== source.wallets || entries !== source.entries) {
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
  const report = await verifyLedger(store);
  if (report.ok) return report;
  const { OperatorError } = await import('../config.ts');
  const [first] = report.problems;
  throw new OperatorError(`The ${side} does not add up: wallet ${first?.wallet}, ${first?.problem}.`);
}

/** Without what is before the hosts and after the name: passwords. */
function nameOf(url: string): string {
  return url.replace(/\/\/.*@/, '//').replace(/\?.*$/, '');
}

interface Bar {
  show(progress: CopyProgress): void;
  end(): void;
}

/** A bar for people; nothing where nobody looks. */
export function createBar(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): Bar {
  if (!stream.isTTY) return { show: () => undefined, end: () => undefined };
  let shown = '';
  return {
    show({ done, total }) {
      const share = total === 0 ? 1 : done / total;
      const filled = Math.round(Math.min(1, share) * BAR_WIDTH);
      const line = `[${'#'.repeat(filled).padEnd(BAR_WIDTH, '.')}] ${done} of ${total} entries`;
      if (line !== shown) stream.write(`\r${line}`);
      shown = line;
    },
    end: () => void stream.write('\r\x1b[K'),
  };
}
