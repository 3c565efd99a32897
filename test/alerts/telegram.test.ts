// Alerts in Telegram, on a server that speaks its Bot API: chats linked once, by one of many gateways; alerts escaped, in
// the person's language, when Telegram wants them; chats that blocked the bot.
import { expect } from 'chai';
import pino from 'pino';
import { type AlertsOptions, createAlerts } from '../../lib/alerts/alerts.ts';
import { OPERATORS } from '../../lib/alerts/operators.ts';
import { createTelegramBot, TelegramFailure } from '../../lib/alerts/telegram-bot.ts';
import { createTelegramChats } from '../../lib/alerts/telegram-chats.ts';
import type { User } from '../../lib/store/ports/users.ts';
import type { Store } from '../../lib/store/store.ts';
import { createMailer, type Mailer } from '../../lib/users/mail.ts';
import { createPeople } from '../../lib/users/people.ts';
import { until } from '../../testkit/client.ts';
import { longer } from '../../testkit/long.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { BOT_TOKEN, startTelegram, type TelegramServer } from '../../testkit/telegram.ts';
import { AT, newWallet, useStore } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const log = pino({ level: 'silent' });
const publicUrl = () => 'https://gate.example';
const fetcher = () => ({ post: () => Promise.reject(new Error('nothing is posted')) });

for (const kind of longer([SQLITE], STORES)) {
  describe(`alerts in Telegram on ${kind.name}`, () => {
    const context = useStore(kind);
    let telegram: TelegramServer;
    let smtp: MailServer;
    let mailer: Mailer;
    let now = AT;

    before(async () => {
      [telegram, smtp] = await Promise.all([startTelegram(), startMailServer()]);
      mailer = createMailer(smtp.url, 'gate@example.com');
    });
    after(async () => {
      mailer.close();
      await Promise.all([telegram.stop(), smtp.stop()]);
    });
    beforeEach(() => {
      now = AT;
    });

    const openBot = () => createTelegramBot({ token: BOT_TOKEN, api: telegram.url, now: () => now });
    const openChats = (store: Store, ownerId: string, more: { now?: () => number; leaseMs?: number } = {}) => {
      const people = createPeople({ store });
      const pace = { waitS: 0.2, leaseMs: 2000, ...more };
      return createTelegramChats({ store, people, bot: openBot(), publicUrl, ownerId, log, ...pace });
    };
    const openAlerts = (store: Store, more: Partial<AlertsOptions> = {}) =>
      createAlerts({ store, mailer, telegram: openBot(), fetcher, publicUrl, log, now: () => now, ...more });
    const textsTo = (chat: string | number) =>
      telegram.sent.filter((message) => message.chat === `${chat}`).map(({ text }) => text);

    let chats = 5000;
    async function addOwner(fields: Partial<User> = {}) {
      const account = await newWallet(context.store);
      const chat = ++chats;
      const user = makeUser({ language: 'en', telegram: { id: `${chat}`, name: 'Anna (@anna)' }, ...fields });
      await context.store.users.add(user);
      await context.store.users.join({ user: user.id, account, role: 'owner' });
      return { account, user, chat };
    }

    it('go to the chat that sends a one-time code, which opens nothing else, whichever gateway listens', async () => {
      const { store } = context;
      const people = createPeople({ store });
      const user = makeUser({ language: 'ru' });
      await store.users.add(user);
      const token = await people.makeLink({ purpose: 'telegram', user: user.id });
      expect([await people.peekLink(token), await people.useLink(token)]).to.deep.equal([undefined, undefined]);
      const reset = await people.makeLink({ purpose: 'reset', user: user.id, email: user.email });
      const [one, other] = [openChats(store, 'own_1'), openChats(await context.other(), 'own_2')];
      try {
        one.start();
        telegram.write(801, `/start ${reset}`);
        telegram.write(801, `/start ${token}`);
        await until(() => textsTo(801).length === 2);
        other.start();
        telegram.write(802, token);
        telegram.write(802, '/help');
        telegram.write(802, 'thank you');
        await until(() => textsTo(802).length === 2);
        await one.stop();
        telegram.write(803, '/start', { language_code: 'ru' });
        await until(() => textsTo(803).length === 1);
      } finally {
        await Promise.all([one.stop(), other.stop()]);
      }
      expect(textsTo(801)[0]).to.contain('unknown, used or expired');
      expect(textsTo(801)[1]).to.contain(`<b>${user.email}</b>`).and.contain('Готово');
      expect(textsTo(802)[0]).to.contain('unknown, used or expired');
      expect(textsTo(802)[1]).to.contain('https://gate.example/account/settings/alerts');
      expect(textsTo(803)[0]).to.contain('только присылает оповещения');
      expect((await store.users.get(user.id))?.telegram).to.deep.equal({ id: '801', name: 'Anna (@anna)' });
      expect((await people.peekLink(reset))?.purpose).to.equal('reset');
      const [row] = (await store.auditLog.page({ limit: 5 })).filter(({ target }) => target === user.id);
      expect(row).to.include({ action: 'telegram.link', user: user.id, detail: '{"chat":"Anna (@anna)"}' });
    });

    it('are not made to wait by people who flood the bot, nor are those who send a code', async () => {
      const { store } = context;
      const people = createPeople({ store });
      const user = makeUser({ language: 'en' });
      await store.users.add(user);
      const token = await people.makeLink({ purpose: 'telegram', user: user.id });
      const before = telegram.asked.sendMessage ?? 0;
      const chats = openChats(store, 'own_flood');
      for (let turn = 0; turn < 20; turn += 1) telegram.write(841, turn % 2 ? '/help' : 'A'.repeat(43));
      for (let chat = 850; chat < 890; chat += 1) telegram.write(chat, '/start');
      telegram.write(841, token);
      try {
        chats.start();
        await until(() => textsTo(841).some((text) => text.includes(user.email)));
      } finally {
        await chats.stop();
      }
      expect(textsTo(841)).to.have.length(4);
      expect((telegram.asked.sendMessage ?? 0) - before).to.equal(21);
    });

    it('are answered again ten seconds later, and leave the bot to the next gateway at once', async () => {
      const { store } = context;
      let aheadMs = 0;
      // The lease outlives the jump of the clock, or there would be none to give back.
      const chats = openChats(store, 'own_crowd', { now: () => Date.now() + aheadMs, leaseMs: 60_000 });
      chats.start();
      try {
        for (let turn = 0; turn < 4; turn += 1) telegram.write(895, '/help');
        // Messages are read in their order: once this one is answered, the fourth was passed over.
        telegram.write(896, '/help');
        await until(() => textsTo(896).length === 1);
        expect(textsTo(895)).to.have.length(3);
        aheadMs = 10_000;
        telegram.write(895, '/help');
        await until(() => textsTo(895).length === 4);
      } finally {
        await chats.stop();
      }
      const [lease] = await store.alerts.alarms('telegram');
      expect(JSON.parse(lease?.state ?? '{}')).to.deep.equal({ owner: '', until: 0 });
    });

    it('are escaped, in the language of each person, and not sent to people who have left', async () => {
      const { store } = context;
      const { account, chat } = await addOwner();
      const [russian, gone] = [
        makeUser({ telegram: { id: '811', name: '' } }),
        makeUser({ telegram: { id: '812', name: '' } }),
      ];
      for (const user of [russian, gone]) {
        await store.users.add(user);
        await store.users.join({ user: user.id, account, role: 'owner' });
      }
      const alerts = openAlerts(store, { mailer: undefined });
      const data = { key: 'key_1', name: '<b>R&D', percent: '80', budget: '10.00', spent: '8.00' };
      await alerts.queueAlert(account, { type: 'budget.used', data }, 'one');
      await store.users.leave({ user: gone.id, account, at: AT });
      await alerts.checkAll();
      expect(textsTo(chat)).to.have.length(1);
      expect(textsTo(chat)[0]).to.contain('<b>The key “&lt;b&gt;R&amp;D” has used 80% of its budget</b>');
      expect(textsTo(chat)[0]).to.contain(`https://gate.example/account/wallet?account=${account}`);
      expect(textsTo(811)[0]).to.contain('<b>Ключ «&lt;b&gt;R&amp;D» израсходовал');
      expect(textsTo(812)).to.deep.equal([]);
    });

    it('wait as long as Telegram asks, and are then sent once', async () => {
      const { store } = context;
      const { account, user, chat } = await addOwner();
      const alerts = openAlerts(store, { mailer: undefined });
      telegram.throttle(2);
      await alerts.queueAlert(account, { type: 'card.saved', data: { card: 'Visa' } }, 'one');
      await alerts.checkAll();
      const asked = telegram.asked.sendMessage;
      const [delivery] = await alerts.last(account);
      const arrival = delivery?.arrivals[`telegram:${user.id}`];
      expect(arrival).to.deep.include({ state: 'due', why: 'status 429' });
      expect(arrival?.notBefore).to.be.within(now + 1000, now + 2000);
      // Nor is another alert sent meanwhile.
      await alerts.test({ account, balanceBelow: null, budgets: true, webhook: null, version: 1 });
      expect(telegram.asked.sendMessage).to.equal(asked);
      telegram.throttle(0);
      now += 61_000;
      for (let rounds = 0; rounds < 2; rounds += 1) await alerts.checkAll();
      expect(textsTo(chat).filter((text) => text.includes('Visa'))).to.have.length(1);
    });

    it('end where the bot was blocked: the person is told by email, and the chat unlinked', async () => {
      const { store } = context;
      const { account, user, chat } = await addOwner();
      telegram.block(chat);
      const alerts = openAlerts(store);
      await alerts.queueAlert(account, { type: 'card.saved', data: { card: 'Visa' } }, 'one');
      // Nobody is unlinked without a word.
      smtp.refuse(user.email);
      await alerts.checkAll();
      expect((await store.users.get(user.id))?.telegram?.id).to.equal(`${chat}`);
      smtp.refuse();
      now += 61_000;
      await alerts.checkAll();
      const letters = smtp.letters.filter(({ to }) => to === user.email);
      expect(letters.map(({ head }) => /Subject: (.*)/.exec(head)?.[1]?.trim()).sort()).to.deep.equal([
        'A card was saved: Visa',
        'No more alerts in Telegram',
      ]);
      expect(letters.find(({ text }) => text.includes('Telegram'))?.text)
        .to.contain('Anna (@anna)')
        .and.to.contain('https://gate.example/account/settings/alerts');
      expect(await store.users.get(user.id)).not.to.have.property('telegram');
      const [delivery] = await alerts.last(account);
      expect(delivery?.arrivals[`telegram:${user.id}`]).to.deep.equal({ state: 'failed', why: 'blocked' });
      expect(delivery?.dueAt).to.equal(null);
    });

    it('reach operators too', async () => {
      const { store } = context;
      await store.users.add(makeUser({ operator: true, language: 'en', telegram: { id: '821', name: '' } }));
      const full = { subject: 'disk.low:a', decide: () => ({ kind: 'alert', mark: {}, content }) as const };
      const content = { type: 'disk.low', data: { folder: '/data', host: 'a', free: '0.1' } } as const;
      const alerts = openAlerts(store, { mailer: undefined, serviceWatches: async () => [full] });
      await alerts.checkAll();
      expect(textsTo(821)[0]).to.contain('<b>Low disk space: 0.1 GB left</b>').and.contain('/admin');
      expect((await alerts.last(OPERATORS))[0]?.event.type).to.equal('disk.low');
    });
  });
}

describe('the client of Telegram', () => {
  it('never quotes the token when Telegram refuses it or cannot be reached', async () => {
    const telegram = await startTelegram();
    const wrong = '999999:AAE-abcdefghijklmnopqrstuvwxyz_99999';
    const { signal } = new AbortController();
    const fail = (api: string) =>
      createTelegramBot({ token: wrong, api })
        .readName(signal)
        .then(
          () => expect.fail('it was taken'),
          (error: unknown) => error as TelegramFailure,
        );
    const refused = await fail(telegram.url);
    await telegram.stop();
    const unreachable = await fail(telegram.url);
    for (const error of [refused, unreachable]) {
      expect(error).to.be.instanceOf(TelegramFailure);
      expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.to.contain('AAE-');
    }
    expect([refused.status, unreachable.status]).to.deep.equal([401, undefined]);
  });
});
