// The primary steps down, freezes and dies under load: every answer comes in bounded time, nothing acknowledged is
// lost, nothing is applied twice, and nothing that was reported as not applied is.
import { expect } from 'chai';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import { createQueue, NoOutcome, type Queue } from '../../../lib/ledger/queue.ts';
import type { Operation, Outcome } from '../../../lib/money/decide.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { type ReplicaSet, startReplicaSet } from '../../../testkit/replica-set.ts';
import { newId, newWallet, reserve, settle } from '../../contract/store/context.ts';

const WRITERS = 2;
const CALLERS = 15;
const ANSWER_MS_MAX = 6000;

/** What became of the operations that were sent. */
interface Log {
  readonly holds: Map<string, 'done' | 'never' | 'unknown'>;
  readonly settled: Set<string>;
  readonly successes: number[];
  slowestMs: number;
  /** Operations with an unknown outcome. */
  unknown: number;
  /** Those without a later outcome: the store never applied them. */
  readonly silent: Set<Operation>;
}

describe('MongoDB: failover of three members', () => {
  const rig = useSet(3);

  it('steps down', async () => {
    await survive(rig, { backMsMax: 5000, strike: () => rig.set.stepDown() });
  }).timeout(60_000);

  it('freezes and comes back', async () => {
    await survive(rig, { backMsMax: 12_000, strike: () => freeze(rig.set, 13_000), quietMs: 14_000 });
  }).timeout(90_000);

  it('is killed', async () => {
    const strike = async () => void process.kill(await rig.set.primary(), 'SIGKILL');
    await survive(rig, { backMsMax: 8000, strike });
  }).timeout(90_000);
});

describe('MongoDB: a single member', () => {
  const rig = useSet(1);

  it('freezes for longer than a call waits: every call is answered, and what is unknown is known later', async () => {
    const log = await survive(rig, { backMsMax: 9000, strike: () => freeze(rig.set, 6500), quietMs: 7000 });
    const states = [...log.holds.values()];
    expect(states.filter((state) => state === 'never').length, 'told that nothing happened').to.be.greaterThan(0);
    for (const op of log.silent) {
      expect(op.kind).to.equal('reserve');
      if (op.kind === 'reserve') expect(await rig.stores[0]?.ledger.charge(op.chargeId)).to.equal(undefined);
    }
  }).timeout(60_000);
});

interface Rig {
  readonly set: ReplicaSet;
  readonly stores: readonly Store[];
}

function useSet(members: number): Rig {
  const stores: Store[] = [];
  let set: ReplicaSet | undefined;
  before(async function () {
    this.timeout(60_000);
    set = await startReplicaSet({ members });
    for (let index = 0; index < WRITERS; index += 1) stores.push(await openStore(set.url('tollgate')));
  });
  after(async function () {
    this.timeout(60_000);
    for (const store of stores) await store.close();
    await set?.stop();
  });
  return {
    stores,
    get set() {
      return set as ReplicaSet;
    },
  };
}

async function freeze(set: ReplicaSet, ms: number): Promise<void> {
  const pid = await set.primary();
  process.kill(pid, 'SIGSTOP');
  setTimeout(() => process.kill(pid, 'SIGCONT'), ms);
}

interface Fault {
  readonly strike: () => Promise<void>;
  /** From the fault to the first new hold. */
  readonly backMsMax: number;
  /** How long the load continues after the fault. */
  readonly quietMs?: number;
}

/** Load, a fault in the middle of it, and the accounts afterwards. */
async function survive({ stores }: Rig, { strike, backMsMax, quietMs = 0 }: Fault): Promise<Log> {
  const [store] = stores as [Store];
  const wallets = [await newWallet(store, 10_000_000n), await newWallet(store, 10_000_000n)];
  const log: Log = { holds: new Map(), settled: new Set(), successes: [], slowestMs: 0, unknown: 0, silent: new Set() };
  const queues = stores.map(({ ledger }) => createQueue({ store: ledger }));
  let working = true;
  const callers = queues.flatMap((queue) =>
    Array.from({ length: CALLERS }, async (_, index) => {
      while (working) await pair(queue, wallets[index % 2] as string, log);
    }),
  );
  await sleep(1000);
  const struckAt = performance.now();
  await strike();
  await sleep(50);
  // All callers may be running together: these wait behind them.
  callers.push(...queues.flatMap((queue) => wallets.map((wallet) => pair(queue, wallet, log))));
  // Calls that were running at the fault may still be answered.
  const since = struckAt + 500;
  const passed = () => performance.now() - struckAt;
  while (log.successes.filter((at) => at > since).length < 100 && passed() < 20_000) await sleep(20);
  const backMs = (log.successes.find((at) => at > since) ?? Number.POSITIVE_INFINITY) - struckAt;
  await sleep(Math.max(0, quietMs - passed()) + 1000);
  working = false;
  await Promise.all(callers);
  for (const queue of queues) expect(await queue.drain(15_000), 'left without an outcome').to.equal(0);
  const refused = [...log.holds.values()].filter((state) => state === 'never').length;
  const figures = { holds: log.holds.size, refused, unknown: log.unknown, slowestMs: log.slowestMs, backMs };
  console.log(
    `      ${JSON.stringify(figures, (_, value) => (typeof value === 'number' ? Math.round(value) : value))}`,
  );
  expect(log.slowestMs, 'slowest answer').to.be.lessThan(ANSWER_MS_MAX);
  expect(backMs, 'back after').to.be.lessThan(backMsMax);
  await check(store, log);
  return log;
}

async function pair(queue: Queue, wallet: string, log: Log): Promise<void> {
  const chargeId = newId('req');
  const held = await ask(queue, reserve(wallet, { chargeId }), log);
  log.holds.set(chargeId, held === 'done' || held === 'exists' ? 'done' : held === 'never' ? 'never' : 'unknown');
  if (held !== 'done' && held !== 'exists') return;
  log.successes.push(performance.now());
  const ended = await ask(queue, settle(wallet, chargeId), log);
  if (ended === 'done' || ended === 'exists') log.settled.add(chargeId);
}

/** As the ledger service does it: the end of a call is tried until it is known. */
async function ask(queue: Queue, op: Operation, log: Log): Promise<Outcome['status'] | NoOutcome['applied']> {
  const from = performance.now();
  const onLate = () => void log.silent.delete(op);
  try {
    return (await queue.submit(op, { persistent: op.kind !== 'reserve', onLate })).status;
  } catch (error) {
    if (!(error instanceof NoOutcome)) throw error;
    if (error.applied === 'unknown') {
      log.unknown += 1;
      log.silent.add(op);
    }
    return error.applied;
  } finally {
    log.slowestMs = Math.max(log.slowestMs, performance.now() - from);
  }
}

async function check(store: Store, { holds, settled }: Log): Promise<void> {
  const ghosts: string[] = [];
  const lost: string[] = [];
  const ids = holds.keys();
  const reader = async () => {
    for (const id of ids) {
      const charge = await store.ledger.charge(id);
      if (holds.get(id) === 'never' && charge) ghosts.push(id);
      if (holds.get(id) === 'done' && !charge) lost.push(id);
      if (settled.has(id) && charge?.state !== 'settled') lost.push(`${id} is ${charge?.state}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, reader));
  expect(ghosts, 'applied after a refusal').to.deep.equal([]);
  expect(lost, 'acknowledged and lost').to.deep.equal([]);
  // Op ids are unique and the journal has no gap: the sums would reveal anything applied twice.
  const { ok, problems } = await verifyLedger(store);
  expect(ok, JSON.stringify(problems)).to.equal(true);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
