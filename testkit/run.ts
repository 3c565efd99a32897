// What a test run has once, for all its worker processes: one MongoDB, one folder in memory. Mocha loads it first.
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:http';
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { config as assertions } from 'chai';
import { cacheCompiledCode } from '../lib/base/compile-cache.ts';
import { closeShared } from './end.ts';
import { hashCheaply } from './passwords.ts';
import type { ReplicaSet } from './replica-set.ts';
import { useTemplate } from './sqlite-template.ts';
import { keepThreads } from './threads.ts';

// The threads of every store that a test opens compile the same files.
cacheCompiledCode();
keepThreads(true);
useTemplate();
hashCheaply(true);
// The compiler finds words that assertions lack; to look for them at each would take a twentieth of the time of many files.
assertions.useProxy = false;

/** Mocha's workers run at a lower priority, so that the MongoDB they share answers in time on a busy machine. */
const POLITE = 5;
if (process.env.MOCHA_WORKER_ID !== undefined) setPriority(POLITE);

/**
 * A worker sends what failed to the run as JSON, which has no bigints: without this a failed comparison of amounts would
 * end the whole file with an error that names neither the test nor the amounts. While tests run, nothing is changed.
 */
const bigints = BigInt.prototype as { toJSON?: () => string };
export const mochaHooks = {
  beforeAll(): void {
    delete bigints.toJSON;
    process.on('unhandledRejection', failTest);
  },
  afterAll(): void {
    // Before the end of the run, which is when Node writes it: processes and threads that tests start need it, too.
    flushCompileCache();
    process.off('unhandledRejection', failTest);
    bigints.toJSON = function (this: bigint) {
      return `${this}n`;
    };
  },
};

/** A rejection that nobody handles ends the service, so it fails the test that runs; Mocha alone overlooks it. */
function failTest(reason: unknown): never {
  throw reason;
}

let set: Promise<ReplicaSet> | undefined;

/** Most files need no MongoDB: the first request starts it. */
const desk = createServer(async (_, response) => {
  try {
    set ??= import('./replica-set.ts').then(({ startReplicaSet }) => startReplicaSet({ members: 1 }));
    response.end((await set).url('test'));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

/** Linux keeps these files in memory, so the hundreds of databases of a run never wait for a disk. */
const MEMORY = '/dev/shm';
/** Containers often have 64 MiB. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;
const PREFIX = 'tollgate-tests-';
/** How long what tests have opened may take to close after the last of them. */
const LEAK_MS = 10_000;

let folder: string | undefined;

export async function mochaGlobalSetup(): Promise<void> {
  folder = makeFolder();
  if (folder !== undefined) process.env.TMPDIR = folder;
  process.env.SQLITE_TEST_TEMPLATE = join(folder ?? tmpdir(), `tollgate-template-${process.pid}.db`);
  desk.listen(0, '127.0.0.1');
  await once(desk, 'listening');
  // Lets a run that is interrupted from the keyboard end.
  desk.unref();
  process.env.MONGODB_TEST_DESK = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`;
}

export async function mochaGlobalTeardown(): Promise<void> {
  await closeShared();
  desk.close();
  desk.closeAllConnections();
  await (await set)?.stop();
  rmSync(folder ?? process.env.SQLITE_TEST_TEMPLATE ?? '', { recursive: true, force: true });
  setTimeout(endLeakingRun, LEAK_MS).unref();
}

/** A test that left a server or a timer behind, mostly because it failed, would keep the run alive for ever. */
function endLeakingRun(): void {
  console.error(`The tests have ended, but these are still open: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit(1);
}

/** Undefined if there is no such place, or if `TMPDIR` names another. */
function makeFolder(): string | undefined {
  if (process.env.TMPDIR) return undefined;
  try {
    removeLeftovers();
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < MEMORY_BYTES_MIN) return undefined;
    const made = mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`));
    // Like /tmp: some tests run a process as another user.
    chmodSync(made, 0o1777);
    return made;
  } catch {
    return undefined;
  }
}

/** Removes the folders of runs that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
