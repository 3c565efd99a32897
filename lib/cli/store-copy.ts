// `tollgate store copy`: moves the whole store to another database, and back.
import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { type Answer, formatPairs } from '../manage/answer.ts';
import type { StorePlace } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { withBar } from './progress.ts';
import { onConfig } from './session.ts';

interface CopyFlags {
  readonly force?: boolean;
  /** Variables that hold the URLs. */
  readonly fromEnv?: string;
  readonly toEnv?: string;
  /** Folders of media files. */
  readonly fromMedia?: string;
  readonly toMedia?: string;
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
      'read the source URL from this variable; needed for one with a password, which everybody can read in a command line',
    )
    .option('--to-env <name>', 'the same for the target')
    .option('--from-media <folder>', FROM_MEDIA)
    .option('--to-media <folder>', 'the same for the target')
    .option('--force', 'copy even while gateways use the source; what they write meanwhile may be missing')
    .addHelpText('after', EXAMPLES)
    .action(
      onConfig(async (config, first: string | undefined, second: string | undefined, flags: CopyFlags) => {
        const urls = readUrls([first, second], flags, config.env);
        const { locateStore } = await import('../store/open.ts');
        const from = locateStore(urls.from, config, flags.fromMedia);
        return copy({ from, to: locateStore(urls.to, config, flags.toMedia) }, flags);
      }),
    );
}

const FROM_MEDIA =
  'where the source, if SQLite, has its media files: by default the folder media of DATA_DIR, if DATABASE_URL names the ' +
  'source, else the folder beside it that is named like it with .media';

const EXAMPLES = `
Examples:
  tollgate store copy sqlite:./data/tollgate.db mongodb://db1,db2,db3/tollgate
  tollgate store copy sqlite:./data/tollgate.db --to-env DATABASE_URL`;

/** Not only of a URL that can be parsed: MongoDB's may name several hosts. */
const PASSWORD = /\/\/[^:@/]*:.*@/s;

/** Reads each URL from its variable or, without one, from the next argument. */
function readUrls(
  urls: readonly (string | undefined)[],
  { fromEnv, toEnv }: CopyFlags,
  env: Readonly<Record<string, string | undefined>>,
): Sides<string> {
  const left = urls.filter((url) => url !== undefined);
  const take = (side: 'from' | 'to', variable: string | undefined): string => {
    if (variable === undefined) {
      const url = left.shift();
      if (url === undefined) throw new InvalidArgumentError(`missing argument '${side}', or --${side}-env`);
      if (PASSWORD.test(url)) {
        throw new InvalidArgumentError(
          `everybody on this machine can read the password in a command line: put the URL into a variable, and pass its name by --${side}-env`,
        );
      }
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

async function copy(places: Sides<StorePlace>, { force = false }: CopyFlags): Promise<Answer> {
  const { openStore } = await import('../store/open.ts');
  const { mediaFolder } = places.from;
  const from = await openStore(places.from.url, { inProcess: true, readOnly: true, mediaFolder });
  try {
    const alive = await from.gateways();
    if (alive.length > 0 && !force) throw inUse(alive);
    const target = { inProcess: true, unfinished: true, mediaFolder: places.to.mediaFolder };
    const to = await openStore(places.to.url, target);
    try {
      const answer = await copyVerified({ from, to }, places, alive);
      return alive.length > 0 ? withForceWarning(answer, alive) : answer;
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

function withForceWarning(answer: Answer, alive: readonly string[]): Answer {
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
  places: Sides<StorePlace>,
  alive: readonly string[],
): Promise<Answer> {
  const [{ copyStore }, { describeStore }] = await Promise.all([
    import('../store/copy.ts'),
    import('../store/open.ts'),
  ]);
  const live = alive.length > 0;
  const source = await verify(from, 'source');
  const report = await withBar((onProgress) => copyStore({ from, to, live, onProgress }));
  const target = await verify(to, 'target');
  const { accounts, keys, jobs, media, settings, resumed } = report;
  const { wallets, entries } = target;
  if (!live && (wallets !== source.wallets || entries !== source.entries)) {
    throw new OperatorError(`The target has ${entries} of ${source.entries} entries: copy again into an empty store.`);
  }
  const counts = { accounts, wallets, keys, entries, jobs, media, settings };
  const names = { from: describeStore(places.from.url), to: describeStore(places.to.url) };
  const { mediaFolder } = places.to;
  // Named, because a service on the copy expects media files in its own `DATA_DIR`.
  const folder = media > 0 && mediaFolder !== undefined ? { media_folder: mediaFolder } : {};
  const rows = Object.entries({ ...names, ...counts, ...folder }).map(
    ([name, value]) => [name, String(value)] as const,
  );
  const line = resumed ? 'Finished an interrupted copy; both stores add up.' : 'Copied; both stores add up.';
  return { json: { ok: true, ...names, ...counts, ...folder, resumed }, text: `${line}\n${formatPairs(rows)}` };
}

async function verify(store: Store, side: 'source' | 'target') {
  const { verifyLedger } = await import('../ledger/audit.ts');
  const report = await withBar((show) => verifyLedger(store, show));
  if (report.ok) return report;
  const [first] = report.problems;
  throw new OperatorError(`The ${side} does not add up: wallet ${first?.wallet}, ${first?.problem}.`);
}
