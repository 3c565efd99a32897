// The alert settings of an account: a threshold, a webhook with its secret shown once, a test, and the latest results.
import { makeWebhookSecret } from '../../alerts/signature.ts';
import { formatRub } from '../../money/money.ts';
import type { AlertSettings } from '../../store/ports/alerts.ts';
import { alertResults } from '../alert-results.ts';
import { sendTestAlert } from '../alert-test.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { checkbox, field, form, message } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords, findWord } from '../language.ts';
import { type Answer, type Page, page } from '../page.ts';
import { reopenForm, shownField } from '../shown-values.ts';
import { offerTelegram, type TelegramOffer, telegramSection, unlinkTelegram } from '../telegram-section.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Alerts',
    mail: 'Alerts are emailed to the owners of the account, and sent to the webhook if there is one.',
    noMail: 'This service sends no email: alerts go to the webhook only.',
    noMailChat: 'This service sends no email: alerts go to the webhook, and to Telegram if you link it.',
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
    noChannel: 'Alerts have nowhere to go: set a webhook first.',
    noChannelChat: 'Alerts have nowhere to go: link Telegram or set a webhook first.',
    wait: 'Too many tests. Try again in an hour.',
    back: 'Back to settings',
  },
  ru: {
    title: 'Оповещения',
    mail: 'Оповещения приходят владельцам аккаунта на почту и на вебхук, если он указан.',
    noMail: 'Сервис не отправляет писем: оповещения приходят только на вебхук.',
    noMailChat: 'Сервис не отправляет писем: оповещения приходят на вебхук, а если подключить Telegram — и туда.',
    threshold: 'Сообщить, когда баланс станет ниже, ₽',
    thresholdHint:
      'Оставьте пустым, чтобы не сообщать. Сообщим один раз; снова — только после того, как баланс превысит эту сумму на 10\u00a0% или будет пополнен.',
    badThreshold: 'Введите сумму больше нуля, например 500 или 99,50.',
    budgets: 'Сообщать, когда ключ израсходует 80, 95 и 100\u00a0% бюджета',
    webhook: 'Вебхук',
    webhookHint: 'Публичный https-адрес для подписанных оповещений. Оставьте пустым, если он не нужен.',
    badWebhook: 'Введите публичный https-адрес на порту 443, без пароля.',
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
    noChannel: 'Оповещения некуда отправлять: сначала укажите вебхук.',
    noChannelChat: 'Оповещения некуда отправлять: сначала подключите Telegram или укажите вебхук.',
    wait: 'Слишком много проверок. Повторите через час.',
    back: 'Назад к настройкам',
  },
});

const PATH = '/account/settings/alerts';

interface PageState {
  /** The form that was refused. */
  readonly sent?: Form;
  readonly problems?: Readonly<Partial<Record<'threshold' | 'webhook' | 'test', string>>>;
  /** A new secret, shown once. */
  readonly secret?: string;
  readonly offer?: TelegramOffer | 'down';
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
      case 'telegram-link':
        return offer(visit);
      case 'telegram-unlink':
        return unlink(visit);
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
  const { services, account, query } = visit;
  const settings = await readAlertSettings(visit);
  const { sent, problems = {}, secret, offer } = state;
  const shown = showSettings(visit, settings);
  const read = (name: keyof typeof shown) => sent?.text(name) ?? shown[name];
  const doneTexts = { saved: words.saved, tested: words.tested };
  const doneText = findWord(doneTexts, query.get('done'));
  const fields = html`${field({ name: 'threshold', label: words.threshold, value: read('threshold'), inputmode: 'decimal', hint: words.thresholdHint, error: problems.threshold, optional: true })}
${checkbox({ name: 'budgets', label: words.budgets, checked: read('budgets') !== '' })}
${field({ name: 'webhook', label: words.webhook, value: read('webhook'), hint: words.webhookHint, error: problems.webhook, optional: true })}${shownField(shown, sent)}`;
  const body = html`${doneText !== undefined && message('done', doneText)}
${secret !== undefined && message('done', html`${words.secret}<br><code class="key" data-copy>${secret}</code>`)}
<p>${services.mailer ? words.mail : services.telegram ? words.noMailChat : words.noMail}</p>
${section(visit, 'wishes', words.save, fields)}
${settings.webhook && html`<h2>${words.renewTitle}</h2><p>${words.renewText}</p>${section(visit, 'secret', words.renew, html``)}`}
${telegramSection(visit, { action: linkTo(visit, PATH), offer })}
<h2>${words.testTitle}</h2>
${problems.test !== undefined && message('error', problems.test)}
${(await services.alerts.hasChannels(settings)) ? section(visit, 'test', words.test, html``) : html`<p>${describeNoChannel(visit)}</p>`}
${alertResults(visit, await services.alerts.last(account.id))}
<p><a href="${linkTo(visit, '/account/settings')}">${words.back}</a></p>`;
  return { title: words.title, body };
}

function showSettings({ format }: OwnerVisit, { balanceBelow, budgets, webhook }: AlertSettings) {
  return {
    threshold: balanceBelow === null ? '' : format.rubTyped(balanceBelow),
    budgets: budgets ? 'yes' : '',
    webhook: webhook?.url ?? '',
  };
}

function section(visit: OwnerVisit, change: string, button: string, fields: Html): Html {
  const hidden = html`<input type="hidden" name="change" value="${change}">`;
  return form(visit, { action: linkTo(visit, PATH), button, fields: html`${hidden}${fields}` });
}

async function changeAlertSettings(visit: OwnerVisit, sent: Form): Promise<Answer> {
  const { services, account, language } = visit;
  const words = WORDS[language];
  const settings = await readAlertSettings(visit);
  const changed = reopenForm(sent, showSettings(visit, settings));
  const [threshold, url] = [changed.text('threshold'), changed.text('webhook')];
  const budgets = changed.text('budgets') !== '';
  const balanceBelow = threshold === '' ? null : readRub(threshold, visit.language);
  if (balanceBelow === undefined) return refused(visit, { sent, problems: { threshold: words.badThreshold } });
  if (url !== '' && services.fetcher().findUrlRefusal(url) !== undefined)
    return refused(visit, { sent, problems: { webhook: words.badWebhook } });
  const secret = url !== '' && !settings.webhook ? makeWebhookSecret() : undefined;
  const webhook = url === '' ? null : { url, secret: secret ?? settings.webhook?.secret ?? '' };
  if (!(await services.store.alerts.change({ ...settings, balanceBelow, budgets, webhook })))
    return refused(visit, { sent, problems: { threshold: words.conflict } });
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
  const outcome = await sendTestAlert(visit, await readAlertSettings(visit));
  if (outcome === 'sent') return { to: linkTo(visit, `${PATH}?done=tested`) };
  if (outcome === 'no_channel') return refused(visit, { problems: { test: describeNoChannel(visit) } });
  return { ...(await alertsPage(visit, { problems: { test: WORDS[visit.language].wait } })), status: 429 };
}

function describeNoChannel({ services, language }: OwnerVisit): string {
  const words = WORDS[language];
  return services.telegram ? words.noChannelChat : words.noChannel;
}

async function offer(visit: OwnerVisit): Promise<Page> {
  return alertsPage(visit, { offer: await offerTelegram(visit) });
}

async function unlink(visit: OwnerVisit): Promise<Answer> {
  await unlinkTelegram(visit);
  return { to: linkTo(visit, PATH) };
}

async function refused(visit: OwnerVisit, state: PageState): Promise<Page> {
  return { ...(await alertsPage(visit, state)), status: 400 };
}
