// The service as a child process, as in production: started, watched, signalled and killed; and the home it lives in.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAccounts } from '../lib/accounts/accounts.ts';
import { verifyLedger } from '../lib/ledger/audit.ts';
import type { Operation, Wallet } from '../lib/money/decide.ts';
import { parseRub } from '../lib/money/money.ts';
import { openOwnStore } from '../lib/store/open.ts';
import type { Store } from '../lib/store/store.ts';
import type { TestAccount } from './gateway.ts';
import { startVariables } from './npm-start.ts';

const MAIN = fileURLToPath(new URL('../lib/main.ts', import.meta.url));
const START_MS_MAX = 60_000;

/** A temporary folder with a catalog and the environment of a service that uses it. */
export interface Home {
  readonly folder: string;
  readonly database: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes one file of the catalog: text as is, anything else as JSON. */
  writeCatalog(value: unknown, name?: string): void;
  remove(): void;
}

/** The database is a file in the folder unless another is named. */
export function makeHome(catalog?: unknown, databaseUrl?: string): Home {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
  const catalogDir = join(folder, 'catalog');
  const database = join(folder, 'tollgate.db');
  mkdirSync(catalogDir);
  const home: Home = {
    folder,
    database,
    env: {
      ...startVariables(),
      PATH: process.env.PATH ?? '',
      PORT: '0',
      DATABASE_URL: databaseUrl ?? `sqlite:${database}`,
      DATA_DIR: folder,
      CATALOG_DIR: catalogDir,
      RATE_LIMIT_PER_MINUTE: '100000',
      BALANCE_RATE_LIMIT_PER_MINUTE: '100000',
      PAGE_RATE_LIMIT_PER_MINUTE: '100000',
    },
    writeCatalog(value, name = 'models.json') {
      writeFileSync(join(catalogDir, name), typeof value === 'string' ? value : JSON.stringify(value));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  if (catalog !== undefined) home.writeCatalog(catalog);
  return home;
}

/** The books of a home, opened beside the service as by the command line. */
export interface Books {
  readonly store: Store;
  account(rub?: string): Promise<TestAccount>;
  apply(op: Operation): Promise<void>;
  wallet(account: TestAccount): Promise<Wallet>;
  /** The sum held over all wallets, in micro-roubles. */
  held(): Promise<bigint>;
  /** Fails if the ledger does not add up or something is still held. */
  checkMoney(): Promise<void>;
  close(): Promise<void>;
}

export async function openBooks({ env }: Pick<Home, 'env'>): Promise<Books> {
  const store = await openOwnStore(
    { databaseUrl: env.DATABASE_URL ?? '', dataDir: env.DATA_DIR ?? '' },
    { inProcess: true },
  );
  const accounts = createAccounts({ store, keyPrefix: 'tg-' });
  const books: Books = {
    store,
    async account(rub = '1000') {
      const { id } = await accounts.create('test');
      const { id: keyId, key } = await accounts.issueKey(id, 'test key');
      const amount = parseRub(rub) ?? 0n;
      await books.apply({ kind: 'topup', wallet: id, at: Date.now(), amount, paymentId: `first-${id}` });
      return { id, keyId, key };
    },
    async apply(op) {
      const [outcome] = await store.ledger.apply([op]);
      if (outcome?.status !== 'done') throw new Error(`${op.kind} was answered ${outcome?.status}`);
    },
    wallet: async ({ id }) => (await store.ledger.wallet(id)) as Wallet,
    async held() {
      let sum = 0n;
      for (const { id } of await store.accounts.list()) sum += (await store.ledger.wallet(id))?.held ?? 0n;
      return sum;
    },
    async checkMoney() {
      const { ok, problems } = await verifyLedger(store);
      if (!ok) throw new Error(`the ledger does not add up: ${JSON.stringify(problems)}`);
      const held = await books.held();
      if (held !== 0n) throw new Error(`${held} is still held`);
    },
    close: () => store.close(),
  };
  return books;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process with an awaitable exit and output. */
export interface Child {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves once it has exited and all its output was read. */
  readonly exit: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
}

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

export function spawnChild(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Child {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const read = { stdout: '', stderr: '' };
  living.add(child);
  child.stdin.on('error', () => undefined);
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      read[name] += text;
    });
  }
  const exit = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => {
      living.delete(child);
      resolve({ code, signal, ...read });
    });
  });
  return {
    process: child,
    stdout: () => read.stdout,
    stderr: () => read.stderr,
    exit,
    kill: (signal) => void child.kill(signal),
  };
}

export function spawnService(env: Readonly<Record<string, string>>, flags: readonly string[] = []): Child {
  return spawnChild(process.execPath, [...flags, MAIN], env);
}

/** A running service that listens. */
export interface Service extends Child {
  readonly url: string;
  /** From spawning it until it reported that it listens. */
  readonly readyMs: number;
  /** Stops it with SIGTERM. */
  stop(): Promise<Exit>;
}

export interface StartOptions {
  /** Added to the environment of the home. */
  readonly env?: Readonly<Record<string, string>>;
  /** The largest file it may write, in KiB: to SQLite, a full disk. */
  readonly fileKiBMax?: number;
  /** Options for Node. */
  readonly flags?: readonly string[];
}

export async function startService(home: Home, { env = {}, fileKiBMax, flags }: StartOptions = {}): Promise<Service> {
  const startedAt = performance.now();
  const whole = { ...home.env, ...env };
  // A shell run as `sh` counts in blocks of 512 bytes.
  const limited = `ulimit -f ${(fileKiBMax ?? 0) * 2} && exec "${process.execPath}" "${MAIN}"`;
  const child = fileKiBMax === undefined ? spawnService(whole, flags) : spawnChild('sh', ['-c', limited], whole);
  const url = await listening(child);
  const readyMs = performance.now() - startedAt;
  return {
    ...child,
    url,
    readyMs,
    stop: () => {
      child.kill('SIGTERM');
      return child.exit;
    },
  };
}

function listening(child: Child): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no start: ${child.stdout()}${child.stderr()}`)), START_MS_MAX);
    const look = () => {
      const url = /^Tollgate is listening on (\S+) .*\n/m.exec(child.stdout())?.[1];
      if (url === undefined) return;
      child.process.stdout?.off('data', look);
      clearTimeout(timer);
      resolve(url);
    };
    child.process.stdout?.on('data', look);
    child.exit.then(({ code, stderr }) => {
      clearTimeout(timer);
      reject(new Error(`it ended with ${code} before it listened: ${stderr}`));
    }, reject);
  });
}

const LOCKER = `
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(process.argv[1], { timeout: 5000 });
db.exec('BEGIN IMMEDIATE');
console.log('locked');
process.stdin.once('data', () => db.exec('COMMIT')).once('end', () => process.exit(0)).resume();
`;

/** Another process that holds the write lock of a database until told to release it. */
export async function lockDatabase(path: string): Promise<{ release(): Promise<void> }> {
  const child = spawnChild(process.execPath, ['-e', LOCKER, path], { PATH: process.env.PATH ?? '' });
  await new Promise<void>((resolve, reject) => {
    child.process.stdout?.once('data', () => resolve());
    child.exit.then(({ stderr }) => reject(new Error(`no lock: ${stderr}`)), reject);
  });
  return {
    async release() {
      child.process.stdin?.end('go\n');
      await child.exit;
    },
  };
}
