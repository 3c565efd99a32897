// Automatic top-ups against a bank, with a clock set by the test: days pass, cards decline, gateways race.
import { expect } from 'chai';
import type { AlertContent } from '../../lib/alerts/watch.ts';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { readTopupBounds, type TopupBounds } from '../../lib/catalog/topup-bounds.ts';
import { createLedger } from '../../lib/ledger/ledger.ts';
import type { Payment } from '../../lib/money/payment.ts';
import { type AutoTopup, createAutoTopup } from '../../lib/payments/auto-topup.ts';
import { GONE_BACK } from '../../lib/payments/gone-back.ts';
import { endDispute, openDispute, requestRefund } from '../../lib/payments/operator.ts';
import { AMOUNT_UNUSABLE, markResumed } from '../../lib/payments/topup-rules.ts';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import { until } from '../../testkit/client.ts';
import { createFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { adjust, applied, newId, RUB, rejection, reserve, type StoreKind } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`automatic top-ups on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  let topups: AutoTopup;
  let told: AlertContent[];
  let bounds: TopupBounds;
  const opened: AutoTopup[] = [];

  function createTopups({ store, payments }: Service, everyMs = 60_000): AutoTopup {
    const alerts = {
      queueAlert: async (_account: string, content: AlertContent, id: string) => {
        if (!told.some(({ type, data }) => type === content.type && data.payment === id)) told.push(content);
      },
    };
    const made = createAutoTopup({
      store,
      payments,
      bounds: () => bounds,
      now: stage.now,
      log: { warn() {} },
      alerts,
      everyMs,
    });
    opened.push(made);
    return made;
  }

  beforeEach(() => {
    service = use.service();
    told = [];
    bounds = readTopupBounds();
    topups = createTopups(service);
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.stop();
  });

  const row = async () => (await stage.store.payments.autoTopup(stage.wallet)) as AutoTopupRow;
  const types = () => told.map(({ type }) => type);
  const starts = () => stage.bank.asked.get('start') ?? 0;
  const avail = async () => ((await stage.store.ledger.wallet(stage.wallet))?.avail ?? 0n) / RUB;

  /** A wallet with 1000 RUB and a card; below 300 it is topped up by 500. */
  async function setUp(more: Partial<AutoTopupRow> = {}): Promise<void> {
    await stage.credited(service);
    const method = await stage.store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
    const wish = { threshold: 300n * RUB, amount: 500n * RUB, cap: 100_000n * RUB, method: method.id };
    await stage.store.payments.changeAutoTopup(newAuto(stage.wallet, { ...wish, ...more }));
    stage.bank.asked.clear();
  }

  const spend = (rub: number) => applied(stage.store, adjust(stage.wallet, -BigInt(rub) * RUB));
  const hold = (rub: number) => applied(stage.store, reserve(stage.wallet, { amount: BigInt(rub) * RUB }));
  const ledgerOf = () => {
    const log = { warn() {}, error() {} };
    return topups.watch(createLedger({ store: stage.store, ownerId: newId('own'), leaseMs: 60_000, log }));
  };
  const call = (rub: number) => ({
    ...({ chargeId: newId('req'), wallet: stage.wallet, key: 'key', kind: 'text', model: 'm', prices: '{}' } as const),
    amount: BigInt(rub) * RUB,
  });
  const used = (rub: number) => ({ amount: BigInt(rub) * RUB, usage: { tokens_input: 1, tokens_output: 1 } });

  it('charge nothing while the balance including holds is enough', async () => {
    await setUp();
    await hold(900);
    await topups.checkWallet(stage.wallet);
    expect(starts()).to.equal(0);
  });

  it('charge once if fifty calls cross the threshold at the same time in two gateways', async () => {
    await setUp();
    const other = createTopups(stage.service('own_2', await stage.openStore()));
    stage.bank.charges = 'pay';
    await topups.checkAllWallets();
    await other.checkAllWallets();
    const ledger = ledgerOf();
    const calls = Array.from({ length: 50 }, async () => ledger.settle(await ledger.hold(call(18)), used(18)));
    await Promise.all([...calls, ...Array.from({ length: 10 }, () => other.checkWallet(stage.wallet))]);
    await until(async () => (await row()).order === null && types().length > 0, 20_000);
    await topups.checkWallet(stage.wallet);
    expect([starts(), types(), await avail()]).to.deep.equal([1, ['topup.succeeded'], 600n]);
    expect(await row()).to.include({ dayCount: 1, monthSum: 500n * RUB, declines: 0 });
  });

  it('are triggered once by calls refused for lack of money, even above the threshold', async () => {
    await setUp();
    stage.bank.charges = 'pay';
    const ledger = ledgerOf();
    await rejection(ledger.hold(call(1200)));
    await topups.checkAllWallets();
    expect(starts()).to.equal(0);
    await Promise.all(Array.from({ length: 20 }, () => rejection(ledger.hold(call(1200)))));
    await until(async () => (await avail()) === 1500n && (await row()).order === null, 20_000);
    await ledger.hold(call(1200));
    await new Promise((resolve) => setTimeout(resolve, 1200));
    await topups.checkWallet(stage.wallet);
    expect([starts(), types()]).to.deep.equal([1, ['topup.succeeded']]);
  });

  it('wait longer after each decline, pause, and resume after a manual payment', async () => {
    await setUp();
    await spend(800);
    stage.bank.charges = 'decline';
    await topups.checkWallet(stage.wallet);
    expect([starts(), types()]).to.deep.equal([1, ['topup.declined']]);
    for (const [hours, count] of [
      [0.9, 1],
      [1.1, 2],
      [3.9, 2],
      [4.3, 3],
      [11.2, 3],
      [25, 4],
    ] as const) {
      stage.aheadMs = hours * HOUR_MS;
      await topups.checkWallet(stage.wallet);
      expect(starts(), `after ${hours} h`).to.equal(count);
    }
    expect(types()).to.deep.equal(['topup.declined', 'topup.paused']);
    stage.aheadMs = 30 * DAY_MS;
    await topups.checkAllWallets();
    expect(starts()).to.equal(4);
    stage.bank.charges = 'pay';
    await stage.credited(service, 50);
    await topups.checkWallet(stage.wallet);
    expect((await row()).pausedAt).to.equal(null);
    expect([types().at(-1), await avail()]).to.deep.equal(['topup.succeeded', 750n]);
  });

  it('stay paused after an automatic payment', async () => {
    await setUp();
    await stage.store.payments.changeAutoTopup({ ...(await row()), pausedAt: stage.now(), declines: 4 });
    await spend(800);
    stage.aheadMs = 1000;
    const latest = await stage.credited(service, 50);
    stage.bank.asked.clear();
    await stage.store.payments.put('payments', [{ ...latest, origin: 'auto' }]);
    await topups.checkWallet(stage.wallet);
    expect([starts(), (await row()).declines]).to.deep.equal([0, 4]);
    await stage.store.payments.put('payments', [latest]);
    await topups.checkWallet(stage.wallet);
    expect([starts(), (await row()).declines]).to.deep.equal([1, 0]);
  });

  it('stay paused if an earlier credited payment changes', async () => {
    await setUp();
    await stage.credited(service, 50);
    const changes: Record<string, (paid: Payment) => Promise<unknown>> = {
      'a refund is requested': ({ id }) =>
        requestRefund(stage.store, id, { at: stage.now(), amount: RUB, reason: 'a wish' }),
      'it is refused': async ({ id }) => {
        stage.bank.hook = (asked) => (asked === 'refund' ? 400 : undefined);
        return service.payments.poll(id);
      },
      'one is made at the bank': async ({ id }) => {
        stage.bank.giveBack(id, RUB);
        return service.payments.poll(id);
      },
      'a dispute is opened': ({ id }) =>
        openDispute(stage.store, id, { at: stage.now(), dispute: 'CB-1', amount: RUB }),
      'it is won': ({ id }) => endDispute(stage.store, id, { at: stage.now(), how: 'won', suspend: false }),
    };
    const [paid] = await stage.store.payments.list({ wallet: stage.wallet, limit: 1 });
    if (!paid) throw new Error('nothing was paid');
    stage.aheadMs = 60_000;
    await stage.store.payments.changeAutoTopup({ ...(await row()), pausedAt: stage.now(), declines: 4 });
    await spend(900);
    stage.bank.asked.clear();
    for (const [name, change] of Object.entries(changes)) {
      stage.aheadMs += 60_000;
      await change(paid);
      await topups.checkAllWallets();
      expect([starts(), (await row()).declines], name).to.deep.equal([0, 4]);
    }
    await stage.credited(service, 50);
    await topups.checkWallet(stage.wallet);
    expect((await row()).declines).to.equal(0);
  });

  describe('after money has gone back', () => {
    const refund = (id: string, rub = 800n) =>
      requestRefund(stage.store, id, { at: stage.now(), amount: rub * RUB, reason: 'a wish' });
    const ways: Record<string, (id: string) => Promise<unknown>> = {
      'by an operator': refund,
      'at the bank': async (id) => {
        stage.bank.giveBack(id, 800n * RUB);
        return service.payments.poll(id);
      },
      'by a lost dispute': async (id) => {
        await openDispute(stage.store, id, { at: stage.now(), dispute: newId('CB'), amount: 800n * RUB });
        await endDispute(stage.store, id, { at: stage.now(), how: 'lost', suspend: false });
      },
    };
    let paid: string;
    beforeEach(async () => {
      await setUp();
      paid = (await stage.store.payments.list({ wallet: stage.wallet, limit: 1 }))[0]?.id ?? '';
      stage.bank.charges = 'pay';
      stage.aheadMs = 60_000;
    });

    for (const [how, giveBack] of Object.entries(ways)) {
      it(`do not charge it again: ${how}`, async () => {
        await giveBack(paid);
        await topups.checkWallet(stage.wallet);
        expect([starts(), (await row()).reason]).to.deep.equal([0, GONE_BACK]);
        stage.aheadMs += 60_000;
        await stage.credited(service, 50);
        await topups.checkWallet(stage.wallet);
        expect([types(), await avail()]).to.deep.equal([['topup.paused', 'topup.succeeded'], 750n]);
      });
    }

    it('charge what was spent besides', async () => {
      await refund(paid, 100n);
      await spend(750);
      await topups.checkWallet(stage.wallet);
      expect([types(), await avail()]).to.deep.equal([['topup.succeeded'], 650n]);
    });

    it('go on once their owner agrees to them again', async () => {
      await refund(paid);
      await topups.checkWallet(stage.wallet);
      stage.aheadMs += 60_000;
      const { id: user } = await stage.addOwner();
      const consent = { id: newId('con'), wallet: stage.wallet, user, kind: 'auto_topup', textVersion: '1' };
      await stage.store.payments.addConsent({ ...consent, text: 'yes', at: stage.now(), address: '' });
      await stage.store.payments.changeAutoTopup({ ...markResumed(await row()), consent: consent.id });
      await topups.checkWallet(stage.wallet);
      expect([types(), await avail()]).to.deep.equal([['topup.paused', 'topup.succeeded'], 700n]);
    });
  });

  it('stay paused if the entry of a credit cannot be read, and resume in the next round', async () => {
    await setUp({ pausedAt: stage.now(), declines: 4 });
    await stage.credited(service, 50);
    const faults = createFaultyStore(stage.store);
    const other = createTopups({ ...service, store: faults.store });
    faults.next('ledger.entry', refuse);
    await rejection(other.checkWallet(stage.wallet));
    expect((await row()).declines).to.equal(4);
    await other.checkWallet(stage.wallet);
    expect((await row()).declines).to.equal(0);
  });

  it('are triggered by a call that is refused before it reaches the ledger', async () => {
    await setUp();
    stage.bank.charges = 'pay';
    const faults = createFaultyStore(stage.store);
    const asked: unknown[] = [];
    faults.always('payments.autoTopup', (call, [wallet]) => {
      asked.push(wallet);
      return call();
    });
    topups = createTopups({ ...service, store: faults.store });
    topups.reportRefusal(stage.wallet);
    expect([asked, await avail()], 'not known to have any').to.deep.equal([[], 1000n]);
    await topups.checkWallet(stage.wallet);
    topups.reportRefusal(stage.wallet);
    await until(async () => (await avail()) === 1500n && (await row()).order === null, 20_000);
    expect(starts()).to.equal(1);
  });

  it('continue without a pause or a counted order once the bank accepts the account again', async () => {
    await setUp();
    await spend(800);
    stage.bank.charges = 'pay';
    for (const [status, minutes] of [
      [401, 0],
      [403, 16],
      [401, 32],
      [401, 48],
    ] as const) {
      stage.aheadMs = minutes * 60_000;
      stage.bank.hook = (asked) => (asked === 'start' ? status : undefined);
      await topups.checkWallet(stage.wallet);
      expect(await row()).to.include({ order: null, pausedAt: null, dayCount: 0, monthSum: 0n });
    }
    stage.bank.hook = () => undefined;
    await topups.checkWallet(stage.wallet);
    expect([starts(), types()]).to.deep.equal([4, []]);
    stage.aheadMs = 64 * 60_000;
    await topups.checkWallet(stage.wallet);
    expect([types(), await avail(), stage.bank.payments.size]).to.deep.equal([['topup.succeeded'], 700n, 2]);
  });

  it('forget a refused call after a check, even if nothing could be charged', async () => {
    await setUp();
    stage.bank.charges = 'pay';
    bounds = readTopupBounds({ amount: { max: '499.99' } });
    await topups.checkAllWallets();
    await rejection(ledgerOf().hold(call(1200)));
    await topups.checkWallet(stage.wallet);
    bounds = readTopupBounds();
    await topups.checkWallet(stage.wallet);
    expect([starts(), await avail()]).to.deep.equal([0, 1000n]);
  });

  it('pause at once for an expired card, and start no fourth order in a day', async () => {
    await setUp({ threshold: 100_000n * RUB });
    stage.bank.charges = 'pay';
    for (let looks = 0; looks < 5; looks += 1) await topups.checkWallet(stage.wallet);
    expect([starts(), await avail()]).to.deep.equal([3, 2500n]);
    stage.aheadMs = DAY_MS;
    stage.bank.charges = 'refuse for good';
    await topups.checkWallet(stage.wallet);
    await topups.checkWallet(stage.wallet);
    expect([starts(), types().at(-1)]).to.deep.equal([4, 'topup.paused']);
  });

  it('keep to the operator’s current bounds', async () => {
    await setUp({ threshold: 100_000n * RUB });
    stage.bank.charges = 'pay';
    bounds = readTopupBounds({ amount: { max: '499.99' } });
    await topups.checkWallet(stage.wallet);
    expect(starts()).to.equal(0);
    bounds = readTopupBounds({ perDay: 1 });
    for (let looks = 0; looks < 3; looks += 1) await topups.checkWallet(stage.wallet);
    expect(starts()).to.equal(1);
    bounds = readTopupBounds({ perDay: 4 });
    for (let looks = 0; looks < 4; looks += 1) await topups.checkWallet(stage.wallet);
    expect(starts()).to.equal(3);
  });

  it('keep to the monthly cap across processes', async () => {
    await setUp({ threshold: 100_000n * RUB, cap: 1200n * RUB });
    stage.bank.charges = 'pay';
    for (let day = 0; day < 3; day += 1) {
      const again = createTopups(stage.service(`own_${day}`, await stage.openStore()));
      await again.checkWallet(stage.wallet);
      await again.checkWallet(stage.wallet);
    }
    expect([starts(), (await row()).monthSum / RUB]).to.deep.equal([2, 1000n]);
    stage.aheadMs = 31 * DAY_MS;
    await topups.checkWallet(stage.wallet);
    expect(starts()).to.equal(4);
  });

  it('continue after another process died with an open order', async () => {
    await setUp();
    await spend(800);
    await topups.checkWallet(stage.wallet);
    const { order } = await row();
    const pending = (await stage.store.payments.get(order ?? '')) as Payment;
    expect(pending.phase).to.equal('pending');
    await topups.checkWallet(stage.wallet);
    expect(starts()).to.equal(1);
    stage.bank.pay(pending.id);
    const other = stage.service('own_2', await stage.openStore());
    await other.payments.poll(pending.id);
    await createTopups(other).checkAllWallets();
    expect([(await row()).order, types()]).to.deep.equal([null, ['topup.succeeded']]);
  });

  it('are paused with the reason if the provider does not take the amount', async () => {
    await setUp({ amount: RUB + RUB / 1000n });
    await spend(800);
    await topups.checkWallet(stage.wallet);
    expect([(await row()).reason, types()]).to.deep.equal([AMOUNT_UNUSABLE, ['topup.paused']]);
    expect(starts()).to.equal(0);
  });

  it('run by themselves between start and stop', async () => {
    await setUp();
    await spend(800);
    stage.bank.charges = 'pay';
    const own = createTopups(service, 20);
    own.start();
    await until(async () => (await avail()) === 700n, 20_000);
    await own.stop();
    const { seq } = (await stage.store.ledger.wallet(stage.wallet)) ?? {};
    await spend(600);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await stage.store.ledger.wallet(stage.wallet))?.seq).to.equal((seq ?? 0) + 1);
  });
}
