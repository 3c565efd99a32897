// A process of its own on a store, told by its parent what to do.
import type { CapTerms } from '../../../lib/money/budget.ts';
import type { Operation } from '../../../lib/money/decide.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { AT, applied, newId, reserve, settle, statuses } from './context.ts';

/** What a child does; it sends one reply, or for `load` one message per batch until it is killed. */
export type Order =
  | { readonly task: 'reserve'; readonly wallet: string; readonly batches: number; readonly amount: bigint }
  | { readonly task: 'add-keys'; readonly account: string; readonly count: number; readonly activeMax: number }
  | { readonly task: 'hit'; readonly bucket: string; readonly count: number }
  | { readonly task: 'hold'; readonly wallet: string; readonly owner: string; readonly caps: readonly CapTerms[] }
  | { readonly task: 'claim-jobs'; readonly owner: string; readonly leaseMs: number }
  | { readonly task: 'load'; readonly wallet: string };

const [, , url = ''] = process.argv;
const store = await openStore(url);
process.on('message', async (order: Order) => {
  say(await obey(store, order));
});
say('ready');

async function obey(opened: Store, order: Order): Promise<unknown> {
  switch (order.task) {
    case 'reserve': {
      const found: string[] = [];
      for (let batch = 0; batch < order.batches; batch += 1) {
        const operations = Array.from({ length: 5 }, () => reserve(order.wallet, { amount: order.amount }));
        found.push(...(await statuses(opened, ...operations)));
      }
      return found;
    }
    case 'add-keys': {
      const key = { account: order.account, name: 'child', last4: 'abcd', createdAt: AT };
      const adds = Array.from({ length: order.count }, () =>
        opened.keys.add({ ...key, id: newId('key'), hash: newId('hash') }, order.activeMax),
      );
      return Promise.all(adds);
    }
    case 'hit': {
      const hits = Array.from({ length: order.count }, () => opened.limits.hit(order.bucket, 60_000, AT));
      return (await Promise.all(hits)).map((window) => window.count);
    }
    case 'hold': {
      const { wallet, owner, caps } = order;
      await opened.owners.renew({ id: owner, leaseMs: 1000, alone: false });
      return statuses(opened, reserve(wallet, { owner, lease: AT + 1000, caps }));
    }
    case 'claim-jobs':
      return claimAll(opened, order);
    case 'load':
      return load(opened, order.wallet);
  }
}

/** Claims until nothing is left, and says so; then it lives on and works on nothing, until it is killed. */
async function claimAll(opened: Store, { owner, leaseMs }: { owner: string; leaseMs: number }): Promise<never> {
  await opened.owners.renew({ id: owner, leaseMs, alone: false });
  const claimed: string[] = [];
  while (true) {
    const jobs = await opened.jobs.claim({ owner, leaseMs, limit: 2, at: Date.now() });
    if (jobs.length === 0) break;
    claimed.push(...jobs.map(({ id }) => id));
  }
  say(claimed);
  return new Promise(() => setInterval(() => undefined, 60_000));
}

/** Works until it is killed; what it says was acknowledged by the store. */
async function load(opened: Store, wallet: string): Promise<never> {
  let ending: Operation[] = [];
  while (true) {
    const starting = Array.from({ length: 8 }, () => reserve(wallet));
    const outcomes = await applied(opened, ...ending, ...starting);
    const charges = outcomes.map((outcome) => outcome.charge);
    say(charges.map((charge) => [charge?.id, charge?.state]));
    ending = charges.filter((charge) => charge?.state === 'held').map((charge) => settle(wallet, charge?.id ?? ''));
  }
}

function say(message: unknown): void {
  process.send?.(message);
}
