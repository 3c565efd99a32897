// The audit beside all kinds of traffic: it finds nothing, because each page is a snapshot, and rows that are read one after
// the other are compared again.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { verifyChanges } from '../../lib/ledger/audit-changes.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import type { CreateJob } from '../../lib/money/job-rules.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { markClaimed, markEnded } from '../../lib/payments/topup-rules.ts';
import type { Store } from '../../lib/store/store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { applied, giveBack, newId, newWallet, RUB, reserve, settle, useStore } from '../contract/store/context.ts';
import { changed, creditOf, newOrder, newSucceeded, refundOf } from '../contract/store/payments.ts';

const AUDITS = longer(2, 10);
const PRICES = '{"second":"1000000"}';

/** A call, which may be refused while the account is suspended. */
async function makeCall(store: Store, wallet: string): Promise<void> {
  const op = reserve(wallet, { at: Date.now() });
  const [outcome] = await store.ledger.apply([op]);
  if (outcome?.status !== 'done') return;
  const id = outcome.charge?.id as string;
  const at = Date.now();
  if (Math.random() < 0.3) await applied(store, giveBack('release', wallet, id, { at }));
  else await applied(store, settle(wallet, id, { at }));
}

/** A video that ends or fails. */
async function makeVideo(store: Store, wallet: string): Promise<void> {
  const at = Date.now();
  const id = newId('vid');
  const chargeId = newId('req');
  const of = { id, wallet, charge: chargeId, model: 'model-v', upstream: 'up', facts: '{}', owner: 'own_v' };
  const job: CreateJob = { kind: 'create', job: { ...of, lease: at + 9999, createdAt: at, deadline: at + 60_000 } };
  const call = { chargeId, key: 'key_v', chargeKind: 'video', model: 'model-v', prices: PRICES } as const;
  const paid = { wallet, at, ...call, amount: 4n * RUB, usage: '{"seconds":4}', job } as const;
  const [outcome] = await store.ledger.apply([{ kind: 'charge', ...paid }]);
  if (outcome?.status !== 'done') return;
  if (Math.random() < 0.5) {
    const fail = { kind: 'fail', id, version: 1, at, error: 'it failed' } as const;
    await applied(store, { kind: 'refund', wallet, chargeId, at, job: fail });
    return;
  }
  await store.jobs.change({ kind: 'begin', id, version: 1, at, ref: '{}', dueAt: at });
  await store.jobs.change({ kind: 'complete', id, version: 2, at, result: 'res' });
}

/** A payment that is credited and refunded. */
async function makePayment(store: Store, wallet: string): Promise<void> {
  const [outcome] = await applied(store, creditOf(await newSucceeded(store, wallet, {})));
  await applied(store, refundOf(outcome?.payment as Payment, newId('ref'), 300n * RUB));
}

/** An automatic top-up that is declined, and the next one. */
async function makeTopup(store: Store, wallet: string): Promise<void> {
  const now = Date.now();
  const first = {
    id: wallet,
    enabled: true,
    threshold: RUB,
    amount: 500n * RUB,
    cap: 99_999n * RUB,
    method: 'pm_1',
    consent: null,
    order: null,
    nextAt: 0,
    declines: 0,
    pausedAt: null,
    reason: null,
    day: '',
    dayCount: 0,
    month: '',
    monthSum: 0n,
    version: 0,
  };
  const auto = (await store.payments.autoTopup(wallet)) ?? first;
  const order = newOrder(wallet, { origin: 'auto', amount: auto.amount, createdAt: now });
  await store.payments.create(order, markClaimed(auto, order.id, { at: now, zone: 'UTC' }));
  const state = JSON.stringify({ reason: { kind: 'technical' } });
  const over = await changed(store, order, { kind: 'cancel', reason: 'no', state, at: Date.now() });
  const after = (await store.payments.autoTopup(wallet)) as typeof auto;
  await store.payments.changeAutoTopup(markEnded(after, over, { at: Date.now(), zone: 'UTC' })?.auto as typeof auto);
}

for (const kind of longer([SQLITE], STORES)) {
  describe(`the audit beside a running service: ${kind.name}`, () => {
    const context = useStore(kind);

    it('finds nothing while calls, videos, payments, top-ups, folds and suspensions run', async () => {
      const { store } = context;
      const other = await context.other();
      const wallets = await Promise.all(Array.from({ length: 3 }, () => newWallet(store, 100_000n)));
      let going = true;
      const counts: Record<string, number> = {};
      const keepOn = async (name: string, work: (wallet: string) => Promise<unknown>) => {
        for (let time = 0; going; time += 1) {
          await work(wallets[time % wallets.length] as string);
          counts[name] = time + 1;
        }
      };
      const flip = async (wallet: string) => {
        for (const status of ['suspended', 'active'] as const) await other.accounts.setStatus(wallet, status);
        await new Promise((resolve) => setTimeout(resolve, 20));
      };
      const works = [
        keepOn('calls', (wallet) => makeCall(store, wallet)),
        keepOn('other calls', (wallet) => makeCall(other, wallet)),
        keepOn('videos', (wallet) => makeVideo(store, wallet)),
        keepOn('payments', (wallet) => makePayment(store, wallet)),
        keepOn('top-ups', (wallet) => makeTopup(other, wallet)),
        keepOn('folds', (wallet) => foldUsage(other, wallet)),
        keepOn('status', flip),
      ];
      const found: unknown[] = [];
      const isThin = () => works.length > Object.keys(counts).length || Math.min(...Object.values(counts)) < 2;
      for (let audit = 0; audit < AUDITS || isThin(); audit += 1) {
        for (const verify of [verifyLedger, verifyChanges]) found.push(...(await verify(store)).problems);
      }
      going = false;
      await Promise.all(works);
      expect(found).to.deep.equal([]);
      expect((await verifyLedger(store)).problems).to.deep.equal([]);
    }).timeout(120_000);
  });
}
