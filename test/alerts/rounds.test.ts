// Rounds of alerts that meet something: a stop, another process, a newer alert, a key that has ended.
import { expect } from 'chai';
import { createAlerts } from '../../lib/alerts/alerts.ts';
import { MINUTE_MS } from '../../lib/base/durations.ts';
import type { Fetcher } from '../../lib/media/fetcher.ts';
import { type KeyLimits, NO_LIMITS } from '../../lib/money/key-limits.ts';
import { findPeriod } from '../../lib/money/period.ts';
import type { AlertStore } from '../../lib/store/ports/alerts.ts';
import { until } from '../../testkit/client.ts';
import { SQLITE } from '../../testkit/stores.ts';
import { AT, adjust, applied, charge, newId, newWallet, RUB, topup, useStore } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const HOOK = { url: 'https://hook.example/', secret: 'whsec_test' };

type Post = Fetcher['post'];

describe('rounds of alerts', () => {
  const context = useStore(SQLITE);
  let now = AT;
  let warned = 0;
  beforeEach(() => {
    now = AT;
    warned = 0;
  });

  function warn(): void {
    warned += 1;
  }

  const accept: Post = async () => undefined;
  const refuse: Post = () => Promise.reject(new Error('no'));

  /** A process, with some of the store's methods of alerts replaced. */
  function processThat(post: Post, replaced: Partial<AlertStore> = {}, everyMs = 60_000, store = context.store) {
    return createAlerts({
      store: { ...store, alerts: { ...store.alerts, ...replaced } },
      mailer: undefined,
      now: () => now,
      everyMs,
      fetcher: () => ({ post }),
      publicUrl: () => 'https://gate.example',
      log: { warn },
    });
  }

  /** Post whose end the test decides. */
  function held() {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const post: Post = () => {
      begun.resolve();
      return end.promise;
    };
    return { post, begun: begun.promise, end };
  }

  async function watched(balance = 50n): Promise<string> {
    const account = await newWallet(context.store);
    if (balance !== 1000n) await applied(context.store, adjust(account, (balance - 1000n) * RUB));
    await context.store.alerts.change({
      account,
      balanceBelow: 100n * RUB,
      budgets: true,
      webhook: HOOK,
      version: 0,
    });
    return account;
  }

  const topups = (id: string) => ({ type: 'topup.declined' as const, data: { amount: '5.00', payment: id } });

  it('send no mail to a user who has left the account since', async () => {
    const account = await watched();
    const user = makeUser();
    await context.store.users.add(user);
    await context.store.users.join({ user: user.id, account, role: 'owner' });
    let letters = 0;
    const send = async () => {
      letters += 1;
      throw new Error('no');
    };
    const alerts = createAlerts({
      store: context.store,
      mailer: { send },
      now: () => now,
      log: { warn },
      fetcher: () => ({ post: accept }),
      publicUrl: () => 'https://gate.example',
    });
    const arrival = async () => (await alerts.last(account))[0]?.arrivals[`mail:${user.id}`];
    await alerts.checkAll();
    expect([letters, await arrival()]).to.deep.equal([1, { state: 'due', why: 'mail' }]);
    await context.store.users.leave({ user: user.id, account, at: AT, isForced: true });
    now += 10 * MINUTE_MS;
    await alerts.checkAll();
    expect([letters, await arrival()]).to.deep.equal([1, { state: 'failed', why: 'removed' }]);
  });

  it('check every account once', async () => {
    const accounts: string[] = [];
    for (let index = 0; index < 5; index += 1) accounts.push(await watched());
    const visited: string[] = [];
    const { alerts } = context.store;
    await processThat(accept, {
      alarms(account) {
        if (!visited.includes(account)) visited.push(account);
        else if (accounts.includes(account)) visited.push(`${account} again`);
        return alerts.alarms(account);
      },
    }).checkAll();
    // Once to decide, once to note that the alert has arrived.
    for (const account of accounts) {
      expect(visited.filter((name) => name.startsWith(account))).to.deep.equal([account, `${account} again`]);
    }
  });

  it('end at a stop in the middle of a page, without a warning', async () => {
    for (let index = 0; index < 20; index += 1) await watched();
    const begun = Promise.withResolvers<void>();
    let posts = 0;
    const waits: Post = (_url, { signal }) => {
      posts += 1;
      if (posts === 16) begun.resolve();
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    };
    const alerts = processThat(waits, {}, 1);
    alerts.start();
    await begun.promise;
    await alerts.stop();
    expect([posts, warned]).to.deep.equal([16, 0]);
    const untouched = [];
    for (const { account } of await context.store.alerts.page({ after: '', limit: 100 })) {
      if ((await context.store.alerts.alarms(account)).length === 0) untouched.push(account);
    }
    expect(untouched).to.have.length(4);
  });

  it('continue after failed ones, with a warning for each', async () => {
    const account = await watched();
    const { alerts: rows } = context.store;
    let failures = 2;
    const page: AlertStore['page'] = async (query) => {
      if (failures === 0) return rows.page(query);
      failures -= 1;
      throw new Error('gone');
    };
    const alerts = processThat(accept, { page }, 1);
    alerts.start();
    await until(async () => (await alerts.last(account)).length === 1);
    await alerts.stop();
    expect([failures, warned]).to.deep.equal([0, 2]);
  });

  it('read the sums of budgets only if a key has a budget', async () => {
    const { store } = context;
    let asked = 0;
    const budgets: typeof store.ledger.budgets = (keys) => {
      asked += 1;
      return store.ledger.budgets(keys);
    };
    const account = await watched();
    const rows = async () =>
      (await store.alerts.page({ after: '', limit: 100 })).filter((row) => row.account === account);
    const page: AlertStore['page'] = async ({ after }) => (after === '' ? rows() : []);
    const look = () =>
      processThat(accept, { page }, 60_000, { ...store, ledger: { ...store.ledger, budgets } }).checkAll();
    await look();
    expect(asked).to.equal(0);
    const key = { id: newId('key'), account, name: 'laptop', hash: newId('hash'), last4: 'abcd', createdAt: AT - 2 };
    await store.keys.add({ ...key, limits: { ...NO_LIMITS, budget: 10n * RUB, reset: 'day', zone: 'UTC' } }, 10);
    await look();
    expect(asked).to.equal(1);
  });

  it('skip revoked and expired keys', async () => {
    const { store } = context;
    const account = await watched(1000n);
    const spent = async (more: Partial<KeyLimits>) => {
      const limits = { ...NO_LIMITS, budget: 10n * RUB, reset: 'day', zone: 'UTC', ...more } as const;
      const key = { id: newId('key'), account, name: 'laptop', hash: newId('hash'), last4: 'abcd' };
      await store.keys.add({ ...key, createdAt: AT - 2, limits }, 10);
      const budget = { period: findPeriod(AT, limits).start, limit: limits.budget };
      await applied(store, charge(account, { key: key.id, amount: 9n * RUB, at: AT, budget }));
      return key.id;
    };
    await spent({ expiresAt: AT - 1 });
    await store.keys.revoke(await spent({}), AT);
    const alerts = processThat(accept);
    await alerts.checkAll();
    expect(await alerts.last(account)).to.deep.equal([]);
    const valid = await spent({});
    await alerts.checkAll();
    expect((await alerts.last(account)).map(({ event }) => event.data.key)).to.deep.equal([valid]);
  });

  it('still show and deliver an alert whose reason is gone', async () => {
    const account = await watched();
    await processThat(refuse).checkAll();
    await applied(context.store, topup(account, 1000n * RUB));
    const alerts = processThat(accept);
    await alerts.checkAll();
    expect((await alerts.last(account)).map(({ event }) => event.data.balance)).to.deep.equal(['50.00']);
    now = AT + 2 * MINUTE_MS;
    await alerts.checkAll();
    expect((await alerts.last(account))[0]?.arrivals).to.deep.equal({ webhook: { state: 'sent' } });
    await applied(context.store, adjust(account, -1000n * RUB));
    await alerts.checkAll();
    expect((await alerts.last(account)).map(({ tries }) => tries)).to.deep.equal([1]);
  });

  it('leave an attempt to the process that claimed it', async () => {
    const account = await watched();
    await processThat(refuse).checkAll();
    const before = await context.store.alerts.alarms(account);
    now = AT + 2 * MINUTE_MS;
    await processThat(accept).checkAll();
    let posts = 0;
    const count: Post = async () => {
      posts += 1;
    };
    const late = processThat(count, { alarms: async () => before });
    await late.checkAll();
    expect(posts).to.equal(0);
  });

  it('do not record an attempt over a newer alert', async () => {
    const account = await watched(1000n);
    const slow = held();
    const other = processThat(refuse);
    const first = processThat(slow.post);
    await first.queueAlert(account, topups('pay_1'), 'pay_1');
    const round = first.checkAll();
    await slow.begun;
    await other.queueAlert(account, topups('pay_2'), 'pay_2');
    await other.checkAll();
    slow.end.resolve();
    await round;
    const shown = (await other.last(account)).map(({ event, arrivals }) => [
      event.data.payment,
      arrivals.webhook?.state,
    ]);
    expect(shown.sort()).to.deep.equal([
      ['pay_1', 'sent'],
      ['pay_2', 'due'],
    ]);
  });

  it('do not record an attempt that another process has repeated', async () => {
    const account = await watched();
    const slow = held();
    const round = processThat(slow.post).checkAll();
    await slow.begun;
    now = AT + 3 * MINUTE_MS;
    const other = processThat(accept);
    await other.checkAll();
    slow.end.reject(new Error('no'));
    await round;
    const [shown] = await other.last(account);
    expect([shown?.tries, shown?.arrivals, shown?.dueAt]).to.deep.equal([2, { webhook: { state: 'sent' } }, null]);
  });

  it('begin at least half of the average pause after the one before', async () => {
    const everyMs = 100;
    const begun = [performance.now()];
    const page: AlertStore['page'] = async (query) => {
      if (query.after === '') begun.push(performance.now());
      return context.store.alerts.page(query);
    };
    const alerts = processThat(accept, { page }, everyMs);
    alerts.start();
    await until(() => begun.length > 3);
    await alerts.stop();
    for (const [at, time] of begun.slice(1).entries()) expect(time - (begun[at] ?? 0)).to.be.least(everyMs / 2 - 1);
  });

  it('do not retry a failed test', async () => {
    const account = await watched(1000n);
    const settings = await context.store.alerts.get(account);
    const alerts = processThat(refuse);
    if (settings) await alerts.test(settings);
    const [shown] = await alerts.last(account);
    expect([shown?.arrivals.webhook?.state, shown?.dueAt]).to.deep.equal(['failed', null]);
  });

  it('are shown newest first', async () => {
    const account = await watched();
    const alerts = processThat(accept);
    await alerts.checkAll();
    now = AT + MINUTE_MS;
    await alerts.queueAlert(account, topups('pay_1'), 'pay_1');
    expect((await alerts.last(account)).map(({ event }) => event.type)).to.deep.equal([
      ...['topup.declined', 'balance.below'],
    ]);
  });
});
