// The alert settings of an account: a threshold, a webhook with its secret shown once, a test, and the latest results.
import type { Arrival, Delivery } from '../../alerts/delivery.ts';
import { makeWebhookSecret } from '../../alerts/signature.ts';
import { formatRub } from '../../money/money.ts';
import type { AlertSettings } from '../../store/ports/alerts.ts';
import { countAttempt, withFreeAttempts } from '../../users/attempts.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { checkbox, field, form, message, table } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords, findWord } from '../language.ts';
import { type Answer, type Page, page } from '../page.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Alerts',
    mail: 'Alerts are emailed to the owners of the account, and sent to the webhook if there is one.',
    noMail: 'This service sends no email: alerts go to the webhook only.',
    threshold: 'Alert me when the balance is below (RUB)',
    thresholdHint:
      'Leave empty for no alert. You are alerted once, and again only after the balance has risen 10% above this amount or been topped up.',
    badThreshold: 'Enter an amount above zero, such as 500 or 99.50.',
    budgets: 'Alert me when a key has used 80, 95 and 100% of its budget',
    webhook: 'Webhook',
    webhookHint: 'A public https URL that receives signed alerts. Leave empty for none.',
    badWebhook: 'Enter a public https URL on port 443, without a password.',
    save: 'Save',
    saved: 'Saved.',
    conflict: 'The settings have changed in the meantime. Try again.',
    secret: 'Copy the webhook secret now: it is shown only once. Use it to verify the signature of alerts.',
    renewTitle: 'Webhook secret',
    renewText: 'A new secret replaces the current one at once.',
    renew: 'Create a new secret',
    testTitle: 'Test',
    test: 'Send a test alert',
    tested: 'The test alert was sent. See the result below.',
    nowhere: 'Alerts have nowhere to go: set a webhook first.',
    wait: 'Too many tests. Try again in an hour.',
    last: 'Latest alerts',
    when: 'Sent',
    what: 'Alert',
    where: 'To',
    result: 'Result',
    kinds: {
      'balance.below': 'Balance',
      'budget.used': 'Key budget',
      'topup.succeeded': 'Automatic top-up',
      'topup.declined': 'Automatic top-up declined',
      'topup.paused': 'Automatic top-up paused',
      'card.saved': 'Card saved',
      'card.removed': 'Card removed',
      'price.below_cost': 'Price below cost',
      test: 'Test',
    },
    mailTo: 'email',
    webhookTo: 'webhook',
    states: { due: 'will be retried', sent: 'delivered', failed: 'not delivered' },
    whys: { unreachable: 'no answer', mail: 'the mail server refused it', removed: 'the recipient was removed' },
    status: (status: string) => `HTTP status ${status}`,
    nobody: 'nobody',
    back: 'Back to settings',
  },
  ru: {
    title: 'Оповещения',
    mail: 'Оповещения приходят владельцам аккаунта на почту и на вебхук, если он указан.',
    noMail: 'Сервис не отправляет писем: оповещения приходят только на вебхук.',
    threshold: 'Сообщить, когда баланс станет ниже, ₽',
    thresholdHint:
      'Оставьте пустым, чтобы не сообщать. Сообщим один раз; снова — только после того, как баланс превысит эту сумму на 10 % или будет пополнен.',
    badThreshold: 'Введите сумму больше нуля, например 500 или 99,50.',
    budgets: 'Сообщать, когда ключ израсходует 80, 95 и 100 % бюджета',
    webhook: 'Вебхук',
    webhookHint: 'Публичный адрес https для подписанных оповещений. Оставьте пустым, если он не нужен.',
    badWebhook: 'Введите публичный адрес https на порту 443, без пароля.',
    save: 'Сохранить',
    saved: 'Сохранено.',
    conflict: 'Настройки за это время изменились. Попробуйте ещё раз.',
    secret: 'Скопируйте секрет вебхука: он показан только один раз. По нему проверяют подпись оповещений.',
    renewTitle: 'Секрет вебхука',
    renewText: 'Новый секрет сразу заменит текущий.',
    renew: 'Создать новый секрет',
    testTitle: 'Проверка',
    test: 'Отправить тестовое оповещение',
    tested: 'Тестовое оповещение отправлено. Результат — ниже.',
    nowhere: 'Оповещения некуда отправлять: сначала укажите вебхук.',
    wait: 'Слишком много проверок. Повторите через час.',
    last: 'Последние оповещения',
    when: 'Отправлено',
    what: 'Оповещение',
    where: 'Куда',
    result: 'Результат',
    kinds: {
      'balance.below': 'Баланс',
      'budget.used': 'Бюджет ключа',
      'topup.succeeded': 'Автопополнение',
      'topup.declined': 'Автопополнение отклонено',
      'topup.paused': 'Автопополнение приостановлено',
      'card.saved': 'Карта сохранена',
      'card.removed': 'Карта удалена',
      'price.below_cost': 'Цена ниже себестоимости',
      test: 'Тест',
    },
    mailTo: 'почта',
    webhookTo: 'вебхук',
    states: { due: 'будет повторено', sent: 'доставлено', failed: 'не доставлено' },
    whys: { unreachable: 'нет ответа', mail: 'почтовый сервер отказал', removed: 'получатель удалён' },
    status: (status: string) => `статус HTTP ${status}`,
    nobody: 'никому',
    back: 'Назад к настройкам',
  },
});

const PATH = '/account/settings/alerts';
/** Tests per account and hour: each makes the service call a third party. */
const TESTS_MAX = 10;
const HOUR_MS = 3_600_000;

interface PageState {
  readonly threshold?: string;
  readonly budgets?: boolean;
  readonly webhook?: string;
  readonly problems?: Readonly<Partial<Record<'threshold' | 'webhook' | 'test', string>>>;
  /** A new secret, shown once. */
  readonly secret?: string;
}

export const alerts = page({
  path: PATH,
  who: 'account',
  get: (visit) => alertsPage(visit),
  post(visit, sent) {
    switch (sent.text('change')) {
      case 'wishes':
        return changeAlertSettings(visit, sent);
      case 'secret':
        return renewSecret(visit);
      default:
        return sendTest(visit);
    }
  },
});

async function readAlertSettings({ services, account }: OwnerVisit): Promise<AlertSettings> {
  const found = await services.store.alerts.get(account.id);
  return found ?? { account: account.id, balanceBelow: null, budgets: true, webhook: null, version: 0 };
}

async function alertsPage(visit: OwnerVisit, state: PageState = {}): Promise<Page> {
  const words = WORDS[visit.language];
  const { services, account, query, format } = visit;
  const settings = await readAlertSettings(visit);
  const {
    threshold = settings.balanceBelow === null ? '' : format.rubTyped(settings.balanceBelow),
    budgets = settings.budgets,
    webhook = settings.webhook?.url ?? '',
    problems = {},
    secret,
  } = state;
  const doneTexts = { saved: words.saved, tested: words.tested };
  const doneText = findWord(doneTexts, query.get('done'));
  const fields = html`${field({ name: 'threshold', label: words.threshold, value: threshold, inputmode: 'decimal', hint: words.thresholdHint, error: problems.threshold, optional: true })}
${checkbox({ name: 'budgets', label: words.budgets, checked: budgets })}
${field({ name: 'webhook', label: words.webhook, value: webhook, hint: words.webhookHint, error: problems.webhook, optional: true })}`;
  const body = html`${doneText !== undefined && message('done', doneText)}
${secret !== undefined && message('done', html`${words.secret}<br><code class="key" data-copy>${secret}</code>`)}
<p>${services.mailer ? words.mail : words.noMail}</p>
${section(visit, 'wishes', words.save, fields)}
${settings.webhook && html`<h2>${words.renewTitle}</h2><p>${words.renewText}</p>${section(visit, 'secret', words.renew, html``)}`}
<h2>${words.testTitle}</h2>
${problems.test !== undefined && message('error', problems.test)}
${(await services.alerts.hasChannels(settings)) ? section(visit, 'test', words.test, html``) : html`<p>${words.nowhere}</p>`}
${results(visit, await services.alerts.last(account.id))}
<p><a href="${linkTo(visit, '/account/settings')}">${words.back}</a></p>`;
  return { title: words.title, body };
}

function section(visit: OwnerVisit, change: string, button: string, fields: Html): Html {
  const hidden = html`<input type="hidden" name="change" value="${change}">`;
  return form(visit, { action: linkTo(visit, PATH), button, fields: html`${hidden}${fields}` });
}

function results({ language, format }: OwnerVisit, last: readonly Delivery[]): Html | undefined {
  if (last.length === 0) return undefined;
  const words = WORDS[language];
  const columns = [words.when, words.what, words.where, words.result].map((title) => ({ title }));
  const rows = last.flatMap(({ event, arrivals }) => {
    const what = [format.time(event.at), words.kinds[event.type]];
    const all = Object.entries(arrivals);
    if (all.length === 0) return [[...what, words.nobody, '']];
    return all.map(([name, arrival]) => [
      ...what,
      name === 'webhook' ? words.webhookTo : words.mailTo,
      describeArrival(language, arrival),
    ]);
  });
  return html`<h2>${words.last}</h2>${table(words.last, columns, rows)}`;
}

function describeArrival(language: OwnerVisit['language'], { state, why }: Arrival): string {
  const words = WORDS[language];
  if (why === undefined || state === 'sent') return words.states[state];
  const [, status] = /^status (\d+)$/.exec(why) ?? [];
  const reason = status === undefined ? (words.whys as Readonly<Record<string, string>>)[why] : words.status(status);
  return `${words.states[state]}: ${reason ?? why}`;
}

async function changeAlertSettings(visit: OwnerVisit, sent: Form): Promise<Answer> {
  const { services, account, language } = visit;
  const words = WORDS[language];
  const threshold = sent.text('threshold');
  const url = sent.text('webhook');
  const budgets = sent.has('budgets');
  const state = { threshold, budgets, webhook: url };
  const balanceBelow = threshold === '' ? null : readRub(threshold);
  if (balanceBelow === undefined) return refused(visit, { ...state, problems: { threshold: words.badThreshold } });
  if (url !== '' && services.fetcher().findUrlRefusal(url) !== undefined)
    return refused(visit, { ...state, problems: { webhook: words.badWebhook } });
  const settings = await readAlertSettings(visit);
  const secret = url !== '' && !settings.webhook ? makeWebhookSecret() : undefined;
  const webhook = url === '' ? null : { url, secret: secret ?? settings.webhook?.secret ?? '' };
  if (!(await services.store.alerts.change({ ...settings, balanceBelow, budgets, webhook })))
    return refused(visit, { ...state, problems: { threshold: words.conflict } });
  // The path of a webhook is often a secret itself.
  const below = balanceBelow === null ? '' : formatRub(balanceBelow);
  const detail = { threshold: below, budgets, webhook: url === '' ? null : new URL(url).host };
  await audit(visit, { action: 'alerts.change', target: account.id, detail });
  return secret === undefined ? { to: linkTo(visit, `${PATH}?done=saved`) } : alertsPage(visit, { secret });
}

async function renewSecret(visit: OwnerVisit): Promise<Answer> {
  const { services, account, language } = visit;
  const settings = await readAlertSettings(visit);
  if (!settings.webhook) return { to: linkTo(visit, PATH) };
  const secret = makeWebhookSecret();
  if (!(await services.store.alerts.change({ ...settings, webhook: { ...settings.webhook, secret } })))
    return refused(visit, { problems: { webhook: WORDS[language].conflict } });
  await audit(visit, { action: 'alerts.secret', target: account.id });
  return alertsPage(visit, { secret });
}

async function sendTest(visit: OwnerVisit): Promise<Answer> {
  const { services, account, language } = visit;
  const words = WORDS[language];
  const settings = await readAlertSettings(visit);
  if (!(await services.alerts.hasChannels(settings))) return refused(visit, { problems: { test: words.nowhere } });
  const name = {
    name: `alert-tests:${account.id}`,
    waitsMs: withFreeAttempts(TESTS_MAX, [HOUR_MS]),
    windowMs: HOUR_MS,
  };
  const seconds = await countAttempt(services.store.sessions, [name], services.now());
  if (seconds > 0) return { ...(await alertsPage(visit, { problems: { test: words.wait } })), status: 429 };
  await services.alerts.test(settings);
  await audit(visit, { action: 'alerts.test', target: account.id });
  return { to: linkTo(visit, `${PATH}?done=tested`) };
}

async function refused(visit: OwnerVisit, state: PageState): Promise<Page> {
  return { ...(await alertsPage(visit, state)), status: 400 };
}
