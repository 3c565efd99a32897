// What is left of play money beside a grant, which calls spend first, and beside hundreds of payments and videos.
import { expect } from 'chai';
import { toVideoId } from '../../lib/calls/videos/job-id.ts';
import type { ChargeOp, Operation } from '../../lib/money/decide.ts';
import type { Payment } from '../../lib/money/payment.ts';
import {
  createCostWatch,
  playMoneyLeft,
  recordCostlyUpstream,
  settlePlayMoney,
} from '../../lib/payments/play-money.ts';
import { StoreError } from '../../lib/store/store.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import {
  AT,
  applied,
  charge,
  giveBack,
  grant,
  newId,
  problemsOf,
  RUB,
  rejection,
  reserve,
  topup,
} from '../contract/store/context.ts';
import { chargeWithJob } from '../contract/store/jobs.ts';
import { creditOf, newSucceeded } from '../contract/store/payments.ts';

describe('play money beside a grant', () => {
  let opened: FaultyStore;

  beforeEach(async () => {
    opened = await openFaultyStore();
  });
  afterEach(() => opened.close());

  it('is what calls have left of it after the grant, and the grant stays when it is written off', async () => {
    const { real } = opened;
    const wallet = await opened.wallet(0n);
    const left = async () => playMoneyLeft(real, await opened.read(wallet));
    await applied(real, { ...topup(wallet, 1000n * RUB, { paymentId: `demo-${wallet}` }), isPlay: true } as never);
    await applied(real, grant(wallet, 50n * RUB), charge(wallet, { amount: 30n * RUB }));
    expect(await left()).to.equal(1000n * RUB);
    const call = newId('req');
    await applied(real, charge(wallet, { chargeId: call, amount: 40n * RUB }));
    expect(await left()).to.equal(980n * RUB);
    await applied(real, giveBack('refund', wallet, call));
    const verdict = { how: 'write_off', reason: 'the trial is over', at: Date.now() } as const;
    expect(await settlePlayMoney(real, wallet, verdict)).to.include({ status: 'done', amount: 1000n * RUB });
    expect(await opened.read(wallet)).to.include({ avail: 20n * RUB, granted: 50n * RUB });
    expect(await problemsOf(real, wallet)).to.deep.equal([]);
  });

  it('is said to be written off also if the answer of the store was lost', async () => {
    const { real, store } = opened;
    const wallet = await opened.wallet(0n);
    await applied(real, { ...topup(wallet, 1000n * RUB, { paymentId: `demo-${wallet}` }), isPlay: true } as Operation);
    opened.next('ledger.apply', lose);
    const verdict = { how: 'write_off', reason: 'the trial is over', at: Date.now() } as const;
    expect(await settlePlayMoney(store, wallet, verdict)).to.include({ status: 'done', amount: 1000n * RUB });
    expect(await settlePlayMoney(store, wallet, verdict)).to.include({ status: 'none', amount: 0n });
    expect(await opened.read(wallet)).to.include({ avail: 0n, adjusted: -1000n * RUB });
  });

  for (const [how, amount, kept] of [
    ['convert', 0n, 1500n],
    ['write_off', 1000n, 500n],
  ] as const) {
    it(`is only what came in since an earlier decision to ${how.replace('_', ' ')}`, async () => {
      const { real } = opened;
      const wallet = await opened.wallet(0n);
      const pay = async () =>
        applied(real, { ...creditOf(await newSucceeded(real, wallet)), isPlay: true } as Operation);
      const verdict = { reason: 'the trial is over', at: Date.now() };
      await applied(real, {
        ...topup(wallet, 1000n * RUB, { paymentId: `demo-${wallet}` }),
        isPlay: true,
      } as Operation);
      await pay();
      await applied(real, charge(wallet, { amount: 1000n * RUB }), topup(wallet, 500n * RUB));
      const first = await settlePlayMoney(real, wallet, { how, ...verdict });
      expect(first).to.include({ status: 'done', amount: amount * RUB });
      await pay();
      await applied(real, charge(wallet, { amount: 30n * RUB }));
      const before = await opened.read(wallet);
      const isAboutPayment = ([id]: readonly unknown[]) => String(id).startsWith('pay:');
      for (const call of ['ledger.movements', 'ledger.entry'] as const) {
        opened.always(call, (go, args) => {
          return call === 'ledger.movements' || isAboutPayment(args) ? refuse(go, args) : go();
        });
        const failed = settlePlayMoney(opened.store, wallet, { how: 'write_off', ...verdict });
        expect(await rejection(failed), call).to.be.instanceOf(StoreError);
        opened.always(call, (go) => go());
      }
      expect(await opened.read(wallet)).to.deep.equal(before);
      const second = await settlePlayMoney(real, wallet, { how: 'write_off', ...verdict });
      expect(second).to.include({ status: 'done', amount: 970n * RUB });
      expect(await opened.read(wallet)).to.include({ avail: kept * RUB });
      expect(await problemsOf(real, wallet)).to.deep.equal([]);
    });
  }

  for (const [what, event] of Object.entries({
    'more of it is paid': (wallet: string) => ({ ...topup(wallet, 500n * RUB), isPlay: true }) as Operation,
    'a call starts': (wallet: string) => reserve(wallet, { amount: 30n * RUB }),
  })) {
    it(`is not written off while ${what}`, async () => {
      const { real } = opened;
      const wallet = await opened.wallet(0n);
      await applied(real, {
        ...topup(wallet, 1000n * RUB, { paymentId: `demo-${wallet}` }),
        isPlay: true,
      } as Operation);
      await applied(real, topup(wallet, 2000n * RUB));
      const list: typeof real.payments.list = async (query) => {
        const found = await real.payments.list(query);
        await applied(real, event(wallet));
        return found;
      };
      const store = { ...real, payments: { ...real.payments, list } };
      const verdict = { how: 'write_off', reason: 'the trial is over', at: Date.now() } as const;
      expect(await settlePlayMoney(store, wallet, verdict)).to.include({ status: 'stale', amount: 0n });
      const { playMoney, adjusted } = await opened.read(wallet);
      expect({ playMoney, adjusted }).to.deep.equal({ playMoney: true, adjusted: 0n });
    });
  }
});

describe('play money beside hundreds of payments and videos', () => {
  const MANY = 600;
  let opened: FaultyStore;
  let wallet: string;

  beforeEach(async () => {
    opened = await openFaultyStore();
    const { real } = opened;
    wallet = await opened.wallet(0n);
    const played = await newSucceeded(real, wallet);
    await applied(real, creditOf(played));
    const row = (await real.payments.get(played.id)) as Payment;
    const others = Array.from({ length: MANY }, (_, n) => {
      const createdAt = row.createdAt + 1 + n;
      return { ...row, id: `order_${n}`, ref: `ref_${n}`, wallet, test: false, state: null, createdAt };
    });
    await real.payments.put('payments', others);
  });
  afterEach(() => opened.close());

  it('is found, also at the start after one during which the store failed', async () => {
    const { real } = opened;
    expect(await playMoneyLeft(real, await opened.read(wallet))).to.equal(1000n * RUB);
    opened.next('payments.page', refuse);
    await rejection(recordCostlyUpstream(opened.store, 'acme'));
    expect(await recordCostlyUpstream(opened.store, 'acme')).to.deep.equal([wallet]);
    expect(await recordCostlyUpstream(opened.store, 'acme'), 'known').to.deep.equal([]);
  });

  it('is refused once the store has noted that a model costs money, and its wallets are named then', async () => {
    const warned: object[] = [];
    const watch = createCostWatch(opened.store, { warn: (fields) => void warned.push(fields) });
    opened.next('settings.set', refuse);
    expect(await rejection(watch.recordCostlyUpstream('acme'))).to.be.instanceOf(StoreError);
    expect([watch.isReal(), warned]).to.deep.equal([false, []]);
    await watch.recordCostlyUpstream('acme');
    expect([watch.isReal(), warned]).to.deep.equal([true, [{ accounts: [wallet] }]]);
    await watch.recordCostlyUpstream('other');
    expect(warned).to.have.length(1);
  });

  it('is not written off while the first of the videos runs', async () => {
    const { real } = opened;
    await applied(real, { ...topup(wallet, RUB, { paymentId: `demo-${wallet}` }), isPlay: true } as Operation);
    const start = chargeWithJob(wallet) as ChargeOp;
    const job = { ...start.job, job: { ...start.job?.job, id: toVideoId(start.chargeId) } };
    await applied(real, { ...start, job } as Operation);
    for (let made = 0; made < MANY; made += 200) {
      const videos = Array.from({ length: 200 }, () => charge(wallet, { amount: 1n }));
      await applied(real, ...videos);
    }
    const verdict = { how: 'write_off', reason: 'the trial is over', at: AT + 1 } as const;
    expect(await settlePlayMoney(real, wallet, verdict)).to.include({ status: 'running' });
  });
});
