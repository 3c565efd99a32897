// What is left of play money beside a grant, which calls spend first.
import { expect } from 'chai';
import { playMoneyLeft, settlePlayMoney } from '../../lib/payments/play-money.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { applied, charge, giveBack, grant, newId, problemsOf, RUB, topup } from '../contract/store/context.ts';

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
});
