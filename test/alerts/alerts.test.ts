// Alerts on both stores, with a real receiver and a real mail server: once, signed, tried again, by one of many.
import { expect } from 'chai';
import pino from 'pino';
import { type Alerts, type AlertsOptions, createAlerts } from '../../lib/alerts/alerts.ts';
import { MINUTE_MS } from '../../lib/base/durations.ts';
import { createFetcher } from '../../lib/media/fetcher.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { findPeriod } from '../../lib/money/period.ts';
import type { AlertSettings } from '../../lib/store/ports/alerts.ts';
import type { Store } from '../../lib/store/store.ts';
import { createMailer, type Mailer } from '../../lib/users/mail.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { answerWith, isSigned, type Receiver, startReceiver } from '../../testkit/webhook.ts';
import {
  AT,
  adjust,
  applied,
  charge,
  newId,
  newWallet,
  RUB,
  rejection,
  topup,
  useStore,
} from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const SECRET = 'whsec_test';

let receiver: Receiver;
let smtp: MailServer;
let mailer: Mailer;
let now = AT;

beforeEach(async () => {
  now = AT;
  receiver = await startReceiver();
  smtp = await startMailServer();
  mailer = createMailer(smtp.url, 'gate@example.com');
});
afterEach(async () => {
  mailer.close();
  await Promise.all([receiver.stop(), smtp.stop()]);
});

function alertsOn(store: Store, more: Partial<AlertsOptions> = {}): Alerts {
  const limits = { postMs: 300, stepMs: 10 };
  const fetcher = createFetcher({ trustedOrigins: new Set([receiver.origin]), limits });
  const publicUrl = () => 'https://gate.example';
  return createAlerts({
    ...{ store, mailer, fetcher: () => fetcher, publicUrl, log: pino({ level: 'silent' }), now: () => now },
    ...more,
  });
}

async function watched(store: Store, more: Partial<AlertSettings> = {}): Promise<string> {
  const account = await newWallet(store, 1000n);
  const webhook = { url: `${receiver.origin}/hook?a=1`, secret: SECRET };
  await store.alerts.change({ account, balanceBelow: 100n * RUB, budgets: true, webhook, version: 0, ...more });
  return account;
}

const postsTo = (account: string) => receiver.posts.filter(({ json }) => json.account === account);
const spend = (store: Store, account: string, rub: number) => applied(store, adjust(account, -BigInt(rub) * RUB));

for (const kind of longer([SQLITE], STORES)) {
  describe(`alerts on ${kind.name}`, () => {
    const context = useStore(kind);

    it('report a low balance once, by a signed webhook and by email, until it recovers', async () => {
      const { store } = context;
      const account = await watched(store);
      const [ann, bob] = [makeUser({ language: 'en' }), makeUser({ language: 'ru' })];
      for (const user of [ann, bob]) {
        await store.users.add(user);
        await store.users.join({ user: user.id, account, role: 'owner' });
      }
      const alerts = alertsOn(store);
      await alerts.checkAll();
      expect(postsTo(account)).to.deep.equal([]);
      await spend(store, account, 950);
      for (let looks = 0; looks < 3; looks += 1) await alerts.checkAll();
      const [post, ...others] = postsTo(account);
      expect(others).to.deep.equal([]);
      expect(post?.path).to.equal('/hook?a=1');
      expect(post?.headers).to.include({ 'content-type': 'application/json', 'user-agent': 'tollgate' });
      const { id, ...event } = post?.json ?? {};
      expect(id).to.match(/^alr_[0-9a-f]{24}$/);
      expect(event).to.deep.equal({
        ...{ type: 'balance.below', created_at: new Date(AT).toISOString(), account },
        data: { threshold: '100.00', balance: '50.00' },
      });
      expect(post && isSigned(post, SECRET, { now: AT })).to.equal(true);
      expect(post && isSigned(post, 'whsec_other', { now: AT })).to.equal(false);
      expect(post && isSigned({ ...post, body: post.body.replace('50.00', '51.00') }, SECRET, { now: AT })).to.equal(
        false,
      );
      expect(smtp.letters.map(({ to }) => to)).to.have.members([ann.email, bob.email]);
      const english = await smtp.letterTo(ann.email);
      expect(english.head).to.contain('Subject: The balance is below 100.00 RUB');
      expect(english.text).to.contain(`https://gate.example/account/wallet?account=${account}`);
      expect((await smtp.letterTo(bob.email)).text).to.contain('50,00\u00a0₽');
      await applied(store, topup(account, 1000n * RUB));
      await alerts.checkAll();
      await spend(store, account, 1000);
      await alerts.checkAll();
      expect(postsTo(account)).to.have.length(2);
      expect(postsTo(account)[1]?.json.id).not.to.equal(id);
    });

    it('report each share of a key’s budget once per period', async () => {
      const { store } = context;
      const account = await watched(store, { balanceBelow: null });
      const quiet = await watched(store, { balanceBelow: null, budgets: false });
      const limits = { ...NO_LIMITS, budget: 10n * RUB, reset: 'day', zone: 'UTC' } as const;
      const spendBy = (wallet: string, amount: bigint) => {
        const budget = { period: findPeriod(now, limits).start, limit: limits.budget };
        return applied(store, charge(wallet, { key: `key_${wallet}`, amount, at: now, budget }));
      };
      for (const wallet of [account, quiet]) {
        const key = { id: `key_${wallet}`, account: wallet, name: 'laptop', hash: newId('hash'), last4: 'abcd' };
        await store.keys.add({ ...key, createdAt: AT, limits }, 10);
        await spendBy(wallet, 7n * RUB);
      }
      const alerts = alertsOn(store);
      const told = () => postsTo(account).map(({ json }) => json.data.percent);
      await alerts.checkAll();
      expect(told()).to.deep.equal([]);
      await spendBy(account, RUB);
      await spendBy(quiet, 3n * RUB);
      for (let looks = 0; looks < 3; looks += 1) await alerts.checkAll();
      const [post] = postsTo(account);
      expect(post?.json).to.deep.include({
        type: 'budget.used',
        data: { key: `key_${account}`, name: 'laptop', percent: '80', budget: '10.00', spent: '8.00' },
      });
      await spendBy(account, 2n * RUB);
      await alerts.checkAll();
      expect(told()).to.deep.equal(['80', '100']);
      now += 24 * 60 * MINUTE_MS;
      await alerts.checkAll();
      await spendBy(account, 10n * RUB);
      await alerts.checkAll();
      expect(told()).to.deep.equal(['80', '100', '100']);
      await store.keys.revoke(`key_${account}`, now);
      now += 24 * 60 * MINUTE_MS;
      await alerts.checkAll();
      expect([told().length, postsTo(quiet).length]).to.deep.equal([3, 0]);
    });

    it('report an event of an account once, even without alert settings', async () => {
      const { store } = context;
      const account = await newWallet(store);
      const user = makeUser({ language: 'en' });
      await store.users.add(user);
      await store.users.join({ user: user.id, account, role: 'owner' });
      const paused = (payment: string) => ({ type: 'topup.paused', data: { amount: '500.00', payment } }) as const;
      const [one, other] = [alertsOn(store), alertsOn(await context.other())];
      await Promise.all([one, other, one].map((alerts) => alerts.queueAlert(account, paused('pay_1'), 'pay_1')));
      expect(smtp.letters).to.deep.equal([]);
      await Promise.all([one.checkAll(), other.checkAll()]);
      await one.queueAlert(account, paused('pay_1'), 'pay_1');
      await one.checkAll();
      const letter = await smtp.letterTo(user.email);
      expect(letter.head).to.contain('Subject: Automatic top-up is paused');
      expect(letter.text).to.contain('top-up of 500.00 RUB for the account');
      expect(smtp.letters.filter(({ to }) => to === user.email)).to.have.length(1);
      await one.queueAlert(account, paused('pay_2'), 'pay_2');
      await one.checkAll();
      expect(smtp.letters.filter(({ to }) => to === user.email)).to.have.length(2);
    });

    it('are sent by one of several concurrent processes', async () => {
      const stores = [context.store, await context.other(), await context.other(2)];
      const accounts = [await watched(context.store), await watched(context.store), await watched(context.store)];
      for (const account of accounts) await spend(context.store, account, 901);
      await Promise.all([...stores, ...stores].map((store) => alertsOn(store).checkAll()));
      for (const account of accounts) expect(postsTo(account)).to.have.length(1);
    });

    it('are retried with growing waits for channels that failed, and then abandoned', async () => {
      const { store } = context;
      const account = await watched(store);
      const user = makeUser();
      await store.users.add(user);
      await store.users.join({ user: user.id, account, role: 'owner' });
      await spend(store, account, 950);
      const alerts = alertsOn(store);
      receiver.answer = answerWith(500);
      const counts: number[] = [];
      for (const minutes of [0, 0.5, 1, 4, 6, 30, 36, 100, 1000]) {
        now = AT + minutes * MINUTE_MS;
        await alerts.checkAll();
        counts.push(postsTo(account).length);
      }
      expect(counts).to.deep.equal([1, 1, 2, 2, 3, 3, 4, 4, 4]);
      expect(new Set(postsTo(account).map(({ json }) => json.id)).size).to.equal(1);
      expect(smtp.letters).to.have.length(1);
      const [delivery] = await alerts.last(account);
      expect(delivery).to.deep.include({ tries: 4, dueAt: null });
      expect(delivery?.arrivals).to.deep.equal({
        [`mail:${user.id}`]: { state: 'sent' },
        webhook: { state: 'failed', why: 'status 500' },
      });
    });

    it('arrive after failures, signed anew', async () => {
      const account = await watched(context.store);
      await spend(context.store, account, 950);
      const alerts = alertsOn(context.store);
      receiver.answer = (response) => void response.socket?.destroy();
      await alerts.checkAll();
      receiver.answer = answerWith(204);
      now = AT + 2 * MINUTE_MS;
      await alerts.checkAll();
      expect(postsTo(account).map((post) => isSigned(post, SECRET, { now, ageMax: 60 }))).to.deep.equal([false, true]);
      expect((await alerts.last(account))[0]?.arrivals).to.deep.equal({ webhook: { state: 'sent' } });
    });

    it('time out at a receiver that hangs, and follow no redirect', async () => {
      const accounts = [await watched(context.store), await watched(context.store)];
      const alerts = alertsOn(context.store);
      const answers = [() => undefined, answerWith(302, { location: `${receiver.origin}/elsewhere` })];
      const whys = ['unreachable', 'status 302'];
      for (const [at, account] of accounts.entries()) {
        await spend(context.store, account, 950);
        receiver.answer = answers[at] as Receiver['answer'];
        const from = performance.now();
        await alerts.checkAll();
        expect(performance.now() - from).to.be.below(10_000);
        expect((await alerts.last(account))[0]?.arrivals.webhook).to.deep.equal({ state: 'due', why: whys[at] });
      }
      expect(receiver.posts.filter(({ path }) => path === '/elsewhere')).to.deep.equal([]);
    });

    it('are delivered by another process if the first one dies', async () => {
      const account = await watched(context.store);
      await spend(context.store, account, 950);
      const dying = alertsOn(context.store, {
        fetcher: () => ({
          post: (_url, { signal }) =>
            new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        }),
      });
      const looked = dying.checkAll().catch(() => undefined);
      while ((await context.store.alerts.alarms(account))[0]?.version !== 2) await new Promise(setImmediate);
      const other = alertsOn(await context.other());
      now = AT + MINUTE_MS;
      await other.checkAll();
      expect(postsTo(account), 'it may be alive').to.deep.equal([]);
      await dying.stop();
      await looked;
      now = AT + 3 * MINUTE_MS;
      await other.checkAll();
      expect(postsTo(account)).to.have.length(1);
      expect((await other.last(account))[0]).to.deep.include({ tries: 2, dueAt: null });
    });

    it('can be a test, sent once whatever the balance', async () => {
      const account = await watched(context.store, { balanceBelow: null });
      const settings = (await context.store.alerts.get(account)) as AlertSettings;
      const alerts = alertsOn(context.store);
      receiver.answer = answerWith(410);
      await alerts.test(settings);
      receiver.answer = answerWith(200);
      await alerts.test(settings);
      expect((await alerts.last(account)).map(({ arrivals }) => arrivals)).to.deep.equal([
        { webhook: { state: 'sent' } },
      ]);
      now = AT + 600 * MINUTE_MS;
      await alerts.checkAll();
      expect(postsTo(account).map(({ json }) => json.type)).to.deep.equal(['test', 'test']);
    });

    it('stop if no channel is left', async () => {
      const { store } = context;
      const account = await watched(store);
      await spend(store, account, 950);
      const alerts = alertsOn(store);
      receiver.answer = answerWith(503);
      await alerts.checkAll();
      const settings = (await store.alerts.get(account)) as AlertSettings;
      await store.alerts.change({ ...settings, balanceBelow: null, webhook: null });
      now = AT + 2 * MINUTE_MS;
      await alerts.checkAll();
      expect(postsTo(account)).to.have.length(1);
      expect((await alerts.last(account))[0]?.arrivals.webhook).to.deep.equal({ state: 'failed', why: 'removed' });
    });
  });
}

describe('alerts', () => {
  let faulty: FaultyStore;
  let account: string;
  beforeEach(async () => {
    faulty = await openFaultyStore();
    account = await watched(faulty.real);
    await spend(faulty.real, account, 950);
  });
  afterEach(() => faulty.close());

  it('are not sent to private addresses', async () => {
    const alerts = alertsOn(faulty.real);
    const urls = [
      'https://127.0.0.1/',
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://localhost/',
      'http://example.com/',
    ];
    for (const url of [...urls, receiver.origin.replace('127.0.0.1', 'localhost')]) {
      const settings = (await faulty.real.alerts.get(account)) as AlertSettings;
      await alerts.test({ ...settings, webhook: { url, secret: SECRET } });
      const [{ arrivals } = { arrivals: {} }] = await alerts.last(account);
      expect(arrivals, url).to.deep.equal({ webhook: { state: 'failed', why: 'unreachable' } });
    }
    expect(receiver.posts).to.deep.equal([]);
  });

  it('that a store refuses or loses are sent by the next check', async () => {
    const alerts = alertsOn(faulty.store);
    for (const call of ['page', 'alarms', 'changeAlarm'] as const) {
      faulty.next(`alerts.${call}`, refuse);
      expect(await rejection(alerts.checkAll()), call).to.be.instanceOf(Error);
      expect(receiver.posts, call).to.deep.equal([]);
    }
    faulty.next('ledger.wallet', refuse);
    expect(await rejection(alerts.checkAll())).to.be.instanceOf(Error);
    faulty.next('alerts.changeAlarm', lose);
    expect(await rejection(alerts.checkAll())).to.be.instanceOf(Error);
    await alerts.checkAll();
    await alerts.checkAll();
    expect(receiver.posts).to.have.length(1);
  });

  it('are sent once more if the store could not record their arrival', async () => {
    const alerts = alertsOn(faulty.store);
    const asEver = (call: () => Promise<unknown>) => call();
    faulty.next('alerts.changeAlarm', asEver, asEver, refuse);
    expect(await rejection(alerts.checkAll())).to.be.instanceOf(Error);
    now = AT + 3 * MINUTE_MS;
    await alerts.checkAll();
    now = AT + 30 * MINUTE_MS;
    await alerts.checkAll();
    const [first, second, ...others] = receiver.posts;
    expect([second?.json.id, others]).to.deep.equal([first?.json.id, []]);
  });

  it('of one account do not wait for another account', async () => {
    const healthy = await watched(faulty.real);
    await spend(faulty.real, healthy, 950);
    faulty.next('alerts.alarms', refuse);
    expect(await rejection(alertsOn(faulty.store).checkAll())).to.be.instanceOf(Error);
    expect(receiver.posts).to.have.length(1);
  });

  it('are retried for owners whose mail failed, and not for removed owners', async () => {
    const [ann, bob] = [makeUser(), makeUser({ status: 'suspended' })];
    for (const user of [ann, bob]) {
      await faulty.real.users.add(user);
      await faulty.real.users.join({ user: user.id, account, role: 'owner' });
    }
    smtp.refuse(ann.email);
    const alerts = alertsOn(faulty.real);
    await alerts.checkAll();
    expect((await alerts.last(account))[0]?.arrivals).to.deep.equal({
      webhook: { state: 'sent' },
      [`mail:${ann.id}`]: { state: 'due', why: 'mail' },
      [`mail:${bob.id}`]: { state: 'failed', why: 'removed' },
    });
    smtp.refuse();
    now = AT + 2 * MINUTE_MS;
    await alerts.checkAll();
    expect(smtp.letters.map(({ to }) => to)).to.deep.equal([ann.email]);
    expect(receiver.posts).to.have.length(1);
  });

  it('wait at most for a claim if a clock ran ahead', async () => {
    const ahead = alertsOn(faulty.real, { now: () => AT + 1000 * MINUTE_MS });
    receiver.answer = answerWith(500);
    await ahead.checkAll();
    receiver.answer = answerWith(200);
    await alertsOn(faulty.real).checkAll();
    expect(receiver.posts).to.have.length(2);
  });

  it('are checked periodically until the stop', async () => {
    const alerts = alertsOn(faulty.real, { everyMs: 10 });
    alerts.start();
    while (receiver.posts.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await alerts.stop();
    const other = await watched(faulty.real);
    await spend(faulty.real, other, 950);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(receiver.posts).to.have.length(1);
  });
});
