// Which calls of a wallet lead to a check of its automatic top-up.
import { expect } from 'chai';
import type { Fault } from '../../lib/base/faults.ts';
import { readTopupBounds } from '../../lib/catalog/topup-bounds.ts';
import { createLedger, type Ledger } from '../../lib/ledger/ledger.ts';
import { type AutoTopup, createAutoTopup } from '../../lib/payments/auto-topup.ts';
import { until } from '../../testkit/client.ts';
import { createFaultyStore } from '../../testkit/faulty-store.ts';
import { SQLITE } from '../../testkit/stores.ts';
import { newId, RUB, rejection } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { useStage } from './service-stage.ts';

describe('automatic top-ups after calls', () => {
  const use = useStage(SQLITE);
  const { stage } = use;
  let topups: AutoTopup;
  let ledger: Ledger;
  /** How often the wallet was checked. */
  let checks: number;

  /** A wallet with 1000 RUB, which is topped up below 300. */
  beforeEach(async () => {
    const service = use.service();
    const faults = createFaultyStore(stage.store);
    faults.always('payments.autoTopup', (call) => {
      checks += 1;
      return call();
    });
    const log = { warn() {}, error() {} };
    const alerts = { queueAlert: async () => undefined };
    const parts = { store: faults.store, payments: service.payments, now: stage.now, log, alerts };
    topups = createAutoTopup({ ...parts, bounds: () => readTopupBounds() });
    ledger = topups.watch(createLedger({ store: stage.store, ownerId: newId('own'), leaseMs: 60_000, log }));
    await stage.credited(service);
    const { id: method } = await stage.store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
    await stage.store.payments.changeAutoTopup(newAuto(stage.wallet, { threshold: 300n * RUB, method }));
    await topups.checkWallet(stage.wallet);
    checks = 0;
  });
  afterEach(() => topups.stop());

  const call = (rub: bigint) => ({
    ...({ chargeId: newId('req'), wallet: stage.wallet, key: 'key', kind: 'text', model: 'm', prices: '{}' } as const),
    ...({ amount: rub * RUB, usage: { tokens_input: 1 } } as const),
  });
  const order = async () => (await stage.store.payments.autoTopup(stage.wallet))?.order;

  it('start one after a charge that leaves less than the threshold, and look at none before', async () => {
    await ledger.charge(call(600n));
    const hold = await ledger.hold(call(90n));
    await ledger.settle(hold, { amount: 90n * RUB, usage: { tokens_input: 1 } });
    expect(checks).to.equal(0);
    await ledger.charge(call(20n));
    await until(async () => typeof (await order()) === 'string');
  });

  it('start one after a charge that is refused for lack of money', async () => {
    const { data } = (await rejection(ledger.charge(call(1001n)))) as Fault;
    expect(data?.code).to.equal('insufficient_balance');
    await until(async () => typeof (await order()) === 'string');
  });

  it('start none after a call that is refused for another reason', async () => {
    const budget = { name: 'laptop', limit: RUB, reset: 'none', zone: 'UTC' } as const;
    for (const refused of [ledger.hold({ ...call(2n), budget }), ledger.charge({ ...call(2n), budget })])
      expect(((await rejection(refused)) as Fault).data?.code).to.equal('key_budget');
    expect(checks).to.equal(0);
  });
});
