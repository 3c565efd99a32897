// Alerts of a budget that several keys share, on both stores: one alarm, in the name of the last key issued.
import { expect } from 'chai';
import pino from 'pino';
import { createAlerts } from '../../lib/alerts/alerts.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { findPeriod } from '../../lib/money/period.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { AT, applied, charge, newId, newWallet, RUB, reserve, settle, useStore } from '../contract/store/context.ts';

for (const kind of longer([SQLITE], STORES)) {
  describe(`alerts of a shared budget on ${kind.name}`, () => {
    const context = useStore(kind);

    it('report each share once, and not again for a rotated key', async () => {
      const { store } = context;
      const account = await newWallet(store);
      const wish = { account, balanceBelow: null, budgets: true, webhook: null, version: 0 };
      await store.alerts.change(wish);
      const limits = { ...NO_LIMITS, budget: 10n * RUB, reset: 'day', zone: 'UTC' } as const;
      const old = newId('key');
      const fresh = newId('key');
      await store.keys.add(
        { id: old, account, name: 'laptop', hash: newId('hash'), last4: 'abcd', createdAt: AT, limits },
        10,
      );
      const termsOf = (key: string) => {
        const shared = key === old ? {} : { key: old };
        return { ...shared, period: findPeriod(AT, limits).start, limit: limits.budget };
      };
      const spendBy = (key: string, amount: bigint) =>
        applied(store, charge(account, { key, amount, at: AT, budget: termsOf(key) }));
      const alerts = createAlerts({
        store,
        mailer: undefined,
        publicUrl: () => 'https://gate.example',
        log: pino({ level: 'silent' }),
        fetcher: () => ({ post: () => Promise.reject(new Error('no post')) }),
        now: () => AT,
      });
      const told = async () => {
        for (let looks = 0; looks < 2; looks += 1) await alerts.checkAll();
        const budgets = (await alerts.last(account)).filter(({ event }) => event.type === 'budget.used');
        return budgets.map(({ event: { id, data } }) => ({ id, data: [data.key, data.percent, data.spent] }));
      };
      await spendBy(old, 7n * RUB);
      const chargeId = newId('req');
      const running = { key: old, chargeId, amount: 3n * RUB, budget: termsOf(old) };
      await applied(store, reserve(account, running));
      expect(await told(), 'what a call reserves').to.deep.equal([]);
      await applied(store, settle(account, chargeId));
      const [first, ...none] = await told();
      expect([first?.data, none]).to.deep.equal([[old, '80', '8.00'], []]);
      const next = { id: fresh, hash: newId('hash'), last4: 'abce', createdAt: AT + 1, endsAt: AT + 60_000 };
      expect(await store.keys.replace(old, next, 10)).to.equal('replaced');
      await spendBy(fresh, RUB);
      expect(await told()).to.deep.equal([first]);
      await spendBy(old, RUB);
      expect((await told()).map(({ data }) => data)).to.deep.equal([[fresh, '100', '10.00']]);
    });
  });
}
