// Filled stores for the growth benchmark, one for each size, kept in a folder so that they are filled only once. What is
// measured works on a copy: its calls would make a small store grow.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { openStore } from '../../lib/store/open.ts';
import { freePorts } from '../../testkit/cluster.ts';
import { findMongod } from '../../testkit/mongod-binary.ts';
import { addAccounts, type Filling, fillLedger, smallWallets } from './fill.ts';

/** The average number of entries a wallet, three quarters of all; the large wallet has the rest. */
export const ENTRIES_PER_WALLET = 40;
const CALLS_OF_SMALL = 14;
/** In every store, if the entries are not for more: what grows with the entries should not be mixed up with this. */
const ACCOUNTS = 50_000;
const CACHE_GB = 1;
const START_MS_MAX = 60_000;
const LOOK_MS = 100;

export interface Stock {
  readonly entries: number;
  /** The small ones that have calls. */
  readonly wallets: readonly string[];
  readonly url: string;
  readonly bytesPerCall: number;
  /** How long filling it took, whenever that was. */
  readonly filledS: number;
  /** The database's own process, if it has one. */
  readonly server: number | undefined;
  stop(): Promise<void>;
}

/** What is known about a filled store. */
interface Note {
  readonly of: string;
  readonly bytesPerCall: number;
  readonly filledS: number;
  /** A replica set is found again only where it was. */
  readonly port: number;
}

interface Wanted {
  readonly kind: string;
  readonly entries: number;
  /** Where filled stores are kept. */
  readonly cache: string;
  /** For the copy. */
  readonly folder: string;
  /** Instead of the usual filling; its name keeps it apart from others. */
  readonly filling?: Filling & { readonly name: string };
}

export async function openStock(wanted: Wanted): Promise<Stock> {
  const { kind, entries, cache, folder } = wanted;
  const name = `${kind}-${wanted.filling?.name ?? entries}`;
  const kept = join(cache, name);
  const note = readNote(kept, wanted.filling ? NAMED_VERSION : VERSION) ?? (await fill(wanted, kept));
  const copy = join(folder, name);
  cpSync(kept, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  const { bytesPerCall, filledS } = note;
  const about = { entries, wallets: smallWallets(wanted.filling ?? planFilling(entries)), bytesPerCall, filledS };
  const { url, server, stop } = await (kind === 'sqlite' ? openFile(copy) : openSet(copy, note.port));
  return { ...about, url, server, stop };
}

function planFilling(entries: number) {
  const wallets = Math.ceil(entries / ENTRIES_PER_WALLET);
  return { entries, wallets, calls: CALLS_OF_SMALL, accounts: Math.max(ACCOUNTS, wallets) };
}

/** Filled stores of another version of the schema or of the filling are of no use. */
const VERSION = hashFiles(['./fill.ts', '../../lib/store/sqlite/schema.ts', '../../lib/store/mongodb/schema.ts']);
/** Those with a name are migrated by the gateway that opens them. */
const NAMED_VERSION = hashFiles(['./fill.ts']);

function hashFiles(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(new URL(file, import.meta.url)));
  return hash.digest('hex');
}

function readNote(folder: string, version: string): Note | undefined {
  const file = join(folder, 'note.json');
  if (!existsSync(file)) return undefined;
  const note: Note = JSON.parse(readFileSync(file, 'utf8'));
  return note.of === version ? note : undefined;
}

async function fill(wanted: Wanted, kept: string): Promise<Note> {
  const { kind, entries } = wanted;
  const filling = wanted.filling ?? planFilling(entries);
  const folder = `${kept}.unfinished`;
  for (const old of [folder, kept]) rmSync(old, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [port = 0] = await freePorts(1);
  const place = await (kind === 'sqlite' ? openFile(folder) : openSet(folder, port));
  await (await openStore(place.url)).close();
  await addAccounts(place.url, filling);
  const empty = await place.size();
  const from = performance.now();
  const filled = await fillLedger(place.url, filling);
  const filledS = (performance.now() - from) / 1000;
  const of = wanted.filling ? NAMED_VERSION : VERSION;
  const note: Note = { of, bytesPerCall: ((await place.size()) - empty) / (filled / 2), filledS, port };
  await place.stop();
  writeFileSync(join(folder, 'note.json'), JSON.stringify(note));
  renameSync(folder, kept);
  return note;
}

interface Place {
  readonly url: string;
  readonly server: number | undefined;
  /** Bytes on disk, including indexes. */
  size(): Promise<number>;
  stop(): Promise<void>;
}

async function openFile(folder: string): Promise<Place> {
  const path = join(folder, 'growth.db');
  return {
    url: `sqlite:${path}`,
    server: undefined,
    size: async () =>
      ['', '-wal'].reduce((sum, end) => sum + (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0), 0),
    stop: async () => undefined,
  };
}

/** A replica set of one member, which finds its data again on the same port. */
async function openSet(folder: string, port: number): Promise<Place> {
  const dbPath = join(folder, 'db');
  mkdirSync(dbPath, { recursive: true });
  const where = ['--dbpath', dbPath, '--port', `${port}`, '--bind_ip', '127.0.0.1', '--replSet', 'growth'];
  const limits = [
    '--wiredTigerCacheSizeGB',
    `${CACHE_GB}`,
    '--oplogSize',
    '64',
    '--setParameter',
    'ttlMonitorEnabled=false',
  ];
  const child = spawn(await findMongod(), [...where, ...limits], { stdio: 'ignore' });
  const url = `mongodb://127.0.0.1:${port}/growth?replicaSet=growth`;
  await untilPrimary(`mongodb://127.0.0.1:${port}/?directConnection=true`, `127.0.0.1:${port}`);
  if (child.exitCode !== null) throw new Error(`another server is on port ${port}, on which this store was filled`);
  return {
    url,
    server: child.pid,
    async size() {
      const client = await MongoClient.connect(url);
      // What is in the cache reaches the disk only at a checkpoint.
      await client.db('admin').command({ fsync: 1 });
      const { storageSize, indexSize } = await client.db().stats();
      await client.close();
      return storageSize + indexSize;
    },
    async stop() {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

async function untilPrimary(url: string, host: string): Promise<void> {
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: START_MS_MAX });
  const admin = client.db('admin');
  const config = { _id: 'growth', members: [{ _id: 0, host }] };
  // A set that is there already refuses it.
  await admin.command({ replSetInitiate: config }).catch(() => undefined);
  const until = performance.now() + START_MS_MAX;
  while (!(await admin.command({ hello: 1 })).isWritablePrimary) {
    if (performance.now() > until) throw new Error('the member does not become the primary');
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  await client.close();
}
