// The alerts of operators: what they are about, where this operator gets them, a test, and the latest results.
import { OPERATORS } from '../../alerts/operators.ts';
import { alertResults } from '../alert-results.ts';
import { sendTestAlert } from '../alert-test.ts';
import { codeField } from '../code-field.ts';
import { form, message } from '../components.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Answer, type Page, page } from '../page.ts';
import { offerTelegram, type TelegramOffer, telegramSection, unlinkTelegram } from '../telegram-section.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Alerts',
    about: 'Operators are alerted when:',
    reasons: [
      'an upstream refuses a key, or says that your account there is out of money or quota (once a day each)',
      'requests to an upstream have failed for ten minutes',
      'models are sold below cost because a cost or an exchange rate has changed',
      'an audit finds that the ledger does not add up',
      'less than 2 GB, and again when less than 0.2 GB are left on a disk that a gateway writes to',
      'payments are waiting for review',
    ],
    mail: 'Alerts are emailed to all operators.',
    noMail: 'This service sends no email: set SMTP_URL.',
    noTelegram: 'Set TELEGRAM_BOT_TOKEN to get alerts in Telegram, too.',
    testTitle: 'Test',
    test: 'Send a test alert',
    tested: 'The test alert was sent. See the result below.',
    no_channel: 'Alerts have nowhere to go: set SMTP_URL, or link Telegram.',
    wait: 'Too many tests. Try again in an hour.',
  },
  ru: {
    title: 'Оповещения',
    about: 'Операторы получают оповещение, когда:',
    reasons: [
      'провайдер не принимает ключ или сообщает, что на вашем счёте у него закончились деньги или квота (о каждом случае — раз в день)',
      'запросы к провайдеру завершаются ошибкой уже десять минут',
      'модели стали продаваться ниже себестоимости: изменилась цена провайдера или курс',
      'сверка показала, что операции не сходятся',
      'на диске, куда пишет шлюз, осталось меньше 2\u00a0ГБ — и ещё раз, когда меньше 0,2\u00a0ГБ',
      'появились платежи на проверке',
    ],
    mail: 'Оповещения приходят на почту всем операторам.',
    noMail: 'Сервис не отправляет писем: задайте SMTP_URL.',
    noTelegram: 'Задайте TELEGRAM_BOT_TOKEN, чтобы получать оповещения и в Telegram.',
    testTitle: 'Проверка',
    test: 'Отправить тестовое оповещение',
    tested: 'Тестовое оповещение отправлено. Результат — ниже.',
    no_channel: 'Оповещения некуда отправлять: задайте SMTP_URL или подключите Telegram.',
    wait: 'Слишком много проверок. Повторите через час.',
  },
});

const PATH = '/admin/alerts';
const SETTINGS = { account: OPERATORS, balanceBelow: null, budgets: false, webhook: null, version: 0 };

interface PageState {
  readonly offer?: TelegramOffer | 'down';
  readonly problem?: string;
}

export const adminAlerts = page({
  path: PATH,
  who: 'operator',
  get: (visit) => alertsPage(visit),
  post(visit, sent) {
    switch (sent.text('change')) {
      case 'telegram-link':
        return offer(visit);
      case 'telegram-unlink':
        return unlink(visit);
      default:
        return test(visit);
    }
  },
});

async function alertsPage(visit: UserVisit, { offer, problem }: PageState = {}): Promise<Page> {
  const { services, language, query } = visit;
  const words = WORDS[language];
  const body = html`${query.get('done') === 'tested' && message('done', words.tested)}
<p>${words.about}</p>
<ul>${words.reasons.map((reason) => html`<li>${reason}</li>`)}</ul>
<p>${services.mailer ? words.mail : words.noMail} ${!services.telegram && words.noTelegram}</p>
${telegramSection(visit, { action: PATH, fields: codeField(visit, 'telegram'), offer })}
<h2>${words.testTitle}</h2>
${problem !== undefined && message('error', problem)}
${(await services.alerts.hasChannels(SETTINGS)) ? form(visit, { action: PATH, fields: codeField(visit, 'test'), button: words.test }) : html`<p>${words.no_channel}</p>`}
${alertResults(visit, await services.alerts.last(OPERATORS))}`;
  return { title: words.title, body };
}

async function offer(visit: UserVisit): Promise<Page> {
  return alertsPage(visit, { offer: await offerTelegram(visit) });
}

async function unlink(visit: UserVisit): Promise<Answer> {
  await unlinkTelegram(visit);
  return { to: PATH };
}

async function test(visit: UserVisit): Promise<Answer> {
  const words = WORDS[visit.language];
  const outcome = await sendTestAlert(visit, SETTINGS);
  if (outcome === 'sent') return { to: `${PATH}?done=tested` };
  return { ...(await alertsPage(visit, { problem: words[outcome] })), status: outcome === 'wait' ? 429 : 400 };
}
