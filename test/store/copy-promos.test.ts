// Copies of promo codes: what was used stays used.
import { expect } from 'chai';
import { redeemPromo } from '../../lib/accounts/promos.ts';
import { type FaultyStore, lose } from '../../testkit/faulty-store.ts';
import { AT, applied, grant, RUB, rejection, reserve } from '../contract/store/context.ts';
import { newPromo } from '../contract/store/promos.ts';
import { useCopies } from './copies.ts';

describe('copy of grants and promo codes', () => {
  let from: FaultyStore;
  let to: FaultyStore;

  const { copy } = useCopies((opened) => {
    ({ source: from, target: to } = opened);
  });

  it('has all of them, also after an interruption', async () => {
    const account = await from.wallet();
    const promo = newPromo({ opens: true });
    await from.real.promos.add(promo);
    const use = { code: promo.code, account, at: AT };
    expect(await redeemPromo(from.real, use)).to.include({ status: 'done' });
    await applied(from.real, grant(account, 5n * RUB, { until: AT + 5 }), reserve(account, { amount: 7n * RUB }));
    to.next('promos.put', lose);
    expect(await rejection(copy())).to.have.property('message', 'lost by the test');
    expect(await copy()).to.include({ resumed: true });
    expect(await to.read(account)).to.deep.equal(await from.read(account));
    expect(await to.real.promos.get(promo.code)).to.deep.equal({ ...promo, used: 1 });
    expect(await to.real.promos.uses({ limit: 9 })).to.deep.equal([use]);
    expect(await redeemPromo(to.real, use)).to.deep.equal({ status: 'again' });
  });
});
