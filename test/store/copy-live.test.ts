// A copy of a store in use: whatever is written while it runs, it adds up, and has nothing of what its wallets do not know.
import { expect } from 'chai';
import { redeemPromo } from '../../lib/accounts/promos.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { formatDay } from '../../lib/money/days.ts';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import type { Store } from '../../lib/store/store.ts';
import type { Faults, FaultyStore } from '../../testkit/faulty-store.ts';
import { applied, newId, newWallet, RUB, topup } from '../contract/store/context.ts';
import { newAuto, newMethod, newOrder } from '../contract/store/payments.ts';
import { makeUser } from '../contract/store/people.ts';
import { newPromo } from '../contract/store/promos.ts';
import { useCopies } from './copies.ts';

type Call = Parameters<Faults['next']>[0];
type Event = (store: Store, wallet: string) => Promise<unknown>;

/** Where the copy is when something happens: it has read this and not yet what follows. */
const MOMENTS: readonly Call[] = [
  'management.replyPage',
  'accounts.page',
  'journal.page',
  'keys.owners',
  'jobs.page',
  'payments.page',
  'users.page',
  'alerts.page',
  'promos.uses',
  'promos.page',
];

const CLAIM = { body: 'b', lease: Date.now(), expiresAt: Date.now() + 3_600_000 };

const EVENTS: Readonly<Record<string, Event>> = {
  'a key': (store, account) => {
    const secret = { hash: newId('hash'), last4: 'abcd' };
    return store.keys.add({ id: newId('key'), account, name: 'n', ...secret, createdAt: Date.now() }, 100);
  },
  'an automatic top-up': startAutoTopup,
  'a saved card': (store, wallet) => store.payments.saveMethod(newMethod(wallet)),
  'a member': async (store, account) => {
    const user = makeUser();
    await store.users.add(user);
    await store.users.join({ user: user.id, account, role: 'owner' });
  },
  'a promo code': async (store, account) => {
    const promo = newPromo();
    await store.promos.add(promo);
    await redeemPromo(store, { code: promo.code, account, at: Date.now() });
  },
  'a top-up by the management API': async (store, wallet) => {
    const paymentId = newId('pay');
    const claim = { ...CLAIM, id: newId('reply') };
    await store.management.claimReply(claim, Date.now());
    await applied(store, topup(wallet, RUB, { paymentId }));
    await store.management.storeReply(claim, paymentId);
  },
};

async function startAutoTopup(store: Store, wallet: string): Promise<void> {
  await store.payments.changeAutoTopup(newAuto(wallet, { amount: 700n * RUB }));
  const auto = (await store.payments.autoTopup(wallet)) as AutoTopupRow;
  const order = newOrder(wallet, { origin: 'auto', amount: auto.amount });
  const day = formatDay(order.createdAt, 'UTC');
  const counts = { day, dayCount: 1, month: day.slice(0, 7), monthSum: auto.amount };
  await store.payments.create(order, { ...auto, ...counts, order: order.id });
}

describe('copy of a store in use', () => {
  let source: FaultyStore;
  let target: FaultyStore;
  let wallet: string;
  const { copy } = useCopies((opened) => {
    ({ source, target, wallet } = opened);
  });

  /** Happens once the copy has read something. */
  function happenAt(moment: Call, event: () => Promise<unknown>): void {
    source.next(moment, async (read) => {
      const rows = await read();
      await event();
      return rows;
    });
  }

  for (const [what, event] of Object.entries(EVENTS)) {
    for (const isNew of [false, true]) {
      it(`adds up whenever ${isNew ? 'a new' : 'an'} account gets ${what}`, async () => {
        for (const moment of MOMENTS) {
          const account = isNew ? undefined : await newWallet(source.real);
          happenAt(moment, async () => event(source.real, account ?? (await newWallet(source.real))));
        }
        await copy(true);
        expect((await verifyLedger(target.real)).problems).to.deep.equal([]);
        const accounts = new Set((await target.real.accounts.list()).map(({ id }) => id));
        expect(accounts.has(wallet)).to.equal(true);
        for (const row of await target.real.payments.page('methods', { limit: 100 }))
          expect(accounts.has(row.wallet)).to.equal(true);
        for (const row of await target.real.users.memberships({ limit: 100 }))
          expect(accounts.has(row.account)).to.equal(true);
        for (const { reply } of await target.real.management.replyPage({ limit: 100 }))
          if (reply !== null) expect(await target.real.ledger.entry(`topup:${reply}`), reply).to.not.equal(undefined);
      });
    }
  }

  it('has the order that an automatic top-up has started since, so that it goes on', async () => {
    happenAt('payments.page', () => startAutoTopup(source.real, wallet));
    await copy(true);
    const auto = await target.real.payments.autoTopup(wallet);
    expect(auto).to.deep.equal(await source.real.payments.autoTopup(wallet));
    expect(await target.real.payments.get(auto?.order ?? '')).to.include({ wallet, origin: 'auto', phase: 'created' });
    expect((await target.real.accounts.get(wallet))?.autoTopup).to.include({ enabled: true, amount: 700n * RUB });
  });
});
