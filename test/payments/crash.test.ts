// Kills a gateway with -9 before and after every step of a payment and its refund: another one continues, and the
// wallet gets what the bank holds, once.
import { expect } from 'chai';
import { requestRefund } from '../../lib/payments/operator.ts';
import type { Asked } from '../../testkit/bank.ts';
import { until } from '../../testkit/client.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { RUB, type StoreKind } from '../contract/store/context.ts';
import { runUntilKilled } from './kill.ts';
import { PaymentStage } from './service-stage.ts';

const ALL_STEPS = ['create', 'begin', 'succeed', 'pay', 'ask_refund', 'note_refund', 'payback'];
const STORE_STEPS = longer(['pay'], ALL_STEPS);
const BANK_STEPS = longer<readonly Asked[]>([], ['start', 'fetch', 'refund']);

for (const kind of longer([SQLITE], STORES)) describe(`payments and kill -9 on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const stage = new PaymentStage();

  before(async function () {
    this.timeout(60_000);
    await stage.open(kind);
  });
  beforeEach(() => stage.begin());
  afterEach(() => stage.rest());
  after(async function () {
    this.timeout(60_000);
    await stage.close();
  });

  const orders = () => stage.store.payments.list({ wallet: stage.wallet, limit: 10 });

  /** Pays each payment as soon as the bank has it. */
  function payAtOnce(): undefined {
    for (const { order, status } of stage.bank.payments.values()) {
      if (order !== null && status === 'pending') stage.bank.pay(order);
    }
    return undefined;
  }

  async function recover(): Promise<void> {
    stage.bank.hook = payAtOnce;
    payAtOnce();
    const other = stage.service('own_other', await stage.openStore());
    await stage.letTimePass();
    other.payments.start();
    const [payment, ...more] = await orders();
    expect(more).to.deep.equal([]);
    if (!payment) {
      expect([await stage.topped(), stage.bank.payments.size]).to.deep.equal([0n, 0]);
      return;
    }
    const { id } = payment;
    await until(async () => {
      // A late answer of the bank makes the payment due again.
      await stage.letTimePass();
      return (await stage.payment(id)).credited > 0n;
    }, 15_000);
    const wish = { at: Date.now(), amount: 300n * RUB, reason: 'wish', refund: `rfd_${id}` };
    await requestRefund(stage.store, id, wish);
    await until(async () => {
      await stage.letTimePass();
      return (await stage.payment(id)).refunded > 0n;
    }, 15_000);
    const kinds = (await stage.store.ledger.entries(stage.wallet, { limit: 10 })).map((entry) => entry.kind);
    expect(kinds).to.deep.equal(['payback', 'payback', 'pay']);
    expect(stage.bank.payments.size, 'payments at the bank').to.equal(1);
    expect(await stage.topped()).to.equal(700n * RUB);
    expect(stage.bank.holds([id])).to.equal(700n * RUB);
  }

  for (const step of STORE_STEPS) {
    for (const when of longer(['after'] as const, ['before', 'after'] as const)) {
      it(`${when} ${step}`, async function () {
        this.timeout(60_000);
        stage.bank.hook = payAtOnce;
        expect(await runUntilKilled(stage, { at: `${when} ${step}` })).to.equal('SIGKILL');
        await recover();
        expect(await stage.problems()).to.deep.equal([]);
      });
    }
  }

  for (const step of BANK_STEPS) {
    for (const when of longer(['after'] as const, ['before', 'after'] as const)) {
      it(`${when} the bank handles ${step}`, async function () {
        this.timeout(60_000);
        const signal = await runUntilKilled(stage, {}, (kill) => {
          stage.bank.hook = (asked, at) => {
            payAtOnce();
            if (asked === step && at === when) kill();
            return undefined;
          };
        });
        expect(signal).to.equal('SIGKILL');
        await recover();
        expect(await stage.problems()).to.deep.equal([]);
      });
    }
  }

  itLong('without a crash', async function () {
    this.timeout(60_000);
    stage.bank.hook = payAtOnce;
    expect(await runUntilKilled(stage, {})).to.equal(null);
    await recover();
  });
}
