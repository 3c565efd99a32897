// What the audit log records, in words: actions and their details are stored by code.
import { defineWords, type Language, wordOf } from '../language.ts';
import type { Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    'account.create': 'created an account',
    'account.suspend': 'suspended the account',
    'account.resume': 'ended the suspension',
    'alerts.change': 'changed the alerts',
    'alerts.secret': 'made a new webhook secret',
    'alerts.test': 'sent a test alert',
    'auto_topup.on': 'set up automatic top-up',
    'auto_topup.off': 'switched automatic top-up off',
    'card.remove': 'removed a card',
    'key.issue': 'issued a key',
    'key.limit': 'changed the limits of a key',
    'key.revoke': 'revoked a key',
    'key.rotate': 'replaced a key',
    'notice.retry': 'took a notice again',
    'operator.invite': 'made a link for a new operator',
    'operator.reset': 'made a link for an operator',
    'owner.accept': 'became an owner',
    'owner.add': 'made somebody an owner',
    'owner.invite': 'invited an owner',
    'owner.remove': 'removed an owner',
    'payment.order': 'ordered a payment',
    'payment.look': 'asked the provider about a payment',
    'payment.credit': 'credited a payment',
    'payment.reject': 'did not credit a payment',
    'payment.refund': 'gave money back',
    'payment.dispute': 'entered a dispute',
    'payment.dispute_won': 'closed a dispute as won',
    'payment.dispute_lost': 'closed a dispute as lost',
    'sign_in.password': 'signed in with a password',
    'sign_in.code': 'gave a code',
    'sign_in.recovery': 'gave a recovery code',
    'sign_in.link': 'used a link',
    'sign_in.reset': 'asked for a link to reset the password',
    'sign_in.register': 'asked for a link to register',
    'user.app': 'set up an authenticator app',
    'user.app_off': 'removed the authenticator app',
    'user.codes': 'renewed the recovery codes',
    'user.invite': 'invited somebody',
    'user.password': 'changed the password',
    'user.remove': 'removed somebody',
    'user.reset': 'made a link for a lost password or app',
    'user.resume': 'ended the suspension of somebody',
    'user.sessions': 'ended the sessions of somebody',
    'user.suspend': 'suspended somebody',
    'wallet.topup': 'recorded a payment',
    'wallet.adjust': 'corrected the balance',
    'wallet.play_money': 'decided on play money',
  },
  ru: {
    'account.create': 'создание аккаунта',
    'account.suspend': 'приостановка аккаунта',
    'account.resume': 'снятие приостановки',
    'alerts.change': 'изменение оповещений',
    'alerts.secret': 'новый секрет вебхука',
    'alerts.test': 'пробное оповещение',
    'auto_topup.on': 'настройка автопополнения',
    'auto_topup.off': 'отключение автопополнения',
    'card.remove': 'удаление карты',
    'key.issue': 'выпуск ключа',
    'key.limit': 'изменение ограничений ключа',
    'key.revoke': 'отзыв ключа',
    'key.rotate': 'замена ключа',
    'notice.retry': 'повторный разбор уведомления',
    'operator.invite': 'ссылка для нового оператора',
    'operator.reset': 'ссылка для оператора взамен пароля и приложения',
    'owner.accept': 'принятие приглашения',
    'owner.add': 'назначение владельца',
    'owner.invite': 'приглашение владельца',
    'owner.remove': 'владелец убран из аккаунта',
    'payment.order': 'заказ платежа',
    'payment.look': 'запрос о платеже',
    'payment.credit': 'зачисление платежа',
    'payment.reject': 'отказ зачислить платёж',
    'payment.refund': 'возврат денег',
    'payment.dispute': 'внесение спора',
    'payment.dispute_won': 'спор выигран',
    'payment.dispute_lost': 'спор проигран',
    'sign_in.password': 'вход по паролю',
    'sign_in.code': 'ввод кода из приложения',
    'sign_in.recovery': 'ввод кода восстановления',
    'sign_in.link': 'вход по ссылке',
    'sign_in.reset': 'запрос ссылки для нового пароля',
    'sign_in.register': 'запрос ссылки для регистрации',
    'user.app': 'настройка приложения с кодами',
    'user.app_off': 'отключение приложения с кодами',
    'user.codes': 'новые коды восстановления',
    'user.invite': 'приглашение',
    'user.password': 'смена пароля',
    'user.remove': 'удаление человека',
    'user.reset': 'ссылка взамен пароля или приложения',
    'user.resume': 'возврат доступа человеку',
    'user.sessions': 'завершение сеансов человека',
    'user.suspend': 'приостановка доступа человека',
    'wallet.topup': 'проведение платежа',
    'wallet.adjust': 'поправка остатка',
    'wallet.play_money': 'решение о тестовых деньгах',
  },
});

/** The code itself for what has no words. */
export function actionText(language: Language, action: string): string {
  return wordOf(WORDS[language], action) ?? action;
}

const DETAILS = defineWords({
  en: {
    yes: 'yes',
    no: 'no',
    values: {
      result: { ok: 'success', wrong: 'refused' },
      purpose: {
        setup: 'first operator',
        operator: 'operator',
        demo: 'demo account',
        invite: 'invitation',
        reset: 'new password',
        verify: 'registration',
      },
    },
    names: {
      name: 'name',
      budget: 'budget',
      reset: 'resets',
      expiresAt: 'expires',
      models: 'models',
      hours: 'hours left',
      to: 'replaced by',
      rub: 'amount',
      rub_micro: 'amount',
      amount: 'amount',
      threshold: 'below',
      cap: 'at most in a month',
      card: 'card',
      provider: 'provider',
      method: 'method',
      save: 'card saved',
      budgets: 'budgets of keys',
      webhook: 'webhook',
      reason: 'reason',
      status: 'outcome',
      end: 'outcome',
      owner: 'owner',
      result: 'result',
      page: 'page',
      purpose: 'link',
      email: 'email',
    },
  },
  ru: {
    yes: 'да',
    no: 'нет',
    values: {
      result: { ok: 'успех', wrong: 'отказ' },
      purpose: {
        setup: 'первый оператор',
        operator: 'оператор',
        demo: 'демо-аккаунт',
        invite: 'приглашение',
        reset: 'новый пароль',
        verify: 'регистрация',
      },
    },
    names: {
      name: 'название',
      budget: 'бюджет',
      reset: 'заново',
      expiresAt: 'срок',
      models: 'модели',
      hours: 'осталось часов',
      to: 'вместо него',
      rub: 'сумма',
      rub_micro: 'сумма',
      amount: 'сумма',
      threshold: 'порог',
      cap: 'не больше за месяц',
      card: 'карта',
      provider: 'платёжная система',
      method: 'способ',
      save: 'карта сохранена',
      budgets: 'бюджеты ключей',
      webhook: 'вебхук',
      reason: 'причина',
      status: 'итог',
      end: 'итог',
      owner: 'владелец',
      result: 'итог',
      page: 'страница',
      purpose: 'ссылка',
      email: 'почта',
    },
  },
});

/** A budget that never resets is stored as one that resets at `none`. */
const NOTHING: readonly unknown[] = [null, '', 'none'];

/** `name: laptop, budget: 250.00`, without what is not set; what has no words stays as it was recorded. */
export function detailText({ language, format }: Pick<Visit, 'language' | 'format'>, detail: string): string {
  const { yes, no, names, values } = DETAILS[language];
  const valueText = (name: string, value: unknown) => {
    if (typeof value === 'boolean') return value ? yes : no;
    if (name === 'result' || name === 'purpose') return wordOf(values[name], String(value)) ?? String(value);
    if (name === 'expiresAt') return format.time(Number(value));
    if (name === 'rub_micro') return format.rubExact(BigInt(String(value)));
    return Array.isArray(value) ? value.join(', ') : String(value);
  };
  return Object.entries(JSON.parse(detail))
    .filter(([, value]) => !NOTHING.includes(value))
    .map(([name, value]) => `${wordOf(names, name) ?? name}: ${valueText(name, value)}`)
    .join(', ');
}
