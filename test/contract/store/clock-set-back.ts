// Jobs and payments under way while the clock is set back: their next poll seems to be a day away.
import { expect } from 'chai';
import { LONGEST_WAIT_MS } from '../../../lib/store/claim.ts';
import { newAccount, newId, newWallet, type StoreContext } from './context.ts';
import { newJob } from './jobs.ts';
import { changed, newOrder } from './payments.ts';

const DAY_MS = 86_400_000;
const LEASE_MS = 60_000;

export function clockSetBackContract(context: StoreContext): void {
  const claim = () => ({ owner: newId('own'), leaseMs: LEASE_MS, limit: 1000, working: [], at: Date.now() });

  it('takes up videos that are due later than any waits, and no others that are not due', async () => {
    const { jobs } = context.store;
    const wallet = await newWallet(context.store);
    const now = Date.now();
    const made: string[] = [];
    for (const dueAt of [now + LONGEST_WAIT_MS.jobs + 30_000, now + DAY_MS]) {
      const { id, version } = await newJob(context.store, wallet);
      await jobs.change({ kind: 'begin', id, version, at: now, ref: '{"id":"up"}', dueAt });
      made.push(id);
    }
    const claimed = (await jobs.claim(claim())).map(({ id }) => id);
    expect(made.map((id) => claimed.includes(id))).to.deep.equal([false, true]);
  });

  it('takes up payments that are due later than any waits, and no others that are not due', async () => {
    const { payments } = context.store;
    const wallet = await newAccount(context.store);
    const now = Date.now();
    const made: string[] = [];
    for (const dueAt of [now + LONGEST_WAIT_MS.payments + 30_000, now + DAY_MS]) {
      const order = newOrder(wallet);
      await payments.create(order);
      await changed(context.store, order, { kind: 'begin', ref: newId('ref'), payUrl: null, expiresAt: now, dueAt });
      made.push(order.id);
    }
    const claimed = (await payments.claim(claim())).map(({ id }) => id);
    expect(made.map((id) => claimed.includes(id))).to.deep.equal([false, true]);
    for (const id of made) await changed(context.store, { id }, { kind: 'poll', dueAt: null });
  });
}
