// Redeeming promo codes: money once, also after a failure between the use of the code and its grant.
import { expect } from 'chai';
import { createPromo, makePromoCode, readPromoCode, redeemPromo } from '../../lib/accounts/promos.ts';
import { DAY_MS } from '../../lib/base/durations.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { problemsOf } from '../contract/store/context.ts';

const RUB = 1_000_000n;

describe('promo codes', () => {
  let opened: FaultyStore;
  let account: string;

  beforeEach(async () => {
    opened = await openFaultyStore();
    account = await opened.wallet();
    const terms = { amount: 300n * RUB, uses: 2, until: null, days: 30, opens: false, reason: 'a trial' };
    await opened.real.promos.add(createPromo({ code: 'SPRING', ...terms, createdAt: 0 }));
  });
  afterEach(() => opened.close());

  const redeem = (wallet = account, at = 1000, code = 'SPRING') =>
    redeemPromo(opened.store, { code, account: wallet, at });

  it('give their grant once to an account, and to no more accounts than they have uses', async () => {
    const until = 1000 + 30 * DAY_MS;
    expect(await redeem()).to.deep.equal({
      ...{ status: 'done', grantId: `promo:SPRING:${account}`, amount: 300n * RUB, until },
    });
    expect(await redeem()).to.deep.equal({ status: 'again' });
    expect((await redeem(await opened.wallet())).status).to.equal('done');
    expect((await redeem(await opened.wallet())).status).to.equal('used_up');
    expect((await redeem(account, 1000, 'AUTUMN')).status).to.equal('none');
    expect((await opened.read(account)).granted).to.equal(300n * RUB);
    expect(await problemsOf(opened.real, account)).to.deep.equal([]);
  });

  it('give it the next time if a failure came between the use and the grant', async () => {
    const failed = () =>
      redeem().then(
        () => 'done',
        () => 'failed',
      );
    opened.next('promos.claim', refuse);
    expect(await failed()).to.equal('failed');
    expect((await opened.real.promos.get('SPRING'))?.used).to.equal(0);
    opened.next('promos.claim', lose);
    expect(await failed()).to.equal('failed');
    opened.next('ledger.apply', refuse, refuse, refuse, refuse, refuse);
    expect(await failed()).to.equal('failed');
    expect((await opened.read(account)).granted).to.equal(undefined);
    // The grant lasts from the use of the code on.
    expect(await redeem(account, 5000)).to.include({ status: 'done' });
    opened.next('ledger.apply', lose);
    expect(await redeem(account, 6000)).to.deep.equal({ status: 'again' });
    expect((await opened.read(account)).granted).to.equal(300n * RUB);
    expect((await opened.real.promos.get('SPRING'))?.used).to.equal(1);
  });

  it('can be used later by an account that has too many grants, and fail at any other answer', async () => {
    const answered = (status: string) => {
      const ledger = { ...opened.real.ledger, apply: async () => [{ status, wallet: undefined }] as never };
      const store = { promos: opened.real.promos, ledger };
      return redeemPromo(store, { code: 'SPRING', account, at: 1000 }).catch(({ message }: Error) => message);
    };
    expect(await answered('too_many_grants')).to.deep.equal({ status: 'too_many' });
    expect(await answered('id_taken')).to.equal(`the grant promo:SPRING:${account} was answered id_taken`);
    expect(await redeem()).to.include({ status: 'done' });
    expect((await opened.real.promos.get('SPRING'))?.used).to.equal(1);
  });

  it('last as many days as they say, or for good, and may open a wallet', async () => {
    const terms = { amount: RUB, uses: 2, until: null, reason: 'a trial', createdAt: 0 };
    await opened.real.promos.add(createPromo({ code: 'FOREVER', ...terms, days: null, opens: true }));
    const fresh = await opened.wallet(0n);
    expect(await redeem(fresh, 1000, 'FOREVER')).to.include({ status: 'done', amount: RUB, until: null });
    expect(await opened.read(fresh)).to.include({ granted: RUB, opened: true });
    const other = await opened.wallet(0n);
    await redeem(other);
    expect(await opened.read(other)).to.not.have.property('opened');
  });

  it('are typed in any case, and made so that nobody guesses them', () => {
    expect(readPromoCode(' spring-24 ')).to.equal('SPRING-24');
    for (const text of ['', 'abc', 'весна24', 'a b c d', '-abcd', 'x'.repeat(41)]) {
      expect(readPromoCode(text), text).to.equal(undefined);
    }
    const made = makePromoCode();
    expect(made).to.match(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/);
    expect(readPromoCode(made)).to.equal(made);
    expect(makePromoCode()).not.to.equal(made);
  });
});
