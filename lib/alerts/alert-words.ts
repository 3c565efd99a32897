// What an alert says, in the recipient's language.
import { writeAmount } from '../money/written-amount.ts';
import type { User } from '../store/ports/users.ts';
import type { AlertEvent } from './delivery.ts';
import { FAILURE_WORDS, type FailureKind } from './failure-words.ts';
import { OPERATORS } from './operators.ts';
import type { AlertContent } from './watch.ts';

/** Where an alert leads operators. */
const OPERATOR_PAGES: Readonly<Partial<Record<AlertContent['type'], string>>> = {
  'price.below_cost': '/admin/catalog',
  'upstream.key_refused': '/admin/upstreams',
  'upstream.no_money': '/admin/upstreams',
  'upstream.failing': '/admin/upstreams',
  'ledger.wrong': '/admin/ledger',
  'payments.review': '/admin/payments?phase=review',
  test: '/admin/alerts',
};

interface Words {
  readonly subjects: Readonly<Record<AlertContent['type'], (data: AlertContent['data']) => string>>;
  readonly texts: Readonly<Record<AlertContent['type'], (name: string, data: AlertContent['data']) => string>>;
  readonly wallet: string;
  readonly change: string;
  readonly operator: string;
}

const comma = (number = '') => writeAmount(number, 'ru');
const rub = (amount?: string) => `${comma(amount)}\u00a0₽`;
const inRub = (amount = '') => `${writeAmount(amount, 'en')} RUB`;

const SPAN_WORDS = { en: [' minutes', ' hours'], ru: ['\u00a0мин', '\u00a0ч'] } as const;
const LONG_MINUTES = 120;

/** Minutes, or whole hours once there are many. */
function writeSpan(language: User['language'], minutes = ''): string {
  const [inMinutes, inHours] = SPAN_WORDS[language];
  const count = Number(minutes);
  return count < LONG_MINUTES ? `${count}${inMinutes}` : `${Math.floor(count / 60)}${inHours}`;
}

function nameFailure(language: User['language'], kind = ''): string {
  return FAILURE_WORDS[language][kind as FailureKind] ?? kind;
}

const WORDS: Readonly<Record<User['language'], Words>> = {
  en: {
    subjects: {
      'balance.below': ({ threshold }) => `The balance is below ${inRub(threshold)}`,
      'budget.used': ({ name, percent }) => `The key “${name}” has used ${percent}% of its budget`,
      'topup.succeeded': ({ amount }) => `Your card was charged ${inRub(amount)}`,
      'topup.declined': ({ amount }) => `A charge of ${inRub(amount)} was declined`,
      'topup.paused': () => 'Automatic top-up is paused',
      'card.saved': ({ card }) => `A card was saved: ${card}`,
      'card.removed': ({ card }) => `A card was removed: ${card}`,
      'price.below_cost': () => 'Models are sold below cost',
      'upstream.key_refused': ({ upstream }) => `The upstream “${upstream}” refuses our key`,
      'upstream.no_money': ({ upstream }) => `The upstream “${upstream}” is out of money or quota`,
      'upstream.failing': ({ upstream }) => `The upstream “${upstream}” keeps failing`,
      'ledger.wrong': () => 'The ledger does not add up',
      'disk.low': ({ free }) => `Low disk space: ${free} GB left`,
      'payments.review': ({ count }) => `Payments under review: ${count}`,
      test: () => 'Test alert',
    },
    texts: {
      'balance.below': (name, { threshold, balance }) =>
        `The balance of the account “${name}” is ${inRub(balance)}. You asked to be alerted when it is below ${inRub(threshold)}.`,
      'budget.used': (name, { name: key, spent, budget }) =>
        `The key “${key}” of the account “${name}” has used ${inRub(spent)} of ${inRub(budget)}.`,
      'topup.succeeded': (name, { amount, payment }) =>
        `The wallet of the account “${name}” was topped up with ${inRub(amount)} from your saved card (payment ${payment}).`,
      'topup.declined': (name, { amount, payment }) =>
        `The bank declined an automatic top-up of ${inRub(amount)} for the account “${name}” (payment ${payment}). It will be tried again later.`,
      'topup.paused': (name, { amount, payment }) =>
        payment === undefined
          ? `The automatic top-up of the account “${name}” (${inRub(amount)}) is paused; the wallet page says why. Your card will not be charged until you top up once, choose another card, or save the automatic top-up again.`
          : `The bank declined an automatic top-up of ${inRub(amount)} for the account “${name}” (payment ${payment}). Your card will not be charged again until you top up once or choose another card.`,
      'card.saved': (name, { card }) =>
        `The card ${card} was saved for the account “${name}”. If no owner of the account did this, tell the operator of this service.`,
      'card.removed': (name, { card }) =>
        `The card ${card} was removed from the account “${name}” and will never be charged again. If no owner of the account did this, tell the operator of this service.`,
      'price.below_cost': (_, { lines }) =>
        `A cost or an exchange rate has changed, and these prices per unit are now below cost. They stay until you edit the catalog: raise the price, or write "loss": true or "onLoss": "raise".\n\n${lines}`,
      'upstream.key_refused': (_, { upstream, keys, refused }) =>
        `The upstream “${upstream}” refuses our key (keys: ${refused} of ${keys}). Its models use their other routes, if they have any; otherwise calls fail. Check the key and its rights at the vendor.`,
      'upstream.no_money': (_, { upstream, keys, refused }) =>
        `The upstream “${upstream}” says that our account there is out of money or quota (keys: ${refused} of ${keys}). Its models use their other routes, if they have any; otherwise calls fail. Pay the bill or raise the limit at the vendor.`,
      'upstream.failing': (_, { upstream, models, minutes, kind }) =>
        `Requests to the upstream “${upstream}” have failed for ${writeSpan('en', minutes)}: ${nameFailure('en', kind)}. Models: ${models}. They use their other routes, if they have any; otherwise calls fail. Check the vendor’s status page. The failing routes are tried again automatically.`,
      'ledger.wrong': (_, { problems, drift }) =>
        `An audit of the ledger found problems: ${problems}; drift: ${inRub(drift)}. See “When ledger verify fails” in docs/operations/incidents.md.`,
      'disk.low': (_, { folder, host, free }) =>
        `${free} GB are left on the disk of ${folder} on ${host}. Once the store cannot write, no calls are accepted. Make room: archive old calls, move backups away.`,
      'payments.review': (_, { count, newest }) =>
        `Payments waiting for your decision: ${count}. What was paid does not match the order. The newest is ${newest}.`,
      test: (name) =>
        name === ''
          ? 'This is a test: alerts to operators arrive here.'
          : `This is a test: alerts of the account “${name}” arrive here.`,
    },
    wallet: 'Wallet:',
    change: 'Alert settings:',
    operator: 'Page:',
  },
  ru: {
    subjects: {
      'balance.below': ({ threshold }) => `Баланс ниже ${rub(threshold)}`,
      'budget.used': ({ name, percent }) => `Ключ «${name}» израсходовал ${percent}\u00a0% бюджета`,
      'topup.succeeded': ({ amount }) => `С карты списано ${rub(amount)}`,
      'topup.declined': ({ amount }) => `Списание ${rub(amount)} отклонено`,
      'topup.paused': () => 'Автопополнение приостановлено',
      'card.saved': ({ card }) => `Сохранена карта: ${card}`,
      'card.removed': ({ card }) => `Удалена карта: ${card}`,
      'price.below_cost': () => 'Модели продаются ниже себестоимости',
      'upstream.key_refused': ({ upstream }) => `Провайдер «${upstream}» не принимает наш ключ`,
      'upstream.no_money': ({ upstream }) => `У провайдера «${upstream}» закончились деньги или квота`,
      'upstream.failing': ({ upstream }) => `Сбои у провайдера «${upstream}»`,
      'ledger.wrong': () => 'Операции не сходятся',
      'disk.low': ({ free }) => `На диске мало места: ${comma(free)}\u00a0ГБ`,
      'payments.review': ({ count }) => `Платежи на проверке: ${count}`,
      test: () => 'Тестовое оповещение',
    },
    texts: {
      'balance.below': (name, { threshold, balance }) =>
        `Баланс аккаунта «${name}» — ${rub(balance)}. Вы просили сообщить, когда он станет ниже ${rub(threshold)}.`,
      'budget.used': (name, { name: key, spent, budget }) =>
        `Ключ «${key}» аккаунта «${name}» израсходовал ${rub(spent)} из ${rub(budget)}.`,
      'topup.succeeded': (name, { amount, payment }) =>
        `Кошелёк аккаунта «${name}» пополнен на ${rub(amount)} с сохранённой карты (платёж ${payment}).`,
      'topup.declined': (name, { amount, payment }) =>
        `Банк отклонил автопополнение аккаунта «${name}» на ${rub(amount)} (платёж ${payment}). Попытка повторится позже.`,
      'topup.paused': (name, { amount, payment }) =>
        payment === undefined
          ? `Автопополнение аккаунта «${name}» на ${rub(amount)} приостановлено, причина — на странице кошелька. Списаний с карты не будет, пока вы один раз не пополните кошелёк сами, не выберете другую карту или не сохраните автопополнение ещё раз.`
          : `Банк отклонил автопополнение аккаунта «${name}» на ${rub(amount)} (платёж ${payment}). Списаний с карты не будет, пока вы один раз не пополните кошелёк сами или не выберете другую карту.`,
      'card.saved': (name, { card }) =>
        `Для аккаунта «${name}» сохранена карта ${card}. Если этого не делал никто из владельцев, сообщите оператору сервиса.`,
      'card.removed': (name, { card }) =>
        `Карта ${card} удалена из аккаунта «${name}», с неё больше ничего не спишется. Если этого не делал никто из владельцев, сообщите оператору сервиса.`,
      'price.below_cost': (_, { lines }) =>
        `Цена провайдера или курс изменились, и эти цены за единицу теперь ниже себестоимости. Они действуют, пока вы не исправите каталог: поднимите цену или укажите "loss": true либо "onLoss": "raise".\n\n${lines}`,
      'upstream.key_refused': (_, { upstream, keys, refused }) =>
        `Провайдер «${upstream}» не принимает наш ключ (ключей: ${refused} из ${keys}). Его модели работают через другие маршруты, если они есть; иначе запросы завершаются ошибкой. Проверьте ключ и его права у провайдера.`,
      'upstream.no_money': (_, { upstream, keys, refused }) =>
        `Провайдер «${upstream}» сообщает, что на нашем счёте у него закончились деньги или квота (ключей: ${refused} из ${keys}). Его модели работают через другие маршруты, если они есть; иначе запросы завершаются ошибкой. Пополните счёт или поднимите лимит у провайдера.`,
      'upstream.failing': (_, { upstream, models, minutes, kind }) =>
        `Запросы к провайдеру «${upstream}» завершаются ошибкой уже ${writeSpan('ru', minutes)}: ${nameFailure('ru', kind)}. Модели: ${models}. Они работают через другие маршруты, если они есть; иначе запросы завершаются ошибкой. Проверьте страницу состояния провайдера. Маршруты проверяются снова автоматически.`,
      'ledger.wrong': (_, { problems, drift }) =>
        `При сверке операций найдены расхождения: ${problems}, на сумму ${rub(drift)}. Что делать, сказано в разделе «When ledger verify fails» файла docs/operations/incidents.md.`,
      'disk.low': (_, { folder, host, free }) =>
        `На диске с папкой ${folder} (${host}) осталось ${comma(free)}\u00a0ГБ. Если запись станет невозможна, запросы перестанут приниматься. Освободите место: отправьте старые запросы в архив, перенесите резервные копии.`,
      'payments.review': (_, { count, newest }) =>
        `Ждут вашего решения платежи: ${count}. Оплата не совпала с заказом. Самый новый — ${newest}.`,
      test: (name) =>
        name === ''
          ? 'Это тест: оповещения для операторов приходят сюда.'
          : `Это тест: оповещения аккаунта «${name}» приходят сюда.`,
    },
    wallet: 'Кошелёк:',
    change: 'Настройки оповещений:',
    operator: 'Страница:',
  },
};

export interface AlertText {
  readonly subject: string;
  readonly text: string;
  /** Where to go from there. */
  readonly links: readonly (readonly [name: string, url: string])[];
}

export interface AlertRecipient {
  readonly user: User;
  readonly accountName: string;
  readonly publicUrl: string;
}

export function writeAlert(
  { type, data, account }: AlertEvent,
  { user, accountName, publicUrl }: AlertRecipient,
): AlertText {
  const words = WORDS[user.language];
  const link = (path: string) => `${publicUrl}/account/${path}?account=${encodeURIComponent(account)}`;
  const links =
    account === OPERATORS
      ? ([[words.operator, `${publicUrl}${OPERATOR_PAGES[type] ?? '/admin'}`]] as const)
      : ([
          [words.wallet, link('wallet')],
          [words.change, link('settings/alerts')],
        ] as const);
  return { subject: words.subjects[type](data), text: words.texts[type](accountName, data), links };
}
