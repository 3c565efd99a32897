// A refund from its request to its end, on real stores and with a bank: its money cannot be spent meanwhile, returns to
// the balance if the refund is refused, and is taken once, whatever fails in between.
import { expect } from 'chai';
import { type Payment, parseRefunds } from '../../lib/money/payment-rules.ts';
import { endDispute, openDispute, requestRefund } from '../../lib/payments/operator.ts';
import { until } from '../../testkit/client.ts';
import { createFaultyStore, lose, refuse } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import {
  applied,
  giveBack,
  newId,
  RUB,
  rejection,
  reserve,
  type StoreKind,
  settle,
} from '../contract/store/context.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`a requested refund on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  let paid: Payment;
  beforeEach(async () => {
    service = use.service();
    paid = await stage.credited(service);
  });
  afterEach(async () => expect(await stage.problems()).to.deep.equal([]));

  const ask = (rub: bigint, refund?: string) =>
    requestRefund(stage.store, paid.id, {
      at: stage.now(),
      amount: rub * RUB,
      reason: 'wish',
      ...(refund && { refund }),
    });
  const balance = async () => {
    const { avail = 0n, held = 0n, topped = 0n } = (await stage.store.ledger.wallet(stage.wallet)) ?? {};
    return [avail, held, topped].map((micro) => Number(micro / RUB));
  };
  const states = async () => parseRefunds(await stage.payment(paid.id)).map(({ state }) => state);

  it('is not spendable from the moment it is requested', async () => {
    expect((await ask(700n)).status).to.equal('done');
    expect(await balance()).to.deep.equal([300, 0, 300]);
    const [refused] = await applied(stage.store, reserve(stage.wallet, { amount: 301n * RUB }));
    expect(refused?.status).to.equal('insufficient');
    await service.payments.poll(paid.id);
    expect([await balance(), await states()]).to.deep.equal([[300, 0, 300], ['booked']]);
  });

  it('is taken once from a bank that stores no id of ours, even if its webhook comes before its reply', async () => {
    const { bank } = stage;
    const ref = stage.refOf(paid);
    bank.hook = async (asked, when) => {
      if (asked !== 'refund' || when === 'before') return undefined;
      for (const { refunds } of bank.payments.values())
        for (const refund of refunds) Object.assign(refund, { order: null });
      expect(await stage.sendWebhook(service, ref)).to.equal('done');
      return undefined;
    };
    await ask(300n);
    await service.payments.poll(paid.id);
    expect([await balance(), await states()]).to.deep.equal([[700, 0, 700], ['asked']]);
    bank.hook = () => undefined;
    await service.payments.poll(paid.id);
    expect([await balance(), await states()]).to.deep.equal([[700, 0, 700], ['booked']]);
    bank.giveBack(paid.id, 300n * RUB);
    await service.payments.poll(paid.id);
    expect([await balance(), await states()]).to.deep.equal([
      [400, 0, 400],
      ['booked', 'booked'],
    ]);
  });

  it('gets the money that holds release before anything else can spend it', async () => {
    const one = newId('req');
    const two = newId('req');
    const holds = [one, two].map((chargeId) => reserve(stage.wallet, { chargeId, amount: 400n * RUB }));
    await applied(stage.store, ...holds);
    await ask(900n);
    expect(await balance()).to.deep.equal([-700, 800, 100]);
    await applied(stage.store, giveBack('release', stage.wallet, one));
    expect(await balance()).to.deep.equal([-300, 400, 100]);
    await applied(stage.store, settle(stage.wallet, two, { amount: 100n * RUB }));
    expect(await balance()).to.deep.equal([0, 0, 100]);
    // The whole amount was there in the end: no shortfall, and no suspension.
    expect(await service.payments.poll(paid.id)).to.include({ phase: 'partly_refunded', shortfall: 0n });
    expect((await stage.store.accounts.get(stage.wallet))?.status).to.equal('active');
  });

  it('leaves a shortfall if the money was spent, and suspends the account by the rule once the bank has refunded it', async () => {
    const chargeId = newId('req');
    await applied(stage.store, reserve(stage.wallet, { chargeId, amount: 800n * RUB }));
    await applied(stage.store, settle(stage.wallet, chargeId, { amount: 800n * RUB }));
    await ask(1000n);
    expect((await stage.store.accounts.get(stage.wallet))?.status).to.equal('active');
    expect(await service.payments.poll(paid.id)).to.include({ phase: 'refunded', shortfall: 800n * RUB });
    expect((await stage.store.accounts.get(stage.wallet))?.status).to.equal('suspended');
    expect(await balance()).to.deep.equal([-800, 0, 0]);
  });

  it('returns in full if the bank refuses it, even after a restart, and first pays a debt', async () => {
    const hold = reserve(stage.wallet, { amount: 900n * RUB });
    await applied(stage.store, hold);
    await ask(600n);
    expect(await balance()).to.deep.equal([-500, 900, 400]);
    stage.bank.hook = () => 500;
    await service.payments.poll(paid.id);
    await service.payments.stop();
    stage.bank.hook = (asked) => (asked === 'refund' ? 400 : undefined);
    const other = stage.service('own_2', await stage.openStore());
    await stage.letTimePass();
    other.payments.start();
    await until(async () => (await states())[0] === 'refused', 10_000);
    expect(await balance()).to.deep.equal([100, 900, 1000]);
    await other.payments.poll(paid.id);
    expect(await balance()).to.deep.equal([100, 900, 1000]);
    expect((await ask(600n)).status).to.equal('done');
  });

  it('is taken once for concurrent and repeated requests with one id', async () => {
    const other = await stage.openStore();
    const wish = { at: stage.now(), amount: 300n * RUB, reason: 'wish', refund: `rfd_${paid.id}` };
    const asked = await Promise.all(
      [stage.store, other, stage.store].map((store) => requestRefund(store, paid.id, wish)),
    );
    for (const { status } of asked) expect(status).to.be.oneOf(['done', 'exists', 'stale']);
    expect(asked.filter(({ status }) => status === 'done')).to.have.length(1);
    expect((await requestRefund(other, paid.id, wish)).status).to.equal('exists');
    expect(await balance()).to.deep.equal([700, 0, 700]);
    await service.payments.poll(paid.id);
    expect([await balance(), stage.bank.holds([paid.id])]).to.deep.equal([[700, 0, 700], 700n * RUB]);
    expect((await requestRefund(other, paid.id, wish)).status).to.equal('exists');
    expect((await ask(701n)).status).to.equal('refused');
  });

  it('is retried with the same key after a crash that lost the bank’s answer', async () => {
    await ask(300n);
    stage.bank.hook = (asked, when) => {
      if (asked === 'refund' && when === 'after') throw new Error('lost');
      return undefined;
    };
    await service.payments.poll(paid.id);
    await service.payments.stop();
    stage.bank.hook = () => undefined;
    const other = stage.service('own_2', await stage.openStore());
    await stage.letTimePass();
    other.payments.start();
    await until(async () => (await states())[0] === 'booked', 10_000);
    expect([await balance(), stage.bank.ofOrder(paid.id)[0]?.refunds.length]).to.deep.equal([[700, 0, 700], 1]);
  });

  it('is abandoned and returned if the provider never started it', async () => {
    await requestRefund(stage.store, paid.id, { at: stage.now() - 26 * 3_600_000, amount: 300n * RUB, reason: '' });
    expect(await balance()).to.deep.equal([700, 0, 700]);
    await stage.letTimePass();
    await service.payments.poll(paid.id);
    expect([await balance(), await states()]).to.deep.equal([[1000, 0, 1000], ['refused']]);
  });

  for (const [how, states] of [
    ['refused', ['refused']],
    ['booked', ['booked']],
  ] as const) {
    for (const [name, behaviour] of [
      ['fails', refuse],
      ['loses its answer', lose],
    ] as const) {
      it(`is ${how} once where the ledger ${name}`, async () => {
        const faults = createFaultyStore(stage.store);
        const other = stage.service('own_faulty', faults.store);
        faults.next('ledger.apply', behaviour);
        const wish = { at: stage.now(), amount: 300n * RUB, reason: '', refund: `rfd_${paid.id}` };
        await requestRefund(faults.store, paid.id, wish);
        await requestRefund(faults.store, paid.id, wish);
        expect(await balance()).to.deep.equal([700, 0, 700]);
        if (how === 'refused') stage.bank.hook = (asked) => (asked === 'refund' ? 400 : undefined);
        faults.next('ledger.apply', behaviour);
        await other.payments.poll(paid.id);
        await other.payments.poll(paid.id);
        expect(parseRefunds(await stage.payment(paid.id)).map(({ state }) => state)).to.deep.equal(states);
        expect(await balance()).to.deep.equal(how === 'refused' ? [1000, 0, 1000] : [700, 0, 700]);
      });
    }
  }

  it('moves nothing if the store fails at the request, and can be requested again', async () => {
    const faults = createFaultyStore(stage.store);
    faults.always('ledger.apply', refuse);
    const wish = { at: stage.now(), amount: 300n * RUB, reason: '', refund: `rfd_${paid.id}` };
    await rejection(requestRefund(faults.store, paid.id, wish));
    expect([await balance(), await states()]).to.deep.equal([[1000, 0, 1000], []]);
    faults.always('ledger.apply', undefined);
    expect((await requestRefund(faults.store, paid.id, wish)).status).to.equal('done');
  });

  it('ends with a lost dispute, which takes each rouble once', async () => {
    stage.bank.refunds = 'pending';
    await ask(200n);
    await service.payments.poll(paid.id);
    await ask(300n);
    expect(await balance()).to.deep.equal([500, 0, 500]);
    const at = stage.now();
    await openDispute(stage.store, paid.id, { at, dispute: `CB-${paid.id}`, amount: 900n * RUB });
    expect((await endDispute(stage.store, paid.id, { at, how: 'lost', suspend: true })).status).to.equal('done');
    expect([await balance(), await states()]).to.deep.equal([
      [100, 0, 100],
      ['asked', 'refused'],
    ]);
    // The bank made the first one all the same: it is taken as far as the payment covers it.
    const [refund] = stage.bank.ofOrder(paid.id)[0]?.refunds ?? [];
    Object.assign(refund ?? {}, { status: 'succeeded' });
    await service.payments.poll(paid.id);
    expect([await balance(), await states()]).to.deep.equal([
      [0, 0, 0],
      ['booked', 'refused'],
    ]);
  });

  it('stays off the balance when a dispute about another part of the payment is lost, and is taken once', async () => {
    stage.bank.refunds = 'pending';
    await ask(200n);
    await service.payments.poll(paid.id);
    await ask(100n);
    const at = stage.now();
    await openDispute(stage.store, paid.id, { at, dispute: `CB-${paid.id}`, amount: 150n * RUB });
    expect(await balance()).to.deep.equal([700, 0, 700]);
    expect((await endDispute(stage.store, paid.id, { at, how: 'lost', suspend: true })).status).to.equal('done');
    // The refund of 100 was never sent and is withdrawn; that of 200 is running.
    expect([await balance(), await states()]).to.deep.equal([
      [650, 0, 650],
      ['asked', 'refused'],
    ]);
    const [refund] = stage.bank.ofOrder(paid.id)[0]?.refunds ?? [];
    Object.assign(refund ?? {}, { status: 'succeeded' });
    expect(await service.payments.poll(paid.id)).to.include({ refunded: 350n * RUB, shortfall: 0n });
    expect([await balance(), await states()]).to.deep.equal([
      [650, 0, 650],
      ['booked', 'refused'],
    ]);
  });

  for (const how of ['won', 'lost'] as const) {
    it(`is not sent while the bank may take the same money, and ${how === 'won' ? 'goes on' : 'ends'} with the dispute`, async () => {
      stage.bank.hook = (asked) => (asked === 'refund' ? 503 : undefined);
      await ask(300n);
      await service.payments.poll(paid.id);
      const at = stage.now();
      await openDispute(stage.store, paid.id, { at, dispute: `CB-${paid.id}` });
      stage.bank.hook = () => undefined;
      await stage.letTimePass();
      await service.payments.poll(paid.id);
      expect([await balance(), await states()]).to.deep.equal([[700, 0, 700], ['asked']]);
      expect(stage.bank.holds([paid.id])).to.equal(1000n * RUB);
      expect((await endDispute(stage.store, paid.id, { at, how, suspend: true })).status).to.equal('done');
      await service.payments.poll(paid.id);
      const [left, state, kept] = how === 'won' ? [700, 'booked', 700n] : [0, 'refused', 1000n];
      expect([await balance(), await states()]).to.deep.equal([[left, 0, left], [state]]);
      expect(stage.bank.holds([paid.id])).to.equal(kept * RUB);
    });
  }

  it('stays off the balance beside a refund made at the bank, as far as the payment covers both', async () => {
    stage.bank.refunds = 'pending';
    await ask(400n);
    await service.payments.poll(paid.id);
    await ask(400n);
    stage.bank.refunds = 'succeeded';
    stage.bank.giveBack(paid.id, 500n * RUB);
    // The webhook of it comes before the second is sent, for which nothing is left at the bank.
    expect(await stage.sendWebhook(service, stage.refOf(paid))).to.equal('done');
    expect([await balance(), await states()]).to.deep.equal([
      [100, 0, 100],
      ['asked', 'asked', 'booked'],
    ]);
    const [first] = stage.bank.ofOrder(paid.id)[0]?.refunds ?? [];
    Object.assign(first ?? {}, { status: 'succeeded' });
    expect(await service.payments.poll(paid.id)).to.include({ refunded: 900n * RUB, shortfall: 0n });
    expect([await balance(), await states()]).to.deep.equal([
      [100, 0, 100],
      ['booked', 'refused', 'booked'],
    ]);
  });

  it('is refused if a refund made at the bank took its money', async () => {
    await ask(600n);
    stage.bank.giveBack(paid.id, 1000n * RUB);
    const after = await service.payments.poll(paid.id);
    expect(after).to.include({ phase: 'refunded', refunded: 1000n * RUB, shortfall: 0n });
    expect([await balance(), stage.bank.holds([paid.id])]).to.deep.equal([[0, 0, 0], 0n]);
  });
}
