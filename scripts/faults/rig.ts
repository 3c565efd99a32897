// Two gateways on one store with callers, with the store's disk, network, lock and clocks under a campaign's control.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { until } from '../../testkit/client.ts';
import { slowAnswer } from '../../testkit/crash.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { lockDatabase, type Service } from '../../testkit/process.ts';
import { startReplicaSet } from '../../testkit/replica-set.ts';
import { openRig, type Rig } from '../../testkit/rig.ts';
import { type NetworkProxy, startProxy } from './proxy.ts';

export type StoreName = 'sqlite' | 'mongodb';

const LEASE_MS = 1000;
const GATEWAYS = 2;
const ACCOUNTS = 4;
/** The limit of every file a gateway writes: more than a campaign needs, and less than would fill the disk. */
const FILE_KIB_MAX = 64 * 1024;
const SHRINK_MS = 10_000;
const CLOCK = fileURLToPath(new URL('./clock.ts', import.meta.url));

export interface FaultRig {
  readonly store: StoreName;
  readonly rig: Rig;
  /** Reaches the database whatever happens to the gateways' network. */
  readonly databaseUrl: string;
  readonly accounts: readonly TestAccount[];
  readonly gateways: (Service | undefined)[];
  /** MongoDB only. */
  readonly network: NetworkProxy | undefined;
  start(index: number): Promise<void>;
  kill(index: number): Promise<void>;
  setClock(index: number, offsetMs: number): void;
  /** SQLite only: another process holds the write lock. */
  lock(): Promise<() => Promise<void>>;
  /** SQLite only: no gateway can write any more. */
  fillDisk(): Promise<void>;
  /** SQLite only: there is room again. */
  makeRoom(): Promise<void>;
  close(): Promise<void>;
}

export async function openFaultRig(store: StoreName): Promise<FaultRig> {
  const set = store === 'mongodb' ? await startReplicaSet({ members: 1 }) : undefined;
  const direct = set?.url('tollgate');
  const port = Number(/:(\d+)/.exec(direct?.replace('mongodb://', '') ?? '')?.[1]);
  const network = direct === undefined ? undefined : await startProxy(port);
  const rig = await openRig(slowAnswer, direct);
  const { books, home } = rig;
  const accounts: TestAccount[] = [];
  while (accounts.length < ACCOUNTS) accounts.push(await books.account('10000000'));
  const gateways: (Service | undefined)[] = [];
  const clockFile = (index: number) => join(home.folder, `clock-${index}`);
  const through = network && `mongodb://127.0.0.1:${network.port}/tollgate?directConnection=true`;

  async function start(index: number): Promise<void> {
    const env = {
      LEASE_MS: String(LEASE_MS),
      LOG_LEVEL: 'error',
      NODE_OPTIONS: `--import=${CLOCK}`,
      CLOCK_FILE: clockFile(index),
      ...(through !== undefined && { DATABASE_URL: through }),
    };
    gateways[index] = await rig.start({ env, ...(store === 'sqlite' && { fileKiBMax: FILE_KIB_MAX }) });
  }

  const setClock = (index: number, offsetMs: number) => writeFileSync(clockFile(index), String(offsetMs));
  const fill = (bytes: number) => books.store.settings.set('filler', 'x'.repeat(bytes));
  for (let index = 0; index < GATEWAYS; index += 1) {
    setClock(index, 0);
    await start(index);
  }
  return {
    store,
    rig,
    accounts,
    gateways,
    network,
    start,
    setClock,
    databaseUrl: home.env.DATABASE_URL ?? '',
    async kill(index) {
      const doomed = gateways[index];
      gateways[index] = undefined;
      doomed?.kill('SIGKILL');
      await doomed?.exit;
    },
    lock: async () => (await lockDatabase(home.database)).release,
    fillDisk: () => fill((FILE_KIB_MAX + 1024) * 1024),
    async makeRoom() {
      await fill(1);
      await shrink(home.database);
    },
    async close() {
      for (const gateway of gateways) await gateway?.stop();
      await rig.close();
      await network?.close();
      await set?.stop();
    },
  };
}

/** Shrinks the file and the log to their former size: a gateway limited to smaller files could not do it. */
async function shrink(database: string): Promise<void> {
  const db = new DatabaseSync(database, { timeout: 10_000 });
  try {
    db.exec('VACUUM');
    // A reader may block it for a moment.
    await until(() => Number(db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy) === 0, SHRINK_MS);
  } finally {
    db.close();
  }
}
