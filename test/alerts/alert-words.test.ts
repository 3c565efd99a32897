// What owners and operators read in the mail and the chat of each alert, as it is recorded.
import { expect } from 'chai';
import { buildAlertChat, buildAlertMail } from '../../lib/alerts/alert-messages.ts';
import { OPERATORS } from '../../lib/alerts/operators.ts';
import { MESSAGE_LENGTH_MAX } from '../../lib/alerts/telegram-bot.ts';
import { chooseTelegramLanguage, TELEGRAM_WORDS } from '../../lib/alerts/telegram-words.ts';
import type { AlertContent } from '../../lib/alerts/watch.ts';
import { LANGUAGES } from '../../lib/console/language.ts';
import { expectRecorded } from '../../testkit/recorded.ts';
import { makeUser } from '../contract/store/people.ts';

const PAID = { amount: '1500.50', payment: 'pay_1' };
const KEYS = { upstream: 'openai', keys: '3', refused: '2' };
const DATA: Readonly<Record<AlertContent['type'], AlertContent['data']>> = {
  'balance.below': { threshold: '500.00', balance: '99.50' },
  'budget.used': { name: 'CI', percent: '80', spent: '80.50', budget: '100.00' },
  'topup.succeeded': PAID,
  'topup.declined': PAID,
  'topup.paused': PAID,
  'card.saved': { card: 'Visa •••• 4242' },
  'card.removed': { card: 'Visa •••• 4242' },
  'price.below_cost': { lines: 'gpt-x: output 10.50 below 12.00' },
  'upstream.key_refused': KEYS,
  'upstream.no_money': KEYS,
  'upstream.failing': { upstream: 'openai', models: 'gpt-x, gpt-y', minutes: '12', kind: 'timeout' },
  'ledger.wrong': { problems: '2', drift: '0.01' },
  'disk.low': { folder: '/var/lib/tollgate', host: 'gate-1', free: '1.5' },
  'payments.review': { count: '3', newest: 'pay_2' },
  test: {},
};
const to = { accountName: 'Lamp & Co', publicUrl: 'https://gate.example.com' };
const makeEvent = (type: AlertContent['type'], account: string, data = DATA[type]) => {
  return { type, data, id: 'alr_1', account, at: 0 };
};

describe('the words of alerts', () => {
  for (const language of LANGUAGES) {
    it(`are those that are recorded (${language})`, () => {
      const user = makeUser({ language });
      const letters = Object.keys(DATA).flatMap((name) =>
        ['acc_1', OPERATORS].map((account) => {
          const event = makeEvent(name as AlertContent['type'], account);
          const toWhom = { user, ...to, accountName: account === OPERATORS ? '' : to.accountName };
          const { subject, text } = buildAlertMail(event, toWhom);
          const [title] = buildAlertChat(event, toWhom).split('\n');
          return `===== ${name} ${account}\n${subject}\n${title}\n${text.trim().replaceAll('\n\n', '\n')}`;
        }),
      );
      const { linked, unknown, help, endedSubject, ended } = TELEGRAM_WORDS[language];
      const ofBot = [linked('a@b.example'), unknown, help(to.publicUrl), endedSubject, ended('@lamp', to.publicUrl)];
      const texts = [...letters, ...ofBot.map((text) => text.trim().replaceAll('\n\n', '\n'))];
      expectRecorded(new URL(`alert-words-${language}.txt`, import.meta.url), texts);
    });
  }

  it('say where the reason of a pause without a payment is', () => {
    const paused = makeEvent('topup.paused', 'acc_1', { amount: '500.00' });
    const write = (language: 'en' | 'ru') => buildAlertMail(paused, { user: makeUser({ language }), ...to }).text;
    expect(write('en')).to.contain('(500.00 RUB) is paused; the wallet page says why');
    expect(write('ru')).to.contain('на 500,00\u00a0₽ приостановлено, причина — на странице кошелька');
  });

  it('count a long outage in hours, and write a balance below zero with a minus sign', () => {
    const outage = makeEvent('upstream.failing', OPERATORS, { minutes: '1505' });
    const debt = makeEvent('balance.below', 'acc_1', { threshold: '500.00', balance: '-12345.60' });
    const write = (event: typeof outage, language: 'en' | 'ru') =>
      buildAlertMail(event, { user: makeUser({ language }), ...to }).text;
    expect(write(outage, 'en')).to.contain('have failed for 25 hours:');
    expect(write(outage, 'ru')).to.contain('ошибкой уже 25\u00a0ч:');
    expect(write(debt, 'en')).to.contain('is \u221212,345.60 RUB');
    expect(write(debt, 'ru')).to.contain('\u221212\u00a0345,60\u00a0₽');
  });

  it('are cut in a chat where its messages end, and stay well-formed', () => {
    const toWhom = { user: makeUser({ language: 'en' }), ...to };
    const writing = (lines: string) => makeEvent('price.below_cost', OPERATORS, { lines });
    const write = (lines: string) => buildAlertChat(writing(lines), toWhom);
    const [text = ''] = buildAlertMail(writing(''), toWhom).text.split('\n\nPage: ');
    const room = MESSAGE_LENGTH_MAX - text.length;
    for (const [length, isCut] of [
      [room, false],
      [room + 1, true],
    ] as const)
      expect(write('x'.repeat(length)).includes('…'), `${length}`).to.equal(isCut);
    for (const before of ['', 'x'])
      expect(write(before + '🙂'.repeat(room))).to.satisfy(
        (cut: string) => cut.isWellFormed() && /[🙂\ufffd]…/u.test(cut),
      );
  });

  it('of the bot are Russian for a Russian app alone', () => {
    const chosen = ['ru', 'RU', 'ru-RU', 'rum', 'en', ''].map(chooseTelegramLanguage);
    expect(chosen).to.deep.equal(['ru', 'ru', 'ru', 'en', 'en', 'en']);
  });
});
