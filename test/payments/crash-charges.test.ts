// Kills a gateway with -9 before and after every step of an automatic top-up and of lost and won disputes: the card is
// charged once, the owner is alerted once, and what the payer's bank took is taken once.
import { expect } from 'chai';
import { endDispute, openDispute, requestRefund } from '../../lib/payments/operator.ts';
import type { Asked } from '../../testkit/bank.ts';
import { until } from '../../testkit/client.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { adjust, applied, RUB, type StoreKind } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { createTopups, type KilledRun, runUntilKilled } from './kill.ts';
import { PaymentStage } from './service-stage.ts';

const CHARGE_STEPS = ['create', 'begin', 'succeed', 'pay', 'tell', 'changeAutoTopup'];
const BANK_STEPS = longer<readonly Asked[]>([], ['start', 'fetch']);
const around = (steps: readonly string[]) => steps.flatMap((step) => [`before ${step}`, `after ${step}`]);
const CHARGE_CASES = longer(['after pay'], around(CHARGE_STEPS));
const LOSSES: readonly (readonly [spent: bigint, taken: bigint])[] = [
  [0n, 1000n],
  [600n, 400n],
];
const LOST_CASES = longer(
  [['after lose', LOSSES.slice(1)] as const],
  around(['dispute', 'lose']).map((at) => [at, LOSSES] as const),
);
const WON_CASES = longer<readonly string[]>([], around(['dispute', 'keep']));

for (const kind of longer([SQLITE], STORES))
  describe(`charges, disputes and kill -9 on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const stage = new PaymentStage();

  before(async function () {
    this.timeout(60_000);
    await stage.open(kind);
  });
  beforeEach(() => stage.begin());
  afterEach(async () => {
    await stage.rest();
    expect(await stage.problems()).to.deep.equal([]);
  });
  after(async function () {
    this.timeout(60_000);
    await stage.close();
  });

  describe('an automatic top-up', () => {
    /** A wallet with 200 RUB and a card; below 300 it is topped up by 500. */
    beforeEach(async () => {
      await stage.credited(stage.service());
      const { wallet, store } = stage;
      const method = await store.payments.saveMethod(newMethod(wallet, { provider: 'till' }));
      const wish = { threshold: 300n * RUB, amount: 500n * RUB, cap: 100_000n * RUB, method: method.id };
      await store.payments.changeAutoTopup(newAuto(wallet, wish));
      await applied(store, adjust(wallet, -800n * RUB));
      stage.bank.payments.clear();
      stage.bank.charges = 'pay';
    });

    async function recover(): Promise<void> {
      const { wallet, store } = stage;
      const other = stage.service('own_other', await stage.openStore());
      const topups = createTopups(other);
      await stage.letTimePass();
      other.payments.start();
      const alarms = () => store.alerts.alarms(wallet);
      await until(async () => {
        await topups.checkWallet(wallet);
        return (await store.payments.autoTopup(wallet))?.order === null && (await alarms()).length > 0;
      }, 20_000);
      await topups.checkWallet(wallet);
      await topups.stop();
      const [payment] = await store.payments.list({ wallet, limit: 1 });
      const told = await alarms();
      expect(told.map(({ subject, version }) => [subject, version])).to.deep.equal([['topup.succeeded', 1]]);
      expect(told[0]?.state).to.contain(payment?.id);
      const row = await store.payments.autoTopup(wallet);
      expect(row).to.include({ order: null, dayCount: 1, monthSum: 500n * RUB, declines: 0 });
      expect([stage.bank.payments.size, await stage.topped()]).to.deep.equal([1, 1500n * RUB]);
    }

    const dies = async (doomed: KilledRun, watch?: (kill: () => void) => void) =>
      expect(await runUntilKilled(stage, { life: 'charge', ...doomed }, watch)).to.equal('SIGKILL');

    for (const at of CHARGE_CASES) {
      it(at, async function () {
        this.timeout(60_000);
        await dies({ at });
        await recover();
      });
    }

    for (const step of BANK_STEPS) {
      for (const when of ['before', 'after'] as const) {
        it(`${when} the bank does what it is asked: ${step}`, async function () {
          this.timeout(60_000);
          await dies({}, (kill) => {
            stage.bank.hook = (asked, at) => {
              if (asked === step && at === when) kill();
              return undefined;
            };
          });
          stage.bank.hook = () => undefined;
          await recover();
        });
      }
    }

    itLong('not at all', async function () {
      this.timeout(60_000);
      expect(await runUntilKilled(stage, { life: 'charge' })).to.equal(null);
      await recover();
    });
  });

  describe('a dispute that is lost', () => {
    for (const [at, losses] of LOST_CASES) {
      for (const [spent, taken] of losses) {
        it(`${at}, with ${taken} RUB left`, async function () {
          this.timeout(60_000);
          const { id } = await stage.credited(stage.service());
          const { store, wallet } = stage;
          if (spent > 0n) await applied(store, adjust(wallet, -spent * RUB));
          expect(await runUntilKilled(stage, { life: 'lost', payment: id, at })).to.equal('SIGKILL');
          // The operator repeats a request that got no answer.
          const statuses = [
            (await openDispute(store, id, { at: Date.now(), dispute: `CB-${id}` })).status,
            (await endDispute(store, id, { at: Date.now(), how: 'lost', suspend: true })).status,
          ];
          expect(statuses.every((status) => ['done', 'exists'].includes(status))).to.equal(true);
          const payment = await stage.payment(id);
          expect([payment.phase, payment.refunded, payment.shortfall]).to.deep.equal([
            ...['reversed', 1000n * RUB, spent * RUB],
          ]);
          const { topped, avail } = (await store.ledger.wallet(wallet)) ?? {};
          expect([topped, avail]).to.deep.equal([0n, (taken - 1000n) * RUB]);
          const entries = await store.ledger.entries(wallet, { limit: 10 });
          expect(entries.filter((entry) => entry.kind === 'dispute').length).to.equal(1);
          const account = await store.accounts.get(wallet);
          expect(account?.status).to.equal(spent > 0n ? 'suspended' : 'active');
        });
      }
    }
  });

  describe('a dispute that is won', () => {
    for (const at of [...WON_CASES, ...longer([], ['never'])]) {
      for (const spent of longer([600n], [0n, 600n])) {
        it(`${at}, with ${1000n - spent} RUB left`, async function () {
          this.timeout(60_000);
          const { id, ref } = await stage.credited(stage.service());
          const { store, wallet } = stage;
          if (spent > 0n) await applied(store, adjust(wallet, -spent * RUB));
          const signal = await runUntilKilled(stage, { life: 'won', payment: id, at });
          expect(signal).to.equal(at === 'never' ? null : 'SIGKILL');
          const end = (how: 'won' | 'lost') => endDispute(store, id, { at: Date.now(), how, suspend: true });
          const statuses = [
            (await openDispute(store, id, { at: Date.now(), dispute: `CB-${id}` })).status,
            (await end('won')).status,
          ];
          expect(statuses.every((status) => ['done', 'exists'].includes(status))).to.equal(true);
          const kept = await stage.payment(id);
          expect(kept).to.include({ phase: 'kept', refunded: 0n, shortfall: 0n, dueAt: null });
          expect((await end('lost')).status, 'an end is for good').to.equal('refused');
          // Webhooks, polls and the loop of another gateway change nothing any more.
          const other = stage.service('own_other', await stage.openStore());
          other.payments.start();
          expect(await stage.sendWebhook(other, ref ?? '')).to.equal('done');
          await other.payments.poll(id);
          expect(await stage.payment(id)).to.deep.equal(kept);
          const entries = await store.ledger.entries(wallet, { limit: 10 });
          expect(entries.map((entry) => entry.kind).filter((kind) => kind !== 'adjust')).to.deep.equal(['pay']);
          const { avail, topped, status } = (await store.ledger.wallet(wallet)) ?? {};
          expect([avail, topped, status]).to.deep.equal([(1000n - spent) * RUB, 1000n * RUB, 'active']);
          expect(stage.bank.holds([id])).to.equal(topped);
        });
      }
    }

    itLong('includes the refund that was running when it was opened, whichever process dies', async function () {
      this.timeout(60_000);
      const { store } = stage;
      const cases = longer(['after keep'], ['before keep', 'after keep']);
      for (const at of cases) {
        const service = stage.service();
        const { id } = await stage.credited(service);
        stage.bank.refunds = 'pending';
        await requestRefund(store, id, { at: Date.now(), amount: 300n * RUB, reason: 'wish' });
        await service.payments.poll(id);
        expect(await runUntilKilled(stage, { life: 'won', payment: id, at })).to.equal('SIGKILL');
        await endDispute(store, id, { at: Date.now(), how: 'won', suspend: true });
        const [refund] = stage.bank.ofOrder(id)[0]?.refunds ?? [];
        Object.assign(refund ?? {}, { status: 'succeeded' });
        service.payments.start();
        await until(async () => {
          await stage.letTimePass();
          return (await stage.payment(id)).refunded > 0n;
        }, 15_000);
        expect(await stage.payment(id)).to.include({ phase: 'kept', refunded: 300n * RUB, dueAt: null });
        expect(stage.bank.ofOrder(id)[0]?.refunds.length).to.equal(1);
      }
      expect(await stage.topped()).to.equal(BigInt(cases.length) * 700n * RUB);
    });
  });
}
