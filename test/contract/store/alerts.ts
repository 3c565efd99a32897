// What owners want to be told of, and alarms that one of many processes moves on.
import { expect } from 'chai';
import type { Alarm, AlertSettings } from '../../../lib/store/ports/alerts.ts';
import { newId, RUB, type StoreContext } from './context.ts';

export function alertContract(context: StoreContext): void {
  const wishes = (more: Partial<AlertSettings> = {}): AlertSettings => ({
    account: newId('acc'),
    balanceBelow: 100n * RUB,
    budgets: true,
    version: 0,
    webhook: { url: 'https://example.com/?a=ж', secret: 'whsec_1' },
    ...more,
  });
  const alarm = (account: string, more: Partial<Alarm> = {}): Alarm => ({
    account,
    subject: 'balance',
    state: '{"a":"ж"}',
    version: 0,
    ...more,
  });

  it('keeps the settings of an account unchanged', async () => {
    const { alerts } = context.store;
    const full = wishes();
    const none = wishes({ balanceBelow: null, budgets: false, webhook: null });
    const most = wishes({ balanceBelow: 9_007_199_254_740_993n });
    for (const settings of [full, none, most]) {
      expect(await alerts.get(settings.account)).to.equal(undefined);
      expect(await alerts.change(settings)).to.equal(true);
      expect(await alerts.get(settings.account)).to.deep.equal({ ...settings, version: 1 });
    }
  });

  it('changes only the version that was read, even concurrently', async () => {
    const { alerts } = context.store;
    const first = wishes();
    const others = [context.store, await context.other()];
    for (const version of [0, 1]) {
      const sums = [1n, 2n, 3n, 4n].map((rub) => rub * RUB);
      const changes = sums.map((balanceBelow, at) =>
        (others[at % 2] ?? context.store).alerts.change({ ...first, balanceBelow, version }),
      );
      const outcomes = await Promise.all(changes);
      expect(outcomes.filter(Boolean)).to.have.length(1);
      const balanceBelow = sums[outcomes.indexOf(true)];
      expect(await alerts.get(first.account)).to.deep.equal({ ...first, balanceBelow, version: version + 1 });
    }
    expect(await alerts.change(wishes({ version: 3 })), 'there is none').to.equal(false);
  });

  it('lists all settings in order of account', async () => {
    const { alerts } = context.store;
    const made = [wishes(), wishes(), wishes()];
    for (const settings of made) await alerts.change(settings);
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const page = await alerts.page({ after, limit: 2 });
      expect(page.length).to.be.at.most(2);
      ids.push(...page.map(({ account }) => account));
      const last = page.at(-1);
      if (!last) break;
      after = last.account;
    }
    expect(ids)
      .to.deep.equal([...ids].sort())
      .and.to.include.members(made.map(({ account }) => account));
  });

  it('lets one of many advance an alarm', async () => {
    const second = await context.other();
    const account = newId('acc');
    for (const version of [0, 1, 2]) {
      const moves = [0, 1, 2, 3].map((by) =>
        (by % 2 === 0 ? context.store : second).alerts.changeAlarm(alarm(account, { state: `${by}`, version })),
      );
      const outcomes = await Promise.all(moves);
      expect(outcomes.filter(Boolean)).to.have.length(1);
      const expected = alarm(account, { state: `${outcomes.indexOf(true)}`, version: version + 1 });
      expect(await second.alerts.alarms(account)).to.deep.equal([expected]);
    }
  });

  it('lists the alarms of one account, in order of subject', async () => {
    const { alerts } = context.store;
    const account = newId('acc');
    const other = newId('acc');
    for (const subject of ['budget:key_2', 'balance', 'budget:key_1'])
      await alerts.changeAlarm(alarm(account, { subject }));
    await alerts.changeAlarm(alarm(other));
    const subjects = (await alerts.alarms(account)).map(({ subject }) => subject);
    expect(subjects).to.deep.equal(['balance', 'budget:key_1', 'budget:key_2']);
    expect(await alerts.alarms(newId('acc'))).to.deep.equal([]);
  });

  it('copies the rows of another store unchanged, any number of times', async () => {
    const { alerts } = context.store;
    const settings = wishes({ version: 7 });
    const list = [alarm(settings.account, { version: 4 }), alarm(settings.account, { subject: 'x', version: 2 })];
    await alerts.put({ ...settings, balanceBelow: null, version: 6 }, []);
    for (let times = 0; times < 2; times += 1) await alerts.put(settings, list);
    expect(await alerts.get(settings.account)).to.deep.equal(settings);
    expect(await alerts.alarms(settings.account)).to.deep.equal(list);
  });
}
