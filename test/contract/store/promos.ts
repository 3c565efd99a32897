// Promo codes: as many uses as they have, one per account, however many ask at once.
import { expect } from 'chai';
import { createPromo } from '../../../lib/accounts/promos.ts';
import type { PromoCode, PromoUse } from '../../../lib/store/ports/promos.ts';
import type { Store } from '../../../lib/store/store.ts';
import { longer } from '../../../testkit/long.ts';
import { AT, newId, RUB, type StoreContext } from './context.ts';

export function newPromo(more: Partial<PromoCode> = {}): PromoCode {
  const terms = { amount: 300n * RUB, uses: 10, until: null, days: 30, opens: false, reason: 'a trial' };
  return { ...createPromo({ code: newId('CODE').replace('_', '-').toUpperCase(), ...terms, createdAt: AT }), ...more };
}

export function promoContract(context: StoreContext): void {
  it('are kept as they were made, in order, and ended once', async () => {
    const { store } = context;
    const [one, two] = [newPromo(), newPromo({ until: AT + 5, days: null, opens: true, uses: 1 })];
    expect([await store.promos.add(one), await store.promos.add(two)]).to.deep.equal([true, true]);
    expect(await store.promos.add({ ...one, amount: 1n })).to.equal(false);
    expect(await store.promos.get(one.code)).to.deep.equal(one);
    const listed: PromoCode[] = [];
    for (let after = ''; ; ) {
      const page = await store.promos.page({ after, limit: 2 });
      listed.push(...page);
      if (page.length < 2) break;
      after = page.at(-1)?.code ?? '';
    }
    expect(listed.map(({ code }) => code)).to.deep.equal(listed.map(({ code }) => code).toSorted());
    expect(listed).to.deep.include(two);
    expect(await store.promos.end(one.code, AT + 1)).to.equal(true);
    expect(await store.promos.end(one.code, AT + 2)).to.equal(false);
    expect(await store.promos.end('NONE', AT)).to.equal(false);
    expect(await store.promos.get(one.code)).to.deep.equal({ ...one, endedAt: AT + 1 });
    expect(await store.promos.get('NONE')).to.equal(undefined);
  });

  it('have exactly their uses under many concurrent claims of two openers', async () => {
    const openers = [context.store, await context.other()];
    const { code } = newPromo();
    await context.store.promos.add(newPromo({ code }));
    const uses = Array.from({ length: longer(14, 100) }, (_, at) => ({ code, account: newId('acc'), at: AT + at }));
    const claims = await Promise.all(uses.map((use, at) => (openers[at % 2] as Store).promos.claim(use)));
    const claimed = claims.filter(({ status }) => status === 'claimed');
    expect(claimed).to.have.length(10);
    expect(claims.filter(({ status }) => status === 'used_up')).to.have.length(uses.length - 10);
    expect((await context.store.promos.get(code))?.used).to.equal(10);
    const before = (at: number) => uses[at] as PromoUse;
    const winner = claims.findIndex(({ status }) => status === 'claimed');
    const again = await openers[1]?.promos.claim({ ...before(winner), at: AT + 999 });
    expect(again).to.include({ status: 'known', at: before(winner).at });
  });

  it('give one use to an account that asks many times at once', async () => {
    const { store } = context;
    const promo = newPromo();
    await store.promos.add(promo);
    const use = { code: promo.code, account: newId('acc'), at: AT };
    const claims = await Promise.all(Array.from({ length: 6 }, () => store.promos.claim(use)));
    expect(claims.filter(({ status }) => status === 'claimed')).to.have.length(1);
    expect(claims.filter(({ status }) => status === 'known')).to.have.length(5);
    expect((await store.promos.get(promo.code))?.used).to.equal(1);
    const found: PromoUse[] = [];
    for (let after: PromoUse | undefined; ; ) {
      const page = await store.promos.uses({ limit: 3, ...(after && { after }) });
      found.push(...page);
      after = page.at(-1);
      if (!after) break;
    }
    expect(found.filter(({ code }) => code === promo.code)).to.deep.equal([use]);
  });

  it('are refused when their time is over, they were ended, or there are none', async () => {
    const { store } = context;
    const [timed, ended] = [newPromo({ until: AT + 5 }), newPromo()];
    await store.promos.put({ codes: [timed, ended], uses: [] });
    await store.promos.end(ended.code, AT);
    const status = async (code: string, at: number) =>
      (await store.promos.claim({ code, account: newId('acc'), at })).status;
    expect(await status(timed.code, AT + 4)).to.equal('claimed');
    expect(await status(timed.code, AT + 5)).to.equal('over');
    expect(await status(ended.code, AT)).to.equal('over');
    expect(await status('NONE', AT)).to.equal('none');
  });
}
