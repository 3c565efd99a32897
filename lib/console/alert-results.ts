// The latest alerts with how each was delivered.
import type { Arrival, Delivery } from '../alerts/delivery.ts';
import { table } from './components.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
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
      'upstream.key_refused': 'Upstream refuses a key',
      'upstream.no_money': 'Upstream out of money',
      'upstream.failing': 'Upstream keeps failing',
      'ledger.wrong': 'Ledger does not add up',
      'disk.low': 'Low disk space',
      'payments.review': 'Payments under review',
      test: 'Test',
    },
    targets: { mail: 'email', telegram: 'Telegram', webhook: 'webhook' },
    states: { due: 'will be retried', sent: 'delivered', failed: 'not delivered' },
    whys: {
      unreachable: 'no answer',
      mail: 'the mail server refused it',
      removed: 'the recipient was removed',
      blocked: 'the bot was blocked, so the chat is unlinked',
    },
    status: (status: string) => `HTTP status ${status}`,
    nobody: 'nobody',
  },
  ru: {
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
      'upstream.key_refused': 'Провайдер не принимает ключ',
      'upstream.no_money': 'У провайдера закончились деньги',
      'upstream.failing': 'Сбои у провайдера',
      'ledger.wrong': 'Операции не сходятся',
      'disk.low': 'Мало места на диске',
      'payments.review': 'Платежи на проверке',
      test: 'Тест',
    },
    targets: { mail: 'почта', telegram: 'Telegram', webhook: 'вебхук' },
    states: { due: 'будет повторено', sent: 'доставлено', failed: 'не доставлено' },
    whys: {
      unreachable: 'нет ответа',
      mail: 'почтовый сервер отказал',
      removed: 'получатель удалён',
      blocked: 'бот заблокирован, чат отключён',
    },
    status: (status: string) => `статус HTTP ${status}`,
    nobody: 'никому',
  },
});

/** Undefined if there were none. */
export function alertResults({ language, format }: Visit, last: readonly Delivery[]): Html | undefined {
  if (last.length === 0) return undefined;
  const words = WORDS[language];
  const columns = [words.when, words.what, words.where, words.result].map((title) => ({ title }));
  const rows = last.flatMap(({ event, arrivals }) => {
    const what = [format.time(event.at), words.kinds[event.type]];
    const all = Object.entries(arrivals);
    if (all.length === 0) return [[...what, words.nobody, '']];
    return all.map(([name, arrival]) => [
      ...what,
      words.targets[name.split(':', 1)[0] as keyof typeof words.targets],
      describeArrival(language, arrival),
    ]);
  });
  return html`<h2>${words.last}</h2>${table(words.last, columns, rows)}`;
}

function describeArrival(language: Visit['language'], { state, why }: Arrival): string {
  const words = WORDS[language];
  if (why === undefined || state === 'sent') return words.states[state];
  const [, status] = /^status (\d+)$/.exec(why) ?? [];
  const reason = status === undefined ? (words.whys as Readonly<Record<string, string>>)[why] : words.status(status);
  return `${words.states[state]}: ${reason ?? why}`;
}
