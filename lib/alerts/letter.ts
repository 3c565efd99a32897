// The email that tells an owner what happened.
import type { User } from '../store/ports/users.ts';
import type { Mail } from '../users/mail.ts';
import type { AlertEvent } from './delivery.ts';
import type { Happening } from './watch.ts';

interface Words {
  readonly subjects: Readonly<Record<Happening['type'], (data: Happening['data']) => string>>;
  readonly texts: Readonly<Record<Happening['type'], (name: string, data: Happening['data']) => string>>;
  readonly wallet: string;
  readonly change: string;
}

const WORDS: Readonly<Record<User['language'], Words>> = {
  en: {
    subjects: {
      'balance.below': ({ threshold }) => `The balance is below ${threshold} RUB`,
      'budget.used': ({ name, percent }) => `The key “${name}” has used ${percent} % of its budget`,
      'topup.succeeded': ({ amount }) => `Your card was charged ${amount} RUB`,
      'topup.declined': ({ amount }) => `A charge of ${amount} RUB was declined`,
      'topup.paused': () => 'Automatic top-up is paused',
      'card.saved': ({ card }) => `A card was saved: ${card}`,
      'card.removed': ({ card }) => `A card was removed: ${card}`,
      test: () => 'A test alert',
    },
    texts: {
      'balance.below': (name, { threshold, balance }) =>
        `The balance of the account “${name}” is ${balance} RUB. You asked to be told when it is below ${threshold} RUB.`,
      'budget.used': (name, { name: key, spent, budget }) =>
        `The key “${key}” of the account “${name}” has used ${spent} of ${budget} RUB.`,
      'topup.succeeded': (name, { amount, payment }) =>
        `The wallet of the account “${name}” was topped up with ${amount} RUB from your saved card (payment ${payment}).`,
      'topup.declined': (name, { amount, payment }) =>
        `The bank declined an automatic top-up of the account “${name}” with ${amount} RUB (payment ${payment}). It is tried again later.`,
      'topup.paused': (name, { amount, payment }) =>
        `The bank declined an automatic top-up of the account “${name}” with ${amount} RUB (payment ${payment}). Your card is not charged again until you pay by hand or choose another card.`,
      'card.saved': (name, { card }) =>
        `The card ${card} was saved for the account “${name}”. If no owner of the account did it, tell the operator of this service.`,
      'card.removed': (name, { card }) =>
        `The card ${card} was removed from the account “${name}” and is never charged again. If no owner of the account did it, tell the operator of this service.`,
      test: (name) => `This is a test: alerts of the account “${name}” arrive here.`,
    },
    wallet: 'The wallet:',
    change: 'Change the alerts:',
  },
  ru: {
    subjects: {
      'balance.below': ({ threshold }) => `Баланс меньше ${threshold} ₽`,
      'budget.used': ({ name, percent }) => `Ключ «${name}» израсходовал ${percent} % бюджета`,
      'topup.succeeded': ({ amount }) => `С карты списано ${amount} ₽`,
      'topup.declined': ({ amount }) => `Списание ${amount} ₽ отклонено`,
      'topup.paused': () => 'Автопополнение приостановлено',
      'card.saved': ({ card }) => `Сохранена карта: ${card}`,
      'card.removed': ({ card }) => `Удалена карта: ${card}`,
      test: () => 'Пробное оповещение',
    },
    texts: {
      'balance.below': (name, { threshold, balance }) =>
        `Баланс аккаунта «${name}» — ${balance} ₽. Вы просили сообщить, когда он станет меньше ${threshold} ₽.`,
      'budget.used': (name, { name: key, spent, budget }) =>
        `Ключ «${key}» аккаунта «${name}» израсходовал ${spent} из ${budget} ₽.`,
      'topup.succeeded': (name, { amount, payment }) =>
        `Кошелёк аккаунта «${name}» пополнен на ${amount} ₽ с сохранённой карты (платёж ${payment}).`,
      'topup.declined': (name, { amount, payment }) =>
        `Банк отклонил автопополнение аккаунта «${name}» на ${amount} ₽ (платёж ${payment}). Попытка повторится позже.`,
      'topup.paused': (name, { amount, payment }) =>
        `Банк отклонил автопополнение аккаунта «${name}» на ${amount} ₽ (платёж ${payment}). Карта больше не списывается, пока вы не заплатите сами или не выберете другую карту.`,
      'card.saved': (name, { card }) =>
        `Для аккаунта «${name}» сохранена карта ${card}. Если этого не делал никто из владельцев, сообщите оператору сервиса.`,
      'card.removed': (name, { card }) =>
        `Карта ${card} удалена из аккаунта «${name}», с неё больше ничего не спишется. Если этого не делал никто из владельцев, сообщите оператору сервиса.`,
      test: (name) => `Это проверка: оповещения аккаунта «${name}» приходят сюда.`,
    },
    wallet: 'Кошелёк:',
    change: 'Изменить оповещения:',
  },
};

export function alertLetter(
  { type, data, account }: AlertEvent,
  { user, accountName, publicUrl }: { user: User; accountName: string; publicUrl: string },
): Mail {
  const words = WORDS[user.language];
  const link = (path: string) => `${publicUrl}/account/${path}?account=${encodeURIComponent(account)}`;
  const paragraphs = [
    words.texts[type](accountName, data),
    `${words.wallet} ${link('wallet')}`,
    `${words.change} ${link('settings/alerts')}`,
  ];
  return { to: user.email, subject: words.subjects[type](data), text: `${paragraphs.join('\n\n')}\n` };
}
