// A gateway killed with -9 before and after every step of an automatic top-up, and of a dispute that is lost: whoever goes
// on, the card is charged once, the owner is told once, and what the payer's bank took is taken once.
import { expect } from 'chai';
import { endDispute, openDispute } from '../../lib/payments/operator.ts';
import type { Asked } from '../../testkit/bank.ts';
import { until } from '../../testkit/client.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { adjust, applied, RUB, type StoreKind } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { type Doomed, live, topupsOf } from './kill.ts';
import { PaymentStage } from './service-stage.ts';

const ALL_STEPS = ['create', 'begin', 'succeed', 'pay', 'tell', 'changeAutoTopup'];
const CHARGE_STEPS = longer(['create', 'pay', 'tell'], ALL_STEPS);
const BANK_STEPS = longer<readonly Asked[]>(['start'], ['start', 'fetch']);
const DISPUTE_STEPS = longer(['lose'], ['dispute', 'lose']);
const CASES = (steps: readonly string[]) => steps.flatMap((step) => [`before ${step}`, `after ${step}`]);

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
    /** A wallet with 200 RUB and a card, that wants 500 more below 300. */
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
      const topups = topupsOf(other);
      await stage.letTimePass();
      other.payments.start();
      const alarms = () => store.alerts.alarms(wallet);
      await until(async () => {
        await topups.look(wallet);
        return (await store.payments.autoTopup(wallet))?.order === null && (await alarms()).length > 0;
      }, 20_000);
      await topups.look(wallet);
      await topups.stop();
      const [payment] = await store.payments.list({ wallet, limit: 1 });
      const told = await alarms();
      expect(told.map(({ subject, version }) => [subject, version])).to.deep.equal([['topup.succeeded', 1]]);
      expect(told[0]?.state).to.contain(payment?.id);
      const row = await store.payments.autoTopup(wallet);
      expect(row).to.include({ order: null, dayCount: 1, monthSum: 500n * RUB, declines: 0 });
      expect([stage.bank.payments.size, await stage.topped()]).to.deep.equal([1, 1500n * RUB]);
    }

    const dies = async (doomed: Doomed, watch?: (kill: () => void) => void) =>
      expect(await live(stage, { life: 'charge', ...doomed }, watch)).to.equal('SIGKILL');

    for (const at of CASES(CHARGE_STEPS)) {
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

    it('not at all', async function () {
      this.timeout(60_000);
      expect(await live(stage, { life: 'charge' })).to.equal(null);
      await recover();
    });
  });

  describe('a dispute that is lost', () => {
    for (const at of CASES(DISPUTE_STEPS)) {
      for (const [spent, taken] of [
        [0n, 1000n],
        [600n, 400n],
      ] as const) {
        it(`${at}, with ${taken} RUB left`, async function () {
          this.timeout(60_000);
          const { id } = await stage.credited(stage.service());
          const { store, wallet } = stage;
          if (spent > 0n) await applied(store, adjust(wallet, -spent * RUB));
          expect(await live(stage, { life: 'dispute', payment: id, at })).to.equal('SIGKILL');
          // The operator repeats what was not answered.
          const statuses = [
            (await openDispute(store, id, { at: Date.now(), dispute: `CB-${id}` })).status,
            (await endDispute(store, id, { at: Date.now(), how: 'lost', suspend: true })).status,
          ];
          expect(statuses.every((status) => ['done', 'exists'].includes(status))).to.equal(true);
          const payment = await stage.payment(id);
          expect([payment.phase, payment.refunded, payment.shortfall]).to.deep.equal([
            ...['reversed', 1000n * RUB, spent * RUB],
          ]);
          expect(await stage.topped()).to.equal((1000n - taken) * RUB);
          const entries = await store.ledger.entries(wallet, { limit: 10 });
          expect(entries.filter((entry) => entry.kind === 'dispute').length).to.equal(1);
          const account = await store.accounts.get(wallet);
          expect(account?.status).to.equal(spent > 0n ? 'suspended' : 'active');
        });
      }
    }
  });
}
