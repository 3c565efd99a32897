// Kills the service with -9 in the middle of its streams, restarts it on the same store, and checks what clients were
// told against the ledger.
import { verifyLedger } from '../lib/ledger/audit.ts';
import { ask, DIALECTS, send, until } from './client.ts';
import { checkCosts } from './cost-books.ts';
import type { TestAccount } from './gateway.ts';
import { compare, type Heard, listen } from './heard.ts';
import type { Books, Service } from './process.ts';
import { openRig, type Rig } from './rig.ts';
import { type Behaviour, chatAnswer, chatChunk, chatEnd, SSE } from './upstream.ts';

const LEASE_MS = 400;
/** The service renews and sweeps three times per lease. */
const SWEEP_MS = Math.floor(LEASE_MS / 3);
/** The lease of a process's sessions on MongoDB, and the time to notice that it has expired. */
const LOCKED_MS = 4500;
const STREAMS = 12;
const KILL_AFTER_MS = { least: 100, most: 600 };
const ACCOUNTS = 4;
const LOOK_MS = 5;
const TOLD_LEAST = 2;
const TOLD_MS_MAX = 15_000;

export interface Round {
  /** Calls that were answered, fully or partly. */
  readonly calls: number;
  /** Calls whose charge was reported to the client, as of this round. */
  readonly told: number;
  /** Told charges that the ledger does not have with that amount. */
  readonly lost: number;
  /** Open holds left by the dead process. */
  readonly orphans: number;
  /** From when the new process listened until nothing was held. */
  readonly returnedMs: number;
  readonly readyMs: number;
  /** From then until the first call was answered in full. */
  readonly firstCallMs: number;
  readonly problems: readonly string[];
}

interface CrashRig {
  round(): Promise<Round>;
  close(): Promise<void>;
}

/** On a new SQLite file unless a database is named. */
export async function openCrashRig(databaseUrl?: string): Promise<CrashRig> {
  const rig = await openRig(slowAnswer, databaseUrl);
  const lockedMs = databaseUrl?.startsWith('mongodb') ? LOCKED_MS : 0;
  const { books } = rig;
  const accounts: TestAccount[] = [];
  while (accounts.length < ACCOUNTS) accounts.push(await books.account('1000000'));
  let service = await start(rig);
  return {
    async round() {
      const result = await crash({ rig, accounts, service, lockedMs });
      service = result.service;
      return result.round;
    },
    async close() {
      await service.stop();
      await rig.close();
    },
  };
}

function start(rig: Rig): Promise<Service> {
  return rig.start({ env: { LEASE_MS: String(LEASE_MS), LOG_LEVEL: 'warn' } });
}

interface Stage {
  readonly rig: Rig;
  readonly accounts: readonly TestAccount[];
  readonly service: Service;
  /** How long a transaction of the dead process may lock a wallet. */
  readonly lockedMs: number;
}

async function crash({ rig, accounts, service: doomed, lockedMs }: Stage): Promise<{ service: Service; round: Round }> {
  const { books } = rig;
  let dead = false;
  const heard: Heard[] = [];
  const workers = Array.from({ length: STREAMS }, async (_, index) => {
    const account = accounts[index % accounts.length] as TestAccount;
    const path = DIALECTS[index % DIALECTS.length] as string;
    while (!dead) {
      const call = await listen({ url: doomed.url + path, account, stream: true });
      if (call.status !== 0) heard.push(call);
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  const { least, most } = KILL_AFTER_MS;
  await new Promise((resolve) => setTimeout(resolve, least + Math.random() * (most - least)));
  // On a slow machine the first calls take longer.
  await until(() => heard.filter(({ charged }) => charged !== undefined).length >= TOLD_LEAST, TOLD_MS_MAX);
  dead = true;
  doomed.kill('SIGKILL');
  await Promise.all([doomed.exit, ...workers]);
  const orphans = await countHeld(books, heard);

  const service = await start(rig);
  const readyAt = performance.now();
  const reply = await send(service.url + DIALECTS[1], { key: accounts[0]?.key ?? '', body: ask(AT_ONCE) });
  const firstCallMs = performance.now() - readyAt;
  const problems = reply.status === 200 ? [] : [`the first call was answered ${reply.status}`];
  let lateMs = 0;
  while ((await books.held()) > 0n && performance.now() - readyAt < 10 * LEASE_MS + lockedMs) {
    const askedAt = performance.now();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    lateMs += performance.now() - askedAt - LOOK_MS;
  }
  const returnedMs = performance.now() - readyAt;
  // If timers were late here, the machine was busy, and the service was late too.
  if (returnedMs > LEASE_MS + SWEEP_MS + firstCallMs + lockedMs + lateMs)
    problems.push(`holds were back after ${Math.round(returnedMs)} ms`);
  const { wrong: lost, told } = await compare(books.store, heard);
  const report = await verifyLedger(books.store);
  problems.push(...lost, ...report.problems.map(({ wallet, problem }) => `${wallet}: ${problem}`));
  // A call that was released may not have asked its upstream.
  problems.push(...(await checkCosts(books.store, ({ state }) => (state === 'released' ? [0, 1] : [1]))));
  const figures = { calls: heard.length, told, lost: lost.length, orphans };
  return { service, round: { ...figures, returnedMs, readyMs: service.readyMs, firstCallMs, problems } };
}

const AT_ONCE = 'still there?';

/** Words with pauses, between 50 and 500 ms in total; one prompt is answered at once. */
export const slowAnswer: Behaviour = async (call) => {
  const { body, response } = call;
  if (JSON.stringify(body).includes(AT_ONCE)) return chatAnswer('Yes.')(call);
  response.writeHead(200, SSE);
  const words = 5 + Math.floor(Math.random() * 20);
  for (let word = 0; word < words && !response.destroyed; word += 1) {
    response.write(chatChunk('word '.repeat(40)));
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 10));
  }
  response.end(chatEnd({ input: 7, output: words * 40 }));
};

async function countHeld({ store }: Books, heard: readonly Heard[]): Promise<number> {
  const charges = await Promise.all(heard.map(({ requestId = '' }) => store.ledger.charge(requestId)));
  return charges.filter((charge) => charge?.state === 'held').length;
}
