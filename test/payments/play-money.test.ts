// Play money buys nothing real: not in a store that another process serves with real models, not after a change of the
// shop's secret, and not by an operator.
import { expect } from 'chai';
import { toVideoId } from '../../lib/calls/videos/job-id.ts';
import type { ChargeOp, Operation } from '../../lib/money/decide.ts';
import type { Job } from '../../lib/money/job-rules.ts';
import type { Payment } from '../../lib/money/payment.ts';
import { decideReview, requestRefund } from '../../lib/payments/operator.ts';
import { recordCostlyUpstream, settlePlayMoney } from '../../lib/payments/play-money.ts';
import { mapCalls } from '../../lib/store/port-calls.ts';
import { until } from '../../testkit/client.ts';
import { refuse } from '../../testkit/faulty-store.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { pollSoon, RUB } from '../../testkit/payments.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { startYooKassa, type YooKassa } from '../../testkit/yookassa.ts';
import { applied, giveBack, newId, reserve, walletOf } from '../contract/store/context.ts';
import { chargeWithJob, refundWithJob } from '../contract/store/jobs.ts';
import { newOrder } from '../contract/store/payments.ts';
import { useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES))
  describe(`play money on ${kind.name}`, () => {
    const use = useStage(kind);
    const { stage } = use;
    afterEach(() => stage.store.settings.set('costly-upstream', ''));

    const paidIn = async (live: boolean, more: object = { test: true }): Promise<Payment> => {
      stage.settings = { live };
      const service = stage.service('own_play');
      const payment = await stage.order(service);
      stage.bank.pay(payment.id, more);
      return (await service.payments.poll(payment.id)) as Payment;
    };

    it('is credited where nothing costs money', async () => {
      const played = await paidIn(false);
      expect(played.phase).to.equal('credited');
      // The start of a real upstream names its wallet, but none with real money, and none whose test was not paid.
      const real = { ...played, id: newId('pay'), wallet: 'acc_real', ref: 'real', test: false, state: null };
      await stage.store.payments.put('payments', [real]);
      await stage.store.payments.create(newOrder('acc_unpaid', { test: true }));
      expect(await recordCostlyUpstream(stage.store, 'acme')).to.deep.equal([played.wallet]);
    });

    it('goes to review in a store with real models, and cannot be credited there', async () => {
      await recordCostlyUpstream(stage.store, 'acme');
      const { id, phase, reason } = await paidIn(false);
      expect([phase, await stage.topped()]).to.deep.equal(['review', 0n]);
      expect(reason).to.contain('its money is not real').and.to.contain('the upstream acme');
      const decided = await decideReview(stage.store, id, { at: stage.now(), reason: 'seen', credit: 5n * RUB });
      expect([decided.status, await stage.topped()]).to.deep.equal(['play_money', 0n]);
      const rejected = await decideReview(stage.store, id, { at: stage.now(), reason: 'seen', credit: null });
      expect(rejected.status).to.equal('done');
    });

    it('cannot be credited by an operator if only its order or only its provider marks it as a test', async () => {
      await recordCostlyUpstream(stage.store, 'acme');
      for (const live of [true, false]) {
        const { id, phase } = await paidIn(live, { test: live });
        expect(phase).to.equal('review');
        const decided = await decideReview(stage.store, id, { at: stage.now(), reason: 'seen', credit: 5n * RUB });
        expect([decided.status, await stage.topped()]).to.deep.equal(['play_money', 0n]);
      }
    });

    it('is not credited while the setting cannot be read, and once afterwards', async () => {
      stage.settings = { live: false };
      const store = mapCalls(stage.store, (call, { port, name }) => (...args) => {
        return port === 'settings' && name === 'get' ? refuse(() => call(...args), args) : call(...args);
      });
      const service = stage.service('own_play', store);
      const payment = await stage.order(service);
      stage.bank.pay(payment.id, { test: true });
      await service.payments.poll(payment.id).catch(() => undefined);
      expect(await stage.topped()).to.equal(0n);
      await stage.service('own_other').payments.poll(payment.id);
      expect(await stage.topped()).to.equal(1000n * RUB);
    });

    it('goes to review if the order is older than the real secret, like real money in a test shop', async () => {
      for (const [was, is, test] of [
        [false, true, true],
        [true, false, false],
      ] as const) {
        stage.settings = { live: was };
        const payment = await stage.order(stage.service('own_was'));
        stage.settings = { live: is };
        stage.bank.pay(payment.id, { test });
        const looked = await stage.service('own_is').payments.poll(payment.id);
        expect(looked?.phase).to.equal('review');
        expect(looked?.reason).to.match(new RegExp(`^test: ${test}, but its provider takes (no )?real money now$`));
      }
      expect(await stage.topped()).to.equal(0n);
    });

    it('does not read the settings for real money', async () => {
      await recordCostlyUpstream(stage.store, 'acme');
      expect((await paidIn(true, { test: false })).phase).to.equal('credited');
    });
  });

for (const kind of longer([SQLITE], STORES))
  describe(`play money that is written off, on ${kind.name}`, () => {
    const use = useStage(kind);
    const { stage } = use;
    let played: Payment;
    afterEach(async () => expect(await stage.problems()).to.deep.equal([]));

    const pay = async (live: boolean): Promise<Payment> => {
      stage.settings = { live };
      const service = stage.service('own_play');
      const payment = await stage.order(service);
      stage.bank.pay(payment.id, { test: !live });
      return (await service.payments.poll(payment.id)) as Payment;
    };
    const settle = (how: 'convert' | 'write_off') =>
      settlePlayMoney(stage.store, stage.wallet, { how, reason: 'over', at: stage.now() });
    const avail = async () => (await walletOf(stage.store, stage.wallet)).avail / RUB;

    beforeEach(async () => {
      played = await pay(false);
      await pay(true);
      expect(await walletOf(stage.store, stage.wallet)).to.include({ avail: 2000n * RUB, playMoney: true });
    });

    it('does not touch real money while a refund of a test payment is running', async () => {
      const at = stage.now();
      const asked = await requestRefund(stage.store, played.id, { at, amount: 700n * RUB, reason: 'a test' });
      expect([asked.status, await avail()]).to.deep.equal(['done', 1300n]);
      expect((await settle('write_off')).amount).to.equal(300n * RUB);
      expect(await avail()).to.equal(1000n);
      // The bank makes the refund in the end, although its money is already gone.
      await stage.service('own_late').payments.poll(played.id);
      expect([(await stage.payment(played.id)).phase, await avail()]).to.deep.equal(['partly_refunded', 1000n]);
    });

    it('is refused while calls and videos run, because their refunds would be real money', async () => {
      const chargeId = newId('req');
      await applied(stage.store, reserve(stage.wallet, { chargeId, amount: 400n * RUB }));
      expect(await settle('write_off')).to.include({ status: 'running', amount: 0n });
      await applied(stage.store, giveBack('release', stage.wallet, chargeId));

      const start = chargeWithJob(stage.wallet) as ChargeOp;
      const job = { ...start.job, job: { ...start.job?.job, id: toVideoId(start.chargeId) } };
      const [made] = await applied(stage.store, { ...start, job } as Operation);
      expect(made?.status).to.equal('done');
      expect(await settle('write_off')).to.include({ status: 'running', amount: 0n });
      expect((await walletOf(stage.store, stage.wallet)).playMoney).to.equal(true);
      const [failed] = await applied(stage.store, refundWithJob(made?.job as Job));
      expect(failed?.status).to.equal('done');
      expect((await settle('write_off')).amount).to.equal(1000n * RUB);
      expect(await walletOf(stage.store, stage.wallet))
        .to.include({ avail: 1000n * RUB })
        .and.not.have.any.keys('playMoney');
      expect((await settle('write_off')).status).to.equal('none');
    });

    it('can be converted once while calls run', async () => {
      await applied(stage.store, reserve(stage.wallet, { amount: 400n * RUB }));
      const ends = await Promise.all([settle('convert'), settle('convert'), settle('convert')]);
      expect(ends.map(({ status }) => status).sort()).to.deep.equal(['done', 'none', 'none']);
      expect(await avail()).to.equal(1600n);
    });
  });

describe('play money through two gateways of one store', function () {
  this.timeout(60_000);
  let vendor: YooKassa;
  let trial: TestGateway;
  let real: TestGateway;

  before(async () => {
    vendor = await startYooKassa();
    const { baseUrl, shopId, secret } = vendor;
    const payments = { yookassa: { plugin: 'yookassa', settings: { baseUrl, shopId, secret } } };
    trial = await startGateway({ catalog: { upstreams: {}, models: [], payments }, env: { LEASE_MS: '1000' } });
    real = await startGateway({ catalog: chatCatalog('http://127.0.0.1:9'), database: trial.databaseUrl });
  });
  after(async () => {
    await real?.stop();
    await trial?.stop();
    await vendor?.close();
  });

  it('goes to review even if its own gateway has no costly model', async function () {
    // A provider that could not be asked on a busy machine is asked again after a minute.
    this.timeout(200_000);
    const { id: wallet } = await trial.account('0');
    const facts = { description: 'Top-up', returnUrl: trial.url, pageUrl: trial.url, locale: 'en', saveMethod: false };
    const order = newOrder(wallet, {
      provider: 'yookassa',
      shop: vendor.shopId,
      facts: JSON.stringify(facts),
      lease: 1,
    });
    await trial.store.payments.create(order);
    const find = () => trial.store.payments.get(order.id);
    await until(async () => (await find())?.phase === 'pending', 90_000);
    vendor.shop.pay((await find())?.ref ?? '');
    await pollSoon(trial.store, order.id);
    await until(async () => (await find())?.phase === 'review', 90_000);
    expect((await find())?.reason).to.contain('the upstream up');
    expect((await trial.store.ledger.wallet(wallet))?.topped).to.equal(0n);
  });
});
