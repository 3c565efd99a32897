// Automatic top-ups and owners: the one who agreed gets the receipt, and whoever disables it learns how the last ended.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { readTopupBounds } from '../../lib/catalog/topup-bounds.ts';
import { createLedger } from '../../lib/ledger/ledger.ts';
import type { Payment } from '../../lib/money/payment.ts';
import { type AutoTopup, createAutoTopup } from '../../lib/payments/auto-topup.ts';
import { GONE_BACK } from '../../lib/payments/gone-back.ts';
import { requestRefund } from '../../lib/payments/operator.ts';
import { parseOrderFacts } from '../../lib/payments/order-facts.ts';
import { RESTORED } from '../../lib/payments/restored.ts';
import { CARD_UNUSABLE, NO_OWNER, PROVIDER_OFF } from '../../lib/payments/topup-rules.ts';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import type { User } from '../../lib/store/ports/users.ts';
import { until } from '../../testkit/client.ts';
import { createFaultyStore, makeGate, waitFor } from '../../testkit/faulty-store.ts';
import { SQLITE } from '../../testkit/stores.ts';
import { adjust, applied, newId, RUB, rejection, reserve } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { type Service, useStage } from './service-stage.ts';

describe('automatic top-ups and their owners', () => {
  const use = useStage(SQLITE);
  const { stage } = use;
  let service: Service;
  let topups: AutoTopup;
  let told: string[];

  beforeEach(() => {
    service = use.service();
    told = [];
    topups = topupsOf();
  });
  afterEach(() => topups.stop());

  const topupsOf = (store = stage.store, more: Partial<Parameters<typeof createAutoTopup>[0]> = {}) =>
    createAutoTopup({
      store,
      payments: service.payments,
      bounds: () => readTopupBounds(),
      now: stage.now,
      log: { warn() {} },
      alerts: { queueAlert: async (_account, { type }) => void told.push(type) },
      ...more,
    });

  const row = async () => (await stage.store.payments.autoTopup(stage.wallet)) as AutoTopupRow;
  const change = async (more: Partial<AutoTopupRow>) =>
    stage.store.payments.changeAutoTopup({ ...(await row()), ...more });

  /** A wallet of 1000 RUB, below its threshold. */
  async function setUp(more: Partial<AutoTopupRow> = {}): Promise<Payment> {
    const paid = await stage.credited(service);
    const { id } = await stage.store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
    const wish = { threshold: 2000n * RUB, amount: 500n * RUB, method: id };
    await stage.store.payments.changeAutoTopup(newAuto(stage.wallet, { ...wish, ...more }));
    return paid;
  }

  async function agree(user: User): Promise<string> {
    const id = newId('con');
    const given = { kind: 'auto_topup', textVersion: '1', text: 'I agree', at: stage.now(), address: '192.0.2.1' };
    await stage.store.payments.addConsent({ id, wallet: stage.wallet, user: user.id, ...given });
    return id;
  }

  async function charged(): Promise<Payment> {
    await topups.checkWallet(stage.wallet);
    const [payment] = await stage.store.payments.list({ wallet: stage.wallet, limit: 1 });
    return payment as Payment;
  }

  it('use the email address of the owner who agreed, and not of other owners', async () => {
    await setUp();
    const users = [await stage.addOwner({ language: 'en' }), await stage.addOwner({ language: 'ru' })];
    const consents = [];
    for (const user of users) consents.push(await agree(user));
    for (const [at, { email, language }] of users.entries()) {
      await change({ consent: consents[at] ?? null, order: null, nextAt: 0 });
      expect(parseOrderFacts(await charged())).to.include({ email, locale: language });
    }
  });

  it('use the email address of the first owner once the one who agreed has left the account, or sees no money', async () => {
    await setUp();
    const { users } = stage.store;
    const account = stage.wallet;
    const agreed = await stage.addOwner({ language: 'en' });
    const other = await stage.addOwner({ language: 'ru', createdAt: stage.now() });
    const consent = await agree(agreed);
    const payer = async () => {
      await change({ consent, order: null, nextAt: 0, dayCount: 0 });
      return parseOrderFacts(await charged()).email;
    };
    expect(await payer()).to.equal(agreed.email);
    await users.setMembership({ user: agreed.id, account, role: 'accountant' }, stage.now());
    expect(await payer()).to.equal(agreed.email);
    await users.setMembership({ user: agreed.id, account, role: 'member' }, stage.now());
    expect(await payer()).to.equal(other.email);
    await users.leave({ user: agreed.id, account, at: stage.now(), isForced: false });
    expect(await payer()).to.equal(other.email);
    await users.remove((await users.get(agreed.id)) ?? agreed, stage.now());
    expect(await payer()).to.equal(other.email);
  });

  it('are paused once nobody owns the account, until a new owner sets them up again', async () => {
    await setUp();
    const { users } = stage.store;
    const account = stage.wallet;
    const agreed = await stage.addOwner({ language: 'en' });
    await change({ consent: await agree(agreed) });
    await users.leave({ user: agreed.id, account, at: stage.now(), isForced: true });
    const before = await stage.store.payments.list({ wallet: account, limit: 9 });
    await topups.checkWallet(account);
    expect(await row()).to.include({ order: null, reason: NO_OWNER });
    expect(told).to.deep.equal(['topup.paused']);
    await topups.checkWallet(account);
    expect(await stage.store.payments.list({ wallet: account, limit: 9 })).to.deep.equal(before);

    const next = await stage.addOwner({ language: 'ru' });
    await change({ consent: await agree(next), pausedAt: null, reason: null });
    expect(parseOrderFacts(await charged()).email).to.equal(next.email);
  });

  it('send no email address if no consent is known', async () => {
    await setUp({ consent: 'con_none' });
    const facts = parseOrderFacts(await charged());
    expect([facts.locale, facts.email]).to.deep.equal(['ru', undefined]);
  });

  it('are followed to their end even if they were disabled meanwhile', async () => {
    await setUp();
    const { id } = await charged();
    await change({ enabled: false });
    stage.bank.pay(id);
    await service.payments.poll(id);
    await topups.checkAllWallets();
    expect(await row()).to.include({ enabled: false, order: null });
    expect(told).to.deep.equal(['topup.succeeded']);
    // Nothing starts after that.
    await topups.checkAllWallets();
    expect((await stage.store.payments.list({ wallet: stage.wallet, limit: 9 })).length).to.equal(2);
  });

  it('stay paused while disabled, and resume after a manual payment that was partly refunded', async () => {
    const paid = await setUp({ pausedAt: stage.now(), declines: 4, reason: 'card_expired' });
    const later = { changedAt: stage.now() + 1000, phase: 'partly_refunded', refunded: RUB } as const;
    await stage.store.payments.put('payments', [{ ...paid, ...later }]);
    await change({ enabled: false });
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ declines: 4, reason: 'card_expired' });
    await change({ enabled: true });
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ pausedAt: null, reason: null });
    expect((await row()).order).not.to.equal(null);
  });

  it('stay paused after a restore when what was ordered before it is credited, until something is paid after it', async () => {
    await setUp();
    const before = await stage.order(service);
    await change({ pausedAt: stage.now() + 1, reason: RESTORED });
    stage.aheadMs = 1000;
    stage.bank.pay(before.id);
    expect((await service.payments.poll(before.id))?.phase).to.equal('credited');
    await change({ threshold: 4000n * RUB });
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ reason: RESTORED, order: null });
    await stage.credited(service);
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ pausedAt: null, reason: null });
  });

  it('are checked after a manual credit and after the end of an automatic payment', async () => {
    const paid = await setUp({ pausedAt: stage.now() - 1000, declines: 4, threshold: 300n * RUB });
    await stage.store.payments.put('payments', [{ ...paid, changedAt: stage.now() }]);
    topups.onPayment(paid);
    await until(async () => (await row()).pausedAt === null);
    await topups.stop();

    const other = topupsOf();
    await change({ threshold: 2000n * RUB });
    await other.checkWallet(stage.wallet);
    const { order } = await row();
    const [made] = stage.bank.ofOrder(order ?? '');
    Object.assign(made ?? {}, { status: 'canceled', reason: { kind: 'soft', code: 'insufficient_funds' } });
    other.onPayment((await service.payments.poll(order ?? '')) as Payment);
    await until(async () => (await row()).declines === 1);
    expect((await row()).order).to.equal(null);
    await other.stop();
  });

  it('count days and months in the time zone of the first owner', async () => {
    const today = new Date();
    // Noon in UTC on the last day of a month: there it is the first day of the next one.
    stage.aheadMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 2, 0, 12) - today.getTime();
    await stage.addOwner({ timeZone: 'Pacific/Kiritimati' });
    await setUp();
    const { id } = await charged();
    expect(await row()).to.include({ order: id, dayCount: 1, monthSum: 500n * RUB });
    expect((await row()).day).to.match(/-01$/);
    Object.assign(stage.bank.ofOrder(id)[0] ?? {}, { status: 'canceled', reason: { kind: 'soft', code: 'no_funds' } });
    await service.payments.poll(id);
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ order: null, dayCount: 1, monthSum: 0n });
    stage.aheadMs += 2 * HOUR_MS;
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ dayCount: 2, monthSum: 500n * RUB });
  });

  it('pause after a refund without which the balance, including holds, would be enough', async () => {
    const { id } = await setUp({ threshold: 300n * RUB });
    stage.aheadMs = 60_000;
    await requestRefund(stage.store, id, { at: stage.now(), amount: 100n * RUB, reason: 'a wish' });
    await applied(stage.store, adjust(stage.wallet, -610n * RUB), reserve(stage.wallet, { amount: 290n * RUB }));
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ order: null, reason: GONE_BACK });
    expect(told).to.deep.equal(['topup.paused']);
  });

  it('pause, with an alert, if the card is gone', async () => {
    await setUp({ method: 'pm_gone' });
    await topups.checkWallet(stage.wallet);
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ order: null, reason: CARD_UNUSABLE });
    expect(told).to.deep.equal(['topup.paused']);
  });

  it('wait an hour while the provider of the card is switched off here, then pause until it is back', async () => {
    await setUp();
    stage.isTillOff = true;
    for (let minutes = 0; minutes < 60; minutes += 20) {
      await topups.checkWallet(stage.wallet);
      expect(await row()).to.include({ pausedAt: null, order: null });
      stage.aheadMs += 20 * 60_000;
    }
    await topups.checkWallet(stage.wallet);
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ order: null, reason: PROVIDER_OFF });
    expect(told).to.deep.equal(['topup.paused']);
    stage.isTillOff = false;
    await topups.checkWallet(stage.wallet);
    expect((await row()).pausedAt).to.equal(null);
    expect((await row()).order).not.to.equal(null);
  });

  it('forget that the provider was switched off here once the wallet has enough', async () => {
    await setUp();
    stage.isTillOff = true;
    await topups.checkWallet(stage.wallet);
    stage.aheadMs = HOUR_MS;
    await change({ threshold: 500n * RUB });
    await topups.checkWallet(stage.wallet);
    await change({ threshold: 2000n * RUB });
    await topups.checkWallet(stage.wallet);
    expect((await row()).pausedAt).to.equal(null);
  });

  it('resume after a manual payment, however many orders after it are not paid', async () => {
    await setUp({ pausedAt: stage.now() - 1000, declines: 4 });
    await stage.credited(service, 50);
    for (let orders = 0; orders < 5; orders += 1) await stage.order(service);
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ pausedAt: null, declines: 0 });
  });

  it('are triggered by a call refused after the last top-up, by the store’s clock', async () => {
    stage.aheadMs = HOUR_MS;
    await setUp({ threshold: RUB, nextAt: stage.now() - 1000 });
    await topups.checkWallet(stage.wallet);
    const log = { warn() {}, error() {} };
    const plain = createLedger({ store: stage.store, ownerId: newId('own'), leaseMs: 60_000, log });
    const call = { chargeId: newId('req'), wallet: stage.wallet, key: 'key', kind: 'text', model: 'm' } as const;
    await rejection(topups.watch(plain).hold({ ...call, prices: '{}', amount: 1200n * RUB }));
    await until(async () => (await row()).order !== null);
  });

  it('are checked at once, and only once more after a while, however many calls ask for it', async () => {
    const faults = createFaultyStore(stage.store);
    let reads = 0;
    faults.always('payments.autoTopup', (call) => {
      reads += 1;
      return call();
    });
    const one = topupsOf(faults.store, { gapMs: 20 });
    await one.checkWallet(stage.wallet);
    reads = 0;
    const rest = () => new Promise((resolve) => setTimeout(resolve, 60));
    for (let calls = 0; calls < 5; calls += 1) one.checkSoon(stage.wallet);
    expect(reads).to.equal(1);
    await until(() => reads === 2);
    await rest();
    one.checkSoon(stage.wallet);
    expect(reads).to.equal(3);
    await rest();
    await one.stop();
    one.checkSoon(stage.wallet);
    expect(reads).to.equal(3);
  });

  it('are read again after a refused call, unless a check found them disabled or paused', async () => {
    await setUp({ threshold: RUB });
    const faults = createFaultyStore(stage.store);
    let reads = 0;
    faults.always('payments.autoTopup', (call) => {
      reads += 1;
      return call();
    });
    for (const [more, count] of [
      [{}, 1],
      [{ enabled: false }, 0],
      [{ pausedAt: stage.now() }, 0],
    ] as const) {
      await change({ enabled: true, pausedAt: null });
      const one = topupsOf(faults.store);
      await one.checkWallet(stage.wallet);
      await change(more);
      await one.checkWallet(stage.wallet);
      reads = 0;
      one.reportRefusal(stage.wallet);
      expect(reads).to.equal(count);
      await one.stop();
    }
  });

  it('rest at least half of the average pause between two rounds', async () => {
    const faults = createFaultyStore(stage.store);
    const begun: number[] = [];
    faults.always('payments.page', (call) => {
      begun.push(performance.now());
      return call();
    });
    const everyMs = 100;
    const one = topupsOf(faults.store, { everyMs });
    one.start();
    await until(() => begun.length > 2);
    await one.stop();
    for (const [at, time] of begun.slice(1).entries()) expect(time - (begun[at] ?? 0)).to.be.least(everyMs / 2 - 1);
  });

  it('stop after the running check has ended', async () => {
    await setUp();
    const faults = createFaultyStore(stage.store);
    const gate = makeGate();
    const slow = topupsOf(faults.store);
    faults.next('payments.autoTopup', waitFor(gate.opened));
    const looking = slow.checkWallet(stage.wallet);
    const ends: string[] = [];
    const stopping = slow.stop().then(() => void ends.push('stopped'));
    void looking.then(() => ends.push('looked'));
    await new Promise((resolve) => setImmediate(resolve));
    gate.open();
    await stopping;
    expect(ends).to.deep.equal(['looked', 'stopped']);
  });

  it('stop after the running round has read what to check, and then check nothing', async () => {
    await setUp({ threshold: 2000n * RUB });
    const faults = createFaultyStore(stage.store);
    const gate = makeGate();
    const slow = topupsOf(faults.store);
    faults.next('payments.page', waitFor(gate.opened));
    slow.start();
    let isStopped = false;
    const stopping = slow.stop().then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isStopped).to.equal(false);
    gate.open();
    await stopping;
    expect((await row()).order).to.equal(null);
  });
});
