// Copies of promo codes: what was used stays used.
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { redeemPromo } from '../../lib/accounts/promos.ts';
import { archiveLedger } from '../../lib/ledger/archive.ts';
import { type FaultyStore, lose } from '../../testkit/faulty-store.ts';
import {
  AT,
  applied,
  endGrant,
  grant,
  newId,
  problemsOf,
  RUB,
  rejection,
  reserve,
  settle,
} from '../contract/store/context.ts';
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

  it('has all of them, however many there are', async () => {
    const codes = Array.from({ length: 600 }, (_, at) => newPromo({ used: 1, reason: `${at}` })).toSorted((a, b) =>
      a.code < b.code ? -1 : 1,
    );
    const uses = codes.map(({ code }) => ({ code, account: newId('acc'), at: AT }));
    await from.real.promos.put({ codes, uses });
    await copy();
    expect(await to.real.promos.page({ after: '', limit: 1000 })).to.deep.equal(codes);
    expect(await to.real.promos.uses({ limit: 1000 })).to.deep.equal(await from.real.promos.uses({ limit: 1000 }));
    expect(await to.real.promos.uses({ limit: 1000 })).to.have.length(600);
  });

  it('continues from the opening of a wallet whose calls are archived', async () => {
    const [account, id] = [await from.wallet(0n), newId('grant')];
    const before = Date.now() - 40 * 24 * 3_600_000;
    const at = before - 1000;
    await applied(from.real, grant(account, 90n * RUB, { at, grantId: id, until: AT, opens: true }));
    for (const chargeId of [newId('req'), newId('req')]) {
      const call = reserve(account, { chargeId, amount: 20n * RUB, at });
      await applied(from.real, call, { ...settle(account, chargeId, { amount: 7n * RUB }), at });
    }
    const file = join(dirname(from.path), 'calls.gz');
    expect(await archiveLedger(from.real, { before, file })).to.include({ calls: 1 });
    expect(await from.real.archives.opening(account)).to.include({ granted: 90n * RUB });
    await copy();
    expect(await to.read(account)).to.deep.equal(await from.read(account));
    await applied(to.real, reserve(account, { amount: 5n * RUB }), endGrant(account, id));
    expect(await to.read(account)).to.include({ avail: 0n, held: 5n * RUB, granted: 19n * RUB });
    expect(await problemsOf(to.real, account)).to.deep.equal([]);
  });
});
