// The details of a row of the audit log as people read them.
import { parseRub } from '../../money/money.ts';
import { defineWords, findWord, formatPageDate } from '../language.ts';
import type { Visit } from '../visit.ts';

/** Of a budget, and of the budgets of end users. */
const RESETS = defineWords({
  en: { day: 'every day', week: 'every week', month: 'every month' },
  ru: { day: 'каждый день', week: 'каждую неделю', month: 'каждый месяц' },
});

const DETAILS = defineWords({
  en: {
    yes: 'yes',
    no: 'no',
    values: {
      key: { replaced: 'replaced', kept: 'kept' },
      reset: RESETS.en,
      userReset: RESETS.en,
      result: { ok: 'success', wrong: 'refused' },
      status: { done: 'done', exists: 'already done' },
      end: {
        done: 'done',
        again: 'failed again',
        rejected: 'rejected',
        gone: 'provider not configured',
        convert: 'converted',
        write_off: 'written off',
      },
      role: { owner: 'owner', member: 'member', accountant: 'accountant' },
      purpose: {
        setup: 'first operator',
        operator: 'operator',
        demo: 'demo account',
        invite: 'invitation',
        reset: 'new password',
        verify: 'registration',
        restore: 'recovery',
      },
    },
    names: {
      plugin: 'plugin',
      base_url: 'base URL',
      key: 'key',
      model: 'model',
      markup: 'markup',
      version: 'version of the catalog',
      name: 'name',
      budget: 'budget',
      reset: 'resets',
      zone: 'time zone',
      perMinute: 'requests a minute',
      atOnce: 'calls at once',
      waitSeconds: 'seconds to wait',
      addresses: 'addresses',
      userBudget: 'budget of each end user',
      userReset: 'their budgets reset',
      expiresAt: 'expires',
      models: 'models',
      routes: 'routes of',
      scopes: 'scopes',
      hours: 'hours the old key works',
      to: 'new key',
      rub: 'amount',
      paymentId: 'payment number',
      number: 'number',
      added: 'new',
      known: 'known',
      rub_micro: 'amount',
      price_list: 'price list',
      before: 'before',
      amount: 'amount',
      threshold: 'threshold',
      cap: 'monthly limit',
      card: 'card',
      provider: 'provider',
      method: 'method',
      save: 'card saved',
      budgets: 'alerts about key budgets',
      webhook: 'webhook',
      chat: 'chat',
      reason: 'reason',
      note: 'note',
      status: 'result',
      end: 'result',
      owner: 'owner',
      role: 'role',
      member_cap: 'cap',
      result: 'result',
      page: 'page',
      purpose: 'link',
      email: 'email',
      inn: 'tax number (ИНН)',
      kpp: 'КПП',
      ogrn: 'ОГРН or ОГРНИП',
      address: 'address',
      bank: 'bank',
      bik: 'БИК',
      account: 'account',
      correspondent: 'correspondent account',
      post: 'position of the signatory',
      signer: 'signatory',
      vat: 'VAT rate, %',
      vatBasis: 'grounds for VAT exemption',
      service: 'service',
      contract: 'contract',
      days: 'days',
      percent: 'discount, %',
      from: 'from',
      until: 'valid until',
      uses: 'uses',
      opens: 'can be spent before the first payment',
      grant: 'bonus',
    },
  },
  ru: {
    yes: 'да',
    no: 'нет',
    values: {
      key: { replaced: 'заменён', kept: 'прежний' },
      reset: RESETS.ru,
      userReset: RESETS.ru,
      result: { ok: 'успешно', wrong: 'отказано' },
      status: { done: 'выполнено', exists: 'уже было выполнено' },
      end: {
        done: 'выполнено',
        again: 'снова сбой',
        rejected: 'отклонено',
        gone: 'платёжная система не подключена',
        convert: 'засчитаны',
        write_off: 'списаны',
      },
      role: { owner: 'владелец', member: 'участник', accountant: 'бухгалтер' },
      purpose: {
        setup: 'первый оператор',
        operator: 'оператор',
        demo: 'демо-аккаунт',
        invite: 'приглашение',
        reset: 'новый пароль',
        verify: 'регистрация',
        restore: 'восстановление',
      },
    },
    names: {
      plugin: 'плагин',
      base_url: 'базовый адрес',
      key: 'ключ',
      model: 'модель',
      markup: 'коэффициент',
      version: 'версия каталога',
      name: 'название',
      budget: 'бюджет',
      reset: 'обновляется',
      zone: 'часовой пояс',
      perMinute: 'запросов в минуту',
      atOnce: 'запросов одновременно',
      waitSeconds: 'ожидание, с',
      addresses: 'адреса',
      userBudget: 'бюджет каждого пользователя',
      userReset: 'обновление бюджетов пользователей',
      expiresAt: 'срок',
      models: 'модели',
      routes: 'маршруты моделей',
      scopes: 'права',
      hours: 'часов работы старого ключа',
      to: 'новый ключ',
      rub: 'сумма',
      paymentId: 'номер платежа',
      number: 'номер',
      added: 'новых',
      known: 'известных',
      rub_micro: 'сумма',
      price_list: 'прайс-лист',
      before: 'было',
      amount: 'сумма',
      threshold: 'порог',
      cap: 'лимит в месяц',
      card: 'карта',
      provider: 'платёжная система',
      method: 'способ',
      save: 'карта сохранена',
      budgets: 'оповещения о бюджетах ключей',
      webhook: 'вебхук',
      chat: 'чат',
      reason: 'причина',
      note: 'заметка',
      status: 'результат',
      end: 'результат',
      owner: 'владелец',
      role: 'роль',
      member_cap: 'лимит',
      result: 'результат',
      page: 'страница',
      purpose: 'ссылка',
      email: 'почта',
      inn: 'ИНН',
      kpp: 'КПП',
      ogrn: 'ОГРН или ОГРНИП',
      address: 'адрес',
      bank: 'банк',
      bik: 'БИК',
      account: 'счёт',
      correspondent: 'корр. счёт',
      post: 'должность подписанта',
      signer: 'подписант',
      vat: 'ставка НДС, %',
      vatBasis: 'основание освобождения от НДС',
      service: 'услуга',
      contract: 'договор',
      days: 'срок, дней',
      percent: 'скидка, %',
      from: 'действует с',
      until: 'действует до',
      uses: 'применений',
      opens: 'можно тратить до первого платежа',
      grant: 'бонус',
    },
  },
});

/** A budget that never resets is stored as one that resets at `none`. */
const NOTHING: readonly unknown[] = [null, '', 'none'];
const TIMES: ReadonlySet<string> = new Set(['expiresAt', 'until']);
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** Stored with a decimal point, or as typed. */
const DECIMALS: ReadonlySet<string> = new Set(['markup', 'percent']);
/** Stored as decimal numbers of roubles. */
const ROUBLES: ReadonlySet<string> = new Set(['rub', 'budget', 'userBudget', 'amount', 'threshold', 'cap']);

/** `name: laptop, budget: ₽250.00`, without empty values; unknown names and values are shown as stored. */
export function detailText({ language, format }: Pick<Visit, 'language' | 'format'>, detail: string): string {
  const { yes, no, names, values } = DETAILS[language];
  const valueText = (name: string, value: unknown) => {
    if (typeof value === 'boolean') return value ? yes : no;
    if (Object.hasOwn(values, name))
      return findWord(values[name as keyof typeof values], String(value)) ?? String(value);
    if (TIMES.has(name)) return format.time(Number(value));
    if (name === 'from' && DAY.test(String(value))) return formatPageDate(language, String(value));
    if (DECIMALS.has(name)) return format.decimalTyped(String(value).replace(',', '.'));
    if (name === 'rub_micro' || name === 'member_cap') return format.rubExact(BigInt(String(value)));
    const roubles = ROUBLES.has(name) ? parseRub(String(value)) : undefined;
    if (roubles !== undefined) return format.rubExact(roubles);
    return Array.isArray(value) ? value.join(', ') : String(value);
  };
  return Object.entries(JSON.parse(detail))
    .filter(([, value]) => !NOTHING.includes(value))
    .map(([name, value]) => `${findWord(names, name) ?? name}: ${valueText(name, value)}`)
    .join(', ');
}
