// Builds the email of an alert.
import type { User } from '../store/ports/users.ts';
import type { Mail } from '../users/mail.ts';
import type { AlertEvent } from './delivery.ts';
import { OPERATORS } from './operators.ts';
import type { AlertContent } from './watch.ts';

interface Words {
  readonly subjects: Readonly<Record<AlertContent['type'], (data: AlertContent['data']) => string>>;
  readonly texts: Readonly<Record<AlertContent['type'], (name: string, data: AlertContent['data']) => string>>;
  readonly wallet: string;
  readonly change: string;
  readonly catalog: string;
}

const WORDS: Readonly<Record<User['language'], Words>> = {
  en: {
    subjects: {
      'balance.below': ({ threshold }) => `The balance is below ${threshold} RUB`,
      'budget.used': ({ name, percent }) => `The key “${name}” has used ${percent}% of its budget`,
      'topup.succeeded': ({ amount }) => `Your card was charged ${amount} RUB`,
      'topup.declined': ({ amount }) => `A charge of ${amount} RUB was declined`,
      'topup.paused': () => 'Automatic top-up is paused',
      'card.saved': ({ card }) => `A card was saved: ${card}`,
      'card.removed': ({ card }) => `A card was removed: ${card}`,
      'price.below_cost': () => 'Models are sold below cost',
      test: () => 'Test alert',
    },
    texts: {
      'balance.below': (name, { threshold, balance }) =>
        `The balance of the account “${name}” is ${balance} RUB. You asked to be alerted when it is below ${threshold} RUB.`,
      'budget.used': (name, { name: key, spent, budget }) =>
        `The key “${key}” of the account “${name}” has used ${spent} of ${budget} RUB.`,
      'topup.succeeded': (name, { amount, payment }) =>
        `The wallet of the account “${name}” was topped up with ${amount} RUB from your saved card (payment ${payment}).`,
      'topup.declined': (name, { amount, payment }) =>
        `The bank declined an automatic top-up of the account “${name}” with ${amount} RUB (payment ${payment}). It will be tried again later.`,
      'topup.paused': (name, { amount, payment }) =>
        `The bank declined an automatic top-up of the account “${name}” with ${amount} RUB (payment ${payment}). Your card will not be charged again until you top up once or choose another card.`,
      'card.saved': (name, { card }) =>
        `The card ${card} was saved for the account “${name}”. If no owner of the account did this, tell the operator of this service.`,
      'card.removed': (name, { card }) =>
        `The card ${card} was removed from the account “${name}” and will never be charged again. If no owner of the account did this, tell the operator of this service.`,
      'price.below_cost': (_, { lines }) =>
        `A cost or an exchange rate has moved, and these prices per unit are below it now. They stay until you edit the catalog: raise the price, or write "loss": true or "onLoss": "raise".\n\n${lines}`,
      test: (name) => `This is a test: alerts of the account “${name}” arrive here.`,
    },
    wallet: 'Wallet:',
    change: 'Alert settings:',
    catalog: 'Catalog:',
  },
  ru: {
    subjects: {
      'balance.below': ({ threshold }) => `Баланс ниже ${threshold} ₽`,
      'budget.used': ({ name, percent }) => `Ключ «${name}» израсходовал ${percent} % бюджета`,
      'topup.succeeded': ({ amount }) => `С карты списано ${amount} ₽`,
      'topup.declined': ({ amount }) => `Списание ${amount} ₽ отклонено`,
      'topup.paused': () => 'Автопополнение приостановлено',
      'card.saved': ({ card }) => `Сохранена карта: ${card}`,
      'card.removed': ({ card }) => `Удалена карта: ${card}`,
      'price.below_cost': () => 'Модели продаются ниже себестоимости',
      test: () => 'Тестовое оповещение',
    },
    texts: {
      'balance.below': (name, { threshold, balance }) =>
        `Баланс аккаунта «${name}» — ${balance} ₽. Вы просили сообщить, когда он станет ниже ${threshold} ₽.`,
      'budget.used': (name, { name: key, spent, budget }) =>
        `Ключ «${key}» аккаунта «${name}» израсходовал ${spent} из ${budget} ₽.`,
      'topup.succeeded': (name, { amount, payment }) =>
        `Кошелёк аккаунта «${name}» пополнен на ${amount} ₽ с сохранённой карты (платёж ${payment}).`,
      'topup.declined': (name, { amount, payment }) =>
        `Банк отклонил автопополнение аккаунта «${name}» на ${amount} ₽ (платёж ${payment}). Попытка повторится позже.`,
      'topup.paused': (name, { amount, payment }) =>
        `Банк отклонил автопополнение аккаунта «${name}» на ${amount} ₽ (платёж ${payment}). Списаний с карты не будет, пока вы один раз не пополните кошелёк сами или не выберете другую карту.`,
      'card.saved': (name, { card }) =>
        `Для аккаунта «${name}» сохранена карта ${card}. Если этого не делал никто из владельцев, сообщите оператору сервиса.`,
      'card.removed': (name, { card }) =>
        `Карта ${card} удалена из аккаунта «${name}», с неё больше ничего не спишется. Если этого не делал никто из владельцев, сообщите оператору сервиса.`,
      'price.below_cost': (_, { lines }) =>
        `Цена провайдера или курс изменились, и эти цены за единицу теперь ниже себестоимости. Они действуют, пока вы не исправите каталог: поднимите цену или укажите "loss": true либо "onLoss": "raise".\n\n${lines}`,
      test: (name) => `Это тест: оповещения аккаунта «${name}» приходят сюда.`,
    },
    wallet: 'Кошелёк:',
    change: 'Настройки оповещений:',
    catalog: 'Каталог:',
  },
};

export function buildAlertMail(
  { type, data, account }: AlertEvent,
  { user, accountName, publicUrl }: { user: User; accountName: string; publicUrl: string },
): Mail {
  const words = WORDS[user.language];
  const link = (path: string) => `${publicUrl}/account/${path}?account=${encodeURIComponent(account)}`;
  const links =
    account === OPERATORS
      ? [`${words.catalog} ${publicUrl}/admin/catalog`]
      : [`${words.wallet} ${link('wallet')}`, `${words.change} ${link('settings/alerts')}`];
  const paragraphs = [words.texts[type](accountName, data), ...links];
  return { to: user.email, subject: words.subjects[type](data), text: `${paragraphs.join('\n\n')}\n` };
}
