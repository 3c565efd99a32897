// What an operator's decision on play money says.
import { expect } from 'chai';
import { walletActions } from '../../lib/manage/actions/wallet.ts';
import type { Session } from '../../lib/manage/session.ts';
import type { Operation } from '../../lib/money/decide.ts';
import type { Store } from '../../lib/store/store.ts';
import { SQLITE_HERE } from '../../testkit/stores.ts';
import { applied, newAccount, RUB, rejection, topup, useStore, walletOf } from '../contract/store/context.ts';

describe('a decision on the play money of a wallet', () => {
  const context = useStore(SQLITE_HERE);
  let wallet: string;
  beforeEach(async () => {
    wallet = await newAccount(context.store);
    const gift = { ...topup(wallet, 1000n * RUB, { paymentId: `demo-${wallet}` }), isPlay: true } as Operation;
    await applied(context.store, gift);
  });

  const decide = (how: object, store: Store = context.store) =>
    walletActions.playMoney({ store } as Session, wallet, { ...how, reason: 'decided' });

  it('says that it pays for everything', async () => {
    const { text } = await decide({ convert: true });
    expect(text)
      .to.match(/^Converted: it pays for everything now\.\n/)
      .and.to.match(/^balance +1000\.00 RUB$/m);
  });

  it('says how much of it is gone', async () => {
    const { text } = await decide({ writeOff: true });
    expect(text)
      .to.match(/^Wrote off 1000\.00 RUB\.\n/)
      .and.to.match(/^balance +0\.00 RUB$/m);
  });

  it('changes nothing if the wallet changes at the same time', async () => {
    const apply: Store['ledger']['apply'] = async (operations) => {
      await applied(context.store, topup(wallet, 5n * RUB));
      return context.store.ledger.apply(operations);
    };
    const store = { ...context.store, ledger: { ...context.store.ledger, apply } };
    const { message } = (await rejection(decide({ writeOff: true }, store))) as Error;
    expect(message).to.equal('The wallet changed at this very moment: try again.');
    expect(await walletOf(context.store, wallet)).to.include({ avail: 1005n * RUB, playMoney: true });
  });
});
