// Several things that happen to one account before the next round: each is told, once, however many gateways look.
import { expect } from 'chai';
import pino from 'pino';
import { createAlerts } from '../../lib/alerts/alerts.ts';
import type { Store } from '../../lib/store/store.ts';
import { createMailer, type Mailer } from '../../lib/users/mail.ts';
import { longer } from '../../testkit/long.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { newWallet, useStore } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

for (const kind of longer([SQLITE], STORES)) {
  describe(`alerts of what happens at once on ${kind.name}`, () => {
    const context = useStore(kind);
    let smtp: MailServer;
    let mailer: Mailer;

    before(async () => {
      smtp = await startMailServer();
      mailer = createMailer(smtp.url, 'gate@example.com');
    });
    after(async () => {
      mailer.close();
      await smtp.stop();
    });

    const fetcher = () => ({ post: () => Promise.reject(new Error('nothing is posted')) });
    const alertsOn = (store: Store) =>
      createAlerts({ store, mailer, fetcher, publicUrl: () => 'https://gate.example', log: pino({ level: 'silent' }) });

    it('are sent as separate mails', async () => {
      const { store } = context;
      const account = await newWallet(store);
      const user = makeUser({ language: 'en' });
      await store.users.add(user);
      await store.users.join({ user: user.id, account, role: 'owner' });
      const alerts = alertsOn(store);
      const paid = (payment: string) =>
        alerts.queueAlert(account, { type: 'topup.succeeded', data: { amount: '5.00', payment } }, payment);
      const told = () =>
        smtp.letters.filter(({ to }) => to === user.email).map(({ text }) => /\(payment (\w+)\)/.exec(text)?.[1]);
      for (const id of ['pay_1', 'pay_2', 'pay_3', 'pay_2', 'pay_1']) await paid(id);
      await Promise.all([alerts.checkAll(), alertsOn(await context.other()).checkAll()]);
      expect(told().sort()).to.deep.equal(['pay_1', 'pay_2', 'pay_3']);
      expect((await alerts.last(account)).map(({ event }) => event.data.payment).sort()).to.deep.equal(told().sort());
      await paid('pay_4');
      await alerts.checkAll();
      expect(told()).to.have.length(4);
      expect(await store.alerts.alarms(account)).to.have.length(3);
    });
  });
}
