// Real processes on one store: exact limits among them, and nothing acknowledged is lost when one is killed.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { getKeyCallsId } from '../../../lib/money/budget.ts';
import type { Order } from './child.ts';
import {
  AT,
  balances,
  giveBack,
  newAccount,
  newId,
  newWallet,
  problemsOf,
  RUB,
  reserve,
  type StoreKind,
  settle,
  statuses,
  useStore,
  walletOf,
} from './context.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));

import { itLong, longer } from '../../../testkit/long.ts';
import { newJob } from './jobs.ts';

export function processContract(kind: StoreKind): void {
  const context = useStore(kind);
  const children: ChildProcess[] = [];
  before(function () {
    // Each test starts processes, which take their time on a busy machine.
    for (const test of this.test?.parent?.tests ?? []) test.timeout(60_000);
  });
  after(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  /** A child that has opened the store. */
  async function start(): Promise<ChildProcess> {
    const child = fork(CHILD, [context.url], { serialization: 'advanced' });
    children.push(child);
    expect(await next(child)).to.equal('ready');
    return child;
  }

  async function ask(child: ChildProcess, order: Order): Promise<string[]> {
    const reply = next(child);
    child.send(order);
    return (await reply) as string[];
  }

  let pair: readonly ChildProcess[] = [];
  async function askTwo(order: Order): Promise<string[]> {
    if (pair.length === 0 || pair.some(({ connected }) => !connected)) pair = await Promise.all([start(), start()]);
    return (await Promise.all(pair.map((child) => ask(child, order)))).flat();
  }

  // Limits hold between two openers, too, which is tested on both stores.
  itLong('accepts exactly as many holds of two processes as the balance covers', async () => {
    const wallet = await newWallet(context.store);
    const found = await askTwo({ task: 'reserve', wallet, batches: 20, amount: 9n * RUB });
    expect(found.filter((status) => status === 'done')).to.have.length(111);
    expect(found.filter((status) => status === 'insufficient')).to.have.length(200 - 111);
    expect(balances(await walletOf(context.store, wallet))).to.deep.equal([1, 999, 0, 1000, 0]);
  });

  // Two openers do the same in the suites of keys and limits.
  itLong('holds the maximum of keys among two processes', async () => {
    const account = await newAccount(context.store);
    const found = await askTwo({ task: 'add-keys', account, count: longer(12, 20), activeMax: 10 });
    expect(found.filter((result) => result === 'added')).to.have.length(10);
    expect(await context.store.keys.list(account)).to.have.length(10);
  });

  itLong('counts the hits of two processes exactly', async () => {
    const counts = (await askTwo({ task: 'hit', bucket: newId('key'), count: 50 })).map(Number);
    expect(counts.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  itLong(
    'finds the holds of a killed process, and returns them in full, with their places among running calls',
    async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const owner = newId('own');
      const caps = [{ id: getKeyCallsId(newId('key')), period: 0, limit: 1n }];
      const child = await start();
      expect(await ask(child, { task: 'hold', wallet, owner, caps })).to.deep.equal(['done']);
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      expect(await statuses(store, reserve(wallet, { caps }))).to.deep.equal(['cap']);
      const orphansAt = async (now: number) =>
        (await store.ledger.orphans({ now, leaseMs: 1000, limit: 1000 })).filter((charge) => charge.owner === owner);
      expect(await orphansAt(AT + 1000)).to.deep.equal([]);
      const [orphan] = await orphansAt(AT + 1001);
      expect(await statuses(store, giveBack('expire', wallet, orphan?.id ?? ''))).to.deep.equal(['done']);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([1000, 0, 0, 1000, 0]);
      expect(await statuses(store, reserve(wallet, { caps }), reserve(wallet, { caps }))).to.deep.equal([
        'done',
        'cap',
      ]);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    },
  );

  itLong('gives each job to one of two processes, and the jobs of a killed one to the other', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const ids: string[] = [];
    for (let dueAt = 1; dueAt <= 12; dueAt += 1) {
      const { id } = await newJob(store, wallet);
      await store.jobs.change({ kind: 'begin', id, version: 1, at: AT, ref: 'up', dueAt });
      ids.push(id);
    }
    const leaseMs = longer(1500, 3000);
    const pair = await Promise.all([start(), start()]);
    const found = pair.map((child, index) => {
      const claimed = next(child) as Promise<string[]>;
      child.send({ task: 'claim-jobs', owner: `own_${index}_${wallet}`, leaseMs } satisfies Order);
      return claimed;
    });
    const claimed = await Promise.all(found);
    expect(claimed.flat()).to.have.members(ids).and.have.length(12);
    const dead = pair.map((child) => once(child, 'exit'));
    for (const child of pair) child.kill('SIGKILL');
    await Promise.all(dead);
    const leases = new Map((await store.jobs.page({ limit: 1000 })).map(({ id, lease }) => [id, lease]));
    const heir = { owner: newId('own'), leaseMs, limit: 100 };
    const inherited: string[] = [];
    const until = Date.now() + 4 * leaseMs;
    while (inherited.length < 12 && Date.now() < until) {
      const taken = await store.jobs.claim({ ...heir, at: Date.now() });
      for (const { id } of taken) expect(leases.get(id)).to.be.below(Date.now());
      inherited.push(...taken.map(({ id }) => id));
      await sleep(50);
    }
    expect(inherited).to.have.members(ids).and.have.length(12);
  });

  const itOnce = kind.name === 'sqlite' ? it : itLong;
  itOnce('loses nothing acknowledged if a process is killed, and stays balanced', async () => {
    const { store } = context;
    const wallet = await newWallet(store, 1_000_000n);
    for (let round = 0; round < longer(1, 3); round += 1) {
      const acknowledged = await loadAndKill(await start(), wallet);
      expect(acknowledged.size).to.be.greaterThan(100);
      for (const [id, state] of acknowledged) {
        const charge = await store.ledger.charge(id);
        // The last batch may have been committed without being acknowledged.
        expect(charge?.state, id).to.be.oneOf(state === 'settled' ? ['settled'] : ['held', 'settled']);
      }
      const held = [...acknowledged].filter(([, state]) => state === 'held');
      for (const [id] of held) expect((await statuses(store, settle(wallet, id)))[0]).to.be.oneOf(['done', 'exists']);
    }
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  /** What the store had acknowledged when the process was killed in the middle of its work: charge to state. */
  async function loadAndKill(child: ChildProcess, wallet: string): Promise<Map<string, string>> {
    const acknowledged = new Map<string, string>();
    const exited = once(child, 'exit');
    const order: Order = { task: 'load', wallet };
    child.on('message', (rows: [string, string][]) => {
      for (const [id, state] of rows) acknowledged.set(id, state);
      if (acknowledged.size > 200) child.kill('SIGKILL');
    });
    child.send(order);
    expect((await exited)[1]).to.equal('SIGKILL');
    return acknowledged;
  }
}

async function next(child: ChildProcess): Promise<unknown> {
  const early = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the child ended with ${code}`)));
  const [message] = await Promise.race([once(child, 'message'), early]);
  early.catch(() => undefined);
  return message;
}
