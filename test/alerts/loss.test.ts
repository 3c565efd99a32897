// The alert of prices below cost: to operators, by a real mail server, once whoever finds it.
import { expect } from 'chai';
import pino from 'pino';
import { createAlerts } from '../../lib/alerts/alerts.ts';
import { createLossAlert } from '../../lib/alerts/loss.ts';
import { OPERATORS } from '../../lib/alerts/operators.ts';
import type { LossNotice } from '../../lib/catalog/loss.ts';
import type { Store } from '../../lib/store/store.ts';
import { createMailer, type Mailer } from '../../lib/users/mail.ts';
import { until } from '../../testkit/client.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { useStore } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const LOSS: LossNotice = {
  model: 'small',
  upstream: 'one',
  route: 'their-small',
  member: 'input',
  price: 40_000_000n,
  cost: 40_500_000n,
  outcome: 'kept',
};

let smtp: MailServer;
let mailer: Mailer;
let lines: Record<string, unknown>[] = [];
let now = Date.parse('2026-11-26T10:00:00Z');

beforeEach(async () => {
  lines = [];
  now = Date.parse('2026-11-26T10:00:00Z');
  smtp = await startMailServer();
  mailer = createMailer(smtp.url, 'gate@example.com');
});
afterEach(async () => {
  mailer.close();
  await smtp.stop();
});

function open(store: Store) {
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const publicUrl = () => 'https://gate.example';
  const alerts = createAlerts({ store, mailer, fetcher: () => expect.fail('no webhook'), publicUrl, log });
  return { alerts, alertLosses: createLossAlert({ alerts, log, now: () => now }) };
}

const stored = async (store: Store) => (await store.alerts.alarms(OPERATORS)).length;

for (const kind of longer([SQLITE], STORES)) {
  describe(`the alert of prices below cost on ${kind.name}`, () => {
    const context = useStore(kind);

    it('goes to each active operator in their language, once though two processes find it', async () => {
      const { store } = context;
      const [ann, bob] = [makeUser({ language: 'en', operator: true }), makeUser({ language: 'ru', operator: true })];
      const others = [makeUser({ language: 'en' }), makeUser({ operator: true, status: 'suspended' })];
      for (const user of [ann, bob, ...others]) await store.users.add(user);
      const processes = [open(store), open(store)];
      const vision = { ...LOSS, model: 'blind', vision: 'eye', member: 'output' };
      const listed = { ...LOSS, list: 'partner', price: 36_000_000n };
      const raised: LossNotice = { ...LOSS, model: 'raised', outcome: 'raised' };
      for (const { alertLosses } of processes) alertLosses([LOSS, LOSS, vision, listed, raised]);
      await until(async () => (await stored(store)) === 1);
      for (const { alerts } of processes) await alerts.checkAll();
      expect(smtp.letters.map(({ to }) => to).sort()).to.deep.equal([ann.email, bob.email].sort());
      const english = await smtp.letterTo(ann.email);
      expect(english.head).to.contain('Subject: Models are sold below cost');
      const [small, blind] = ['small: input 40.00 < 40.50 RUB (one: their-small)', 'blind: output 40.00 < 40.50'];
      expect(english.text).to.contain(small).and.to.contain(`${blind} RUB (one: their-small, eye)`);
      expect(english.text).to.contain('small [partner]: input 36.00 < 40.50 RUB (one: their-small)');
      expect(english.text).to.contain('https://gate.example/admin/catalog').and.not.to.contain('raised:');
      expect(english.text.split(small)).to.have.length(2);
      expect((await smtp.letterTo(bob.email)).text)
        .to.contain('ниже себестоимости')
        .and.to.contain(small);
      expect(lines.filter(({ alert }) => alert === 'loss')[0]).to.deep.include({ models: ['small', 'blind'] });

      // The same again says nothing new; another cost does.
      processes[0]?.alertLosses([listed, vision, LOSS]);
      await processes[0]?.alerts.checkAll();
      expect(smtp.letters).to.have.length(2);
      processes[0]?.alertLosses([{ ...LOSS, cost: 41_000_000n }]);
      await until(async () => {
        await processes[0]?.alerts.checkAll();
        return smtp.letters.length === 4;
      });
      now = Date.parse('2026-11-27T10:00:00Z');
      processes[0]?.alertLosses([{ ...LOSS, cost: 41_000_000n }]);
      await until(async () => {
        await processes[0]?.alerts.checkAll();
        return smtp.letters.length === 6;
      });
    });
  });
}

describe('the alert of prices below cost', () => {
  let faulty: FaultyStore;
  beforeEach(async () => {
    faulty = await openFaultyStore();
  });
  afterEach(() => faulty.close());

  it('is not stored for none, and for prices that were raised', async () => {
    const { alertLosses } = open(faulty.store);
    alertLosses([]);
    alertLosses([{ ...LOSS, outcome: 'raised' }]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([await stored(faulty.real), lines]).to.deep.equal([0, []]);
  });

  it('is a line in the log if the store does not answer', async () => {
    faulty.next('alerts.get', refuse);
    open(faulty.store).alertLosses([LOSS]);
    await until(() => lines.some(({ msg }) => msg === 'the alert about prices below cost was not stored'));
    expect(lines.some(({ alert }) => alert === 'loss')).to.equal(true);
  });
});
