// The audit of promo codes: counts, amounts, and grants that no use gave.
import { expect } from 'chai';
import { redeemPromo } from '../../lib/accounts/promos.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import type { PromoCode } from '../../lib/store/ports/promos.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { applied, endGrant, grant, RUB } from '../contract/store/context.ts';
import { newPromo } from '../contract/store/promos.ts';

describe('the audit of promo codes', () => {
  let opened: FaultyStore;
  let account: string;

  before(async () => {
    opened = await openFaultyStore();
    account = await opened.wallet();
    await opened.real.promos.add(newPromo({ code: 'SPRING', uses: 9 }));
    await redeemPromo(opened.real, { code: 'SPRING', account, at: 1000 });
  });
  after(() => opened.close());

  const problems = async () => (await verifyLedger(opened.real)).problems.map(({ problem }) => problem);
  const get = async () => (await opened.real.promos.get('SPRING')) as PromoCode;
  /** What is found while a code is like that. */
  async function whileChanged(change: Partial<PromoCode>) {
    const promo = await get();
    await opened.real.promos.put({ codes: [{ ...promo, ...change }], uses: [] });
    const found = await problems();
    await opened.real.promos.put({ codes: [promo], uses: [] });
    return found;
  }

  it('finds nothing in what accounts have used, nor while one has taken a use and not yet its grant', async () => {
    await opened.real.promos.claim({ code: 'SPRING', account: await opened.wallet(), at: 1000 });
    expect((await get()).used).to.equal(2);
    expect(await problems()).to.deep.equal([]);
  });

  it('finds another count or amount', async () => {
    expect(await whileChanged({ used: 3 })).to.deep.equal(['promo code SPRING: used 3 times instead of 2']);
    const { amount } = await get();
    expect(await whileChanged({ amount: 1n })).to.deep.equal([`promo code SPRING: it gave ${amount} instead of 1`]);
  });

  it('finds nothing in a code that nobody has used, but the use of one that it counts', async () => {
    const unused = newPromo({ code: 'AUTUMN' });
    await opened.real.promos.add(unused);
    expect(await problems()).to.deep.equal([]);
    await opened.real.promos.put({ codes: [{ ...unused, used: 1 }], uses: [] });
    expect(await problems()).to.deep.equal(['promo code AUTUMN: used 1 times instead of 0']);
    await opened.real.promos.put({ codes: [unused], uses: [] });
  });

  it('believes a count that has grown while uses were read', async () => {
    const late = await opened.wallet();
    opened.next('promos.uses', async (call) => {
      await opened.real.promos.claim({ code: 'SPRING', account: late, at: 1000 });
      return call();
    });
    expect((await verifyLedger(opened.store)).problems).to.deep.equal([]);
  });

  it('takes no grant of an operator for one of a code, whatever its id begins with', async () => {
    await applied(opened.real, grant(account, RUB, { grantId: 'promo:spring-17' }));
    expect(await problems()).to.deep.equal([]);
  });

  it('finds a grant that no use gave, also after its end, and a use of no code', async () => {
    const grantId = `promo:NONE:${account}`;
    await applied(opened.real, grant(account, RUB, { grantId }), endGrant(account, grantId));
    expect(await problems()).to.deep.equal([`grant:${grantId}: no use of the code gave it`]);
    await opened.real.promos.put({ codes: [], uses: [{ code: 'NONE', account, at: 5 }] });
    expect(await problems()).to.deep.equal(['promo code NONE: it was used, but does not exist']);
  });
});
