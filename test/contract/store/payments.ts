// Payments: claimed by one process at a time, changed in one version only, credited and paid back with their money.

import { expect } from 'chai';
import type { Operation } from '../../../lib/money/decide.ts';
import type { FreePaymentChange, NewPayment, Payment } from '../../../lib/money/payment-rules.ts';
import type { AutoTopupRow, PaymentRows, PaymentWebhook, SavedMethodRow } from '../../../lib/store/ports/payments.ts';
import type { Store } from '../../../lib/store/store.ts';
import {
  AT,
  applied,
  balances,
  newAccount,
  newId,
  problemsOf,
  RUB,
  rejection,
  reserve,
  type StoreContext,
  walletOf,
} from './context.ts';

const LEASE_MS = 60_000;

export function newOrder(wallet: string, more: Partial<NewPayment> = {}): NewPayment {
  const what = { provider: 'till', amount: 1000n * RUB, shop: 'shop-1', test: true, origin: 'manual' } as const;
  const maker = { owner: 'own_maker', lease: Date.now() + LEASE_MS, createdAt: Date.now() };
  return { id: newId('pay'), wallet, ...what, facts: '{}', ...maker, ...more };
}

/** One more change of a payment, to the version that it has. */
export async function changed(store: Store, { id }: Pick<Payment, 'id'>, what: object): Promise<Payment> {
  const { version } = (await store.payments.get(id)) as Payment;
  const outcome = await store.payments.change({ id, version, at: AT, ...what } as FreePaymentChange);
  expect(outcome.status, Object.values(what).join(' ')).to.equal('done');
  return outcome.payment as Payment;
}

/** A payment whose money the provider has. */
export async function newSucceeded(store: Store, wallet: string, more: Partial<NewPayment> = {}): Promise<Payment> {
  const order = newOrder(wallet, more);
  await store.payments.create(order);
  const ref = newId('ref');
  await changed(store, order, { kind: 'begin', ref, payUrl: 'https://till/', expiresAt: AT + 1, dueAt: AT });
  return changed(store, order, { kind: 'succeed', ref, state: '{}' });
}

export function creditOf({ id, version, wallet, provider, ref, amount }: Payment): Operation {
  const payment = { kind: 'credit', id, version, at: AT, reason: null, dueAt: null } as const;
  return { kind: 'pay', wallet, at: AT, amount, paymentId: `${provider}:${ref}`, order: id, payment };
}

export function refundOf({ id, version, wallet, provider }: Payment, ref: string, amount: bigint): Operation {
  const payment = { kind: 'refund', id, version, at: AT, ref, refund: null } as const;
  const back = { paybackId: `${provider}:${ref}`, order: id, suspend: true, payment };
  return { kind: 'payback', wallet, at: AT, amount, ...back };
}

export function reverseOf({ id, version, wallet, provider }: Payment, dispute: string, amount: bigint): Operation {
  const payment = { kind: 'reverse', id, version, at: AT } as const;
  const back = { paybackId: `${provider}:${dispute}`, order: id, suspend: false, payment };
  return { kind: 'dispute', wallet, at: AT, amount, ...back };
}

export function newMethod(wallet: string, more: Partial<SavedMethodRow> = {}): SavedMethodRow {
  const card = { kind: 'card', brand: 'Visa', last4: '4242', expiry: '2030-05', fingerprint: null };
  return {
    id: newId('pm'),
    wallet,
    provider: 'till',
    ref: newId('m'),
    ...card,
    createdAt: AT,
    removedAt: null,
    ...more,
  };
}

export function newAuto(id: string, more: Partial<AutoTopupRow> = {}): AutoTopupRow {
  const wish = { enabled: true, threshold: 100n * RUB, amount: 500n * RUB, cap: 5000n * RUB };
  const state = { order: null, nextAt: 0, declines: 0, pausedAt: null, reason: null };
  const counts = { day: '', dayCount: 0, month: '', monthSum: 0n };
  return { id, ...wish, method: 'pm_1', consent: null, ...state, ...counts, version: 0, ...more };
}

export function newWebhook(more: Partial<PaymentWebhook> = {}): PaymentWebhook {
  const came = { provider: 'till', at: AT, address: '10.0.0.1', headers: '{}', body: '{"id":1}' };
  return { id: newId('ntc'), ...came, verdict: 'received', detail: '', ...more };
}

export function paymentContract(context: StoreContext): void {
  describe('and their money', () => {
    it('are credited once together with the row, even if repeated', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const payment = await newSucceeded(store, wallet, { amount: 300n * RUB });
      const [done] = await applied(store, creditOf(payment));
      expect([done?.status, done?.payment?.phase, done?.payment?.credited]).to.deep.equal([
        'done',
        'credited',
        300n * RUB,
      ]);
      expect(await store.payments.get(payment.id)).to.deep.equal(done?.payment);
      const [again, other] = await applied(store, creditOf(payment), creditOf({ ...payment, version: 1 }));
      expect([again?.status, other?.status]).to.deep.equal(['exists', 'exists']);
      expect(again?.payment).to.deep.equal(done?.payment);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([300, 0, 0, 300, 0]);
      const entry = await store.ledger.entry(`pay:till:${payment.ref}`);
      expect(entry).to.deep.include({ wallet, kind: 'pay', topped: 300n * RUB, note: payment.id, charge: null });
      expect(await store.ledger.entry('pay:till:none')).to.equal(undefined);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    });

    it('are not credited if the row has changed meanwhile', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const payment = await newSucceeded(store, wallet);
      await changed(store, payment, { kind: 'review', reason: 'sum' });
      const [stale] = await applied(store, creditOf(payment));
      expect([stale?.status, stale?.payment?.phase]).to.deep.equal(['stale_payment', 'review']);
      const [gone] = await applied(store, creditOf({ ...payment, id: 'pay_none', ref: 'none' }));
      expect([gone?.status, gone?.payment]).to.deep.equal(['stale_payment', undefined]);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([0, 0, 0, 0, 0]);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    });

    it('are credited once by two concurrent processes', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newAccount(store);
      for (let turn = 0; turn < 5; turn += 1) {
        const payment = await newSucceeded(store, wallet);
        const found = await Promise.all([store, other].map((one) => applied(one, creditOf(payment))));
        expect(found.flat().map(({ status }) => status)).to.have.members(['done', 'exists']);
        expect((await walletOf(store, wallet)).topped).to.equal(BigInt(turn + 1) * 1000n * RUB);
      }
    });

    it('are refunded as far as the balance allows, with the shortfall recorded and the wallet suspended', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const payment = await newSucceeded(store, wallet);
      const [credited] = await applied(store, creditOf(payment));
      await applied(store, reserve(wallet, { amount: 700n * RUB }));
      const part = refundOf(credited?.payment as Payment, 'r1', 100n * RUB);
      const [first] = await applied(store, part);
      expect([first?.payment?.phase, first?.payment?.shortfall]).to.deep.equal(['partly_refunded', 0n]);
      const [rest] = await applied(store, refundOf(first?.payment as Payment, 'r2', 900n * RUB));
      expect([rest?.status, rest?.payment?.phase, rest?.wallet?.status]).to.deep.equal([
        'done',
        'refunded',
        'suspended',
      ]);
      expect([rest?.payment?.refunded, rest?.payment?.shortfall]).to.deep.equal([1000n * RUB, 700n * RUB]);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([-700, 700, 0, 0, 0]);
      expect((await store.accounts.get(wallet))?.status).to.equal('suspended');
      const [again] = await applied(store, part);
      expect(again?.status).to.equal('exists');
      const later = await newSucceeded(store, wallet);
      const [paid] = await applied(store, creditOf(later));
      await store.accounts.setStatus(wallet, 'active');
      expect(balances(await walletOf(store, wallet))).to.deep.equal([300, 700, 0, 1000, 0]);
      await applied(store, reserve(wallet, { amount: 300n * RUB }));
      const [none] = await applied(store, refundOf(paid?.payment as Payment, 'r4', 400n * RUB));
      expect([none?.status, none?.payment?.shortfall]).to.deep.equal(['done', 400n * RUB]);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    });

    it('are reclaimed by a lost dispute, even with a suspension by another process', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newAccount(store);
      const [credited] = await applied(store, creditOf(await newSucceeded(store, wallet)));
      const disputed = await changed(store, credited?.payment as Payment, {
        ...{ kind: 'dispute', dispute: 'cb-1', amount: 1000n * RUB },
      });
      await other.accounts.setStatus(wallet, 'suspended');
      const [lost] = await applied(store, reverseOf(disputed, `cb-1`, 1000n * RUB));
      expect([lost?.status, lost?.payment?.phase, lost?.wallet?.status]).to.deep.equal([
        'done',
        'reversed',
        'suspended',
      ]);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([0, 0, 0, 0, 0]);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
    });

    it('see earlier operations of the same batch', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const payment = await newSucceeded(store, wallet);
      const after = { ...payment, version: payment.version + 1 };
      const outcomes = await applied(store, creditOf(payment), refundOf(after, 'r3', RUB), refundOf(after, 'r3', RUB));
      expect(outcomes.map((found) => [found.status, found.payment?.phase])).to.deep.equal([
        ['done', 'credited'],
        ['done', 'partly_refunded'],
        ['exists', 'partly_refunded'],
      ]);
      expect((await store.payments.get(payment.id))?.version).to.equal(payment.version + 2);
    });
  });

  describe('as rows', () => {
    it('are created once, found by their ids, and listed newest first', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const orders = [1, 2, 2, 3].map((age) => newOrder(wallet, { createdAt: AT + age }));
      for (const order of orders) expect(await store.payments.create(order)).to.equal('created');
      expect(await store.payments.create(orders[0] as NewPayment)).to.equal('exists');
      const [first] = orders as [NewPayment];
      const made = await store.payments.get(first.id);
      expect(made).to.deep.include({ ...first, phase: 'created', version: 1, dueAt: first.lease });
      const ref = newId('ref');
      const begun = await changed(store, first, { kind: 'begin', ref, payUrl: null, expiresAt: AT, dueAt: AT });
      expect(await store.payments.find('till', ref)).to.deep.equal(begun);
      expect(await store.payments.find('other', ref)).to.equal(undefined);
      const list = await store.payments.list({ wallet, limit: 10 });
      expect(list.map(({ createdAt }) => createdAt - AT)).to.deep.equal([3, 2, 2, 1]);
      const twins = list.slice(1, 3).map(({ id }) => id);
      expect(twins, 'of one moment').to.deep.equal(twins.toSorted().toReversed());
      const [, second] = list as [Payment, Payment];
      const rest = await store.payments.list({ wallet, before: second, limit: 10 });
      expect(rest).to.deep.equal(list.slice(2));
      expect(await store.payments.list({ wallet, phases: ['pending'], limit: 10 })).to.deep.equal([begun]);
      expect(await store.payments.list({ wallet, provider: 'other', limit: 10 })).to.deep.equal([]);
      expect(await store.payments.list({ wallet, phases: ['pending'], isOpen: true, limit: 10 })).to.deep.equal([
        begun,
      ]);
      await changed(store, begun, { kind: 'expire', reason: 'late', dueAt: null });
      expect(await store.payments.list({ wallet, isOpen: true, limit: 10 })).to.have.length(3);
      expect(await store.payments.list({ wallet, provider: 'till', limit: 10 })).to.have.length(4);
      expect((await store.payments.list({ limit: 2 })).length).to.equal(2);
    });

    it('never share a provider id', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const taken = await newSucceeded(store, wallet);
      const order = newOrder(wallet);
      await store.payments.create(order);
      const begin = { kind: 'begin', ref: taken.ref ?? '', payUrl: null, expiresAt: AT, dueAt: AT } as const;
      const error = await rejection(store.payments.change({ ...begin, id: order.id, version: 1, at: AT }));
      expect(error).to.include({ name: 'StoreError', applied: 'no', blames: 'batch' });
      expect((await store.payments.get(order.id))?.phase).to.equal('created');
    });

    it('are changed only in the given version', async () => {
      const { store } = context;
      const payment = await newSucceeded(store, await newAccount(store));
      const review = { kind: 'review', id: payment.id, version: payment.version, at: AT, reason: 'sum' } as const;
      const other = await context.other();
      const found = await Promise.all([
        store.payments.change(review),
        other.payments.change({ ...review, reason: 'shop' }),
      ]);
      expect(found.map(({ status }) => status)).to.have.members(['done', 'stale']);
      expect((await store.payments.change({ ...review, id: 'pay_none' })).status).to.equal('no_payment');
    });

    it('are claimed by one process at a time, longest due first', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newAccount(store);
      const made: string[] = [];
      for (const dueAt of [30, 10, 20]) {
        const order = newOrder(wallet);
        await store.payments.create(order);
        await changed(store, order, { kind: 'begin', ref: newId('ref'), payUrl: null, expiresAt: AT, dueAt });
        made.push(order.id);
      }
      const claim = (one: Store, owner: string) =>
        one.payments.claim({ owner, leaseMs: LEASE_MS, limit: 2, working: [], at: Date.now() });
      const mine = await claim(store, 'own_1');
      expect(mine.map(({ dueAt }) => dueAt)).to.deep.equal([10, 20]);
      // Orders of other tests may be due, too, and come later.
      expect((await claim(other, 'own_2'))[0]?.id).to.equal(made[0]);
      const [first] = mine as [Payment];
      const { id, version } = first;
      expect(await store.payments.renew({ id, version, owner: 'own_1', leaseMs: LEASE_MS })).to.equal(true);
      expect(await store.payments.renew({ id, version, owner: 'own_2', leaseMs: LEASE_MS })).to.equal(false);
      const freed = await changed(store, first, { kind: 'poll', dueAt: null });
      expect(freed).to.include({ owner: null, lease: null, dueAt: null });
      for (const each of made.slice(0, 1)) await changed(store, { id: each }, { kind: 'poll', dueAt: null });
      for (const each of made.slice(2)) await changed(store, { id: each }, { kind: 'poll', dueAt: null });
    });
  });

  describe('beside them', () => {
    it('methods are stored once, and their removal disables the top-up that charges them', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const method = newMethod(wallet);
      expect(await store.payments.saveMethod(method)).to.deep.equal(method);
      expect(await store.payments.saveMethod({ ...method, id: newId('pm') })).to.deep.equal(method);
      expect(await store.payments.methods(wallet)).to.deep.equal([method]);
      const auto = newAuto(wallet, { method: method.id });
      expect(await store.payments.changeAutoTopup(auto)).to.equal(true);
      expect((await store.accounts.get(wallet))?.autoTopup).to.deep.equal({
        ...{ enabled: true, amount: 500n * RUB, threshold: 100n * RUB },
      });
      expect(await store.payments.removeMethod(method.id, AT + 5)).to.equal(true);
      expect(await store.payments.removeMethod(method.id, AT + 6)).to.equal(false);
      expect((await store.payments.method(method.id))?.removedAt).to.equal(AT + 5);
      expect(await store.payments.autoTopup(wallet)).to.include({ enabled: false, method: null, version: 2 });
      expect((await store.accounts.get(wallet))?.autoTopup.enabled).to.equal(false);
    });

    it('methods and consents of one wallet are listed newest first, then by id', async () => {
      const { payments } = context.store;
      const [wallet, other] = [await newAccount(context.store), await newAccount(context.store)];
      const ages = { b: 2, c: 2, a: 2, d: 1, e: 3 };
      const given = { wallet, user: 'usr_1', kind: 'k', textVersion: '1', text: 't', address: '' };
      for (const [letter, age] of Object.entries(ages)) {
        await payments.saveMethod(newMethod(wallet, { id: newId(letter), createdAt: AT + age }));
        await payments.addConsent({ id: newId(letter), ...given, at: AT + age });
      }
      await payments.saveMethod(newMethod(other));
      await payments.addConsent({ id: newId('con'), ...given, wallet: other, at: AT });
      for (const rows of [await payments.methods(wallet), await payments.consents(wallet)]) {
        expect(rows.map(({ id }) => id.charAt(0))).to.deep.equal(['e', 'c', 'b', 'a', 'd']);
      }
    });

    it('an automatic top-up continues if another method is removed', async () => {
      const { payments } = context.store;
      const wallet = await newAccount(context.store);
      const [used, unused] = [newMethod(wallet), newMethod(wallet)];
      for (const method of [used, unused]) await payments.saveMethod(method);
      await payments.changeAutoTopup(newAuto(wallet, { method: used.id }));
      expect(await payments.removeMethod(unused.id, AT)).to.equal(true);
      expect(await payments.autoTopup(wallet)).to.include({ enabled: true, method: used.id, version: 1 });
      expect((await payments.method(used.id))?.removedAt).to.equal(null);
    });

    it('an automatic top-up changes only in the given version, and starts one order', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const auto = newAuto(wallet);
      expect(await store.payments.autoTopup(wallet)).to.equal(undefined);
      expect(await store.payments.changeAutoTopup(auto)).to.equal(true);
      expect(await store.payments.changeAutoTopup(auto)).to.equal(false);
      const read = (await store.payments.autoTopup(wallet)) as AutoTopupRow;
      expect(read).to.deep.equal({ ...auto, version: 1 });
      const other = await context.other();
      const begin = (one: Store) => {
        const order = newOrder(wallet, { origin: 'auto' });
        return one.payments.create(order, { ...read, order: order.id, dayCount: 1, monthSum: order.amount });
      };
      expect(await Promise.all([begin(store), begin(other)])).to.have.members(['created', 'stale']);
      const [order, ...others] = await store.payments.list({ wallet, limit: 10 });
      expect(others).to.deep.equal([]);
      expect(await store.payments.autoTopup(wallet)).to.include({ order: order?.id, dayCount: 1, version: 2 });
    });

    it('consents and webhooks are kept unchanged, webhooks with their verdict', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const consent = { id: newId('con'), wallet, user: 'usr_1', kind: 'save_method', textVersion: '1' };
      const given = { ...consent, text: 'I agree.', at: AT, address: '10.0.0.1' };
      await store.payments.addConsent(given);
      expect(await store.payments.consents(wallet)).to.deep.equal([given]);
      const [old, young] = [newWebhook({ id: 'ntc_1', at: 5 }), newWebhook({ id: 'ntc_2' })];
      for (const webhook of [old, young]) await store.payments.addWebhook(webhook);
      expect(await store.payments.setWebhookVerdict('ntc_1', { verdict: 'done', detail: 'credited' })).to.equal(true);
      expect(await store.payments.setWebhookVerdict('ntc_0', { verdict: 'done', detail: '' })).to.equal(false);
      expect(await store.payments.webhook('ntc_1')).to.deep.equal({ ...old, verdict: 'done', detail: 'credited' });
      const page = await store.payments.webhooks({ limit: 10 });
      expect(page.map(({ id }) => id)).to.deep.equal(['ntc_2', 'ntc_1']);
      expect((await store.payments.webhooks({ before: 'ntc_2', limit: 10 })).length).to.equal(1);
      await store.payments.addWebhook(newWebhook({ id: 'ntc_0', at: AT - 1 }));
      await store.payments.removeOldWebhooks(AT);
      expect(await store.payments.webhooks({ limit: 10 })).to.deep.equal([young]);
    });

    it('all rows are paged in order of id, and copied unchanged', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const payment = await newSucceeded(store, wallet);
      const rows: { [Sort in keyof PaymentRows]: PaymentRows[Sort] } = {
        payments: payment,
        methods: newMethod(wallet, { brand: null, removedAt: AT }),
        consents: {
          ...{ id: newId('con'), wallet, user: 'u', kind: 'k' },
          ...{ textVersion: '1', text: 't', at: AT, address: '' },
        },
        autoTopups: newAuto(wallet, { version: 7, pausedAt: AT, reason: 'declined' }),
        notices: newWebhook(),
      };
      for (const sort of Object.keys(rows) as (keyof PaymentRows)[]) {
        for (let turn = 0; turn < 2; turn += 1) await store.payments.put(sort, [rows[sort]]);
        await store.payments.put(sort, []);
        const { id } = rows[sort];
        const before = id.slice(0, -1);
        const found = await store.payments.page(sort, { after: before, limit: 100 });
        expect(found.find((row) => row.id === id)).to.deep.equal(rows[sort]);
        expect(found.map((row) => row.id)).to.deep.equal(found.map((row) => row.id).toSorted());
        expect((await store.payments.page(sort, { after: id, limit: 1 }))[0]?.id).to.not.equal(id);
      }
    });
  });
}
