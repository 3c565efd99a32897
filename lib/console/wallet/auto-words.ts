// The texts of automatic top-ups on the wallet page.
import type { TopupBlocker } from '../../payments/topup-rules.ts';
import { defineWords, type Language } from '../language.ts';

interface AutoWords {
  readonly title: string;
  readonly noCard: string;
  readonly threshold: string;
  readonly thresholdHint: string;
  readonly amount: string;
  readonly cap: string;
  readonly capHint: (zone: string) => string;
  readonly card: string;
  readonly on: string;
  readonly save: string;
  readonly off: string;
  readonly state: string;
  readonly states: Readonly<Record<TopupBlocker | 'due', string>>;
  readonly since: string;
  readonly why: string;
  readonly next: string;
  readonly month: string;
  readonly resume: string;
  readonly badAmount: string;
  readonly badCap: string;
  readonly badCard: string;
  readonly noConsent: string;
  readonly conflict: string;
  readonly nowTitle: string;
  readonly now: (amount: string, card: string) => string;
  readonly nowMore: string;
  readonly confirm: (amount: string) => string;
  readonly back: string;
}

const WORDS = defineWords<AutoWords>({
  en: {
    title: 'Automatic top-up',
    noCard: 'To set it up, top up once and tick “Save the card”.',
    threshold: 'Top up when the balance falls below (RUB)',
    thresholdHint: 'Money held by running calls counts as balance.',
    amount: 'Top-up amount (RUB)',
    cap: 'Monthly limit (RUB)',
    capHint: (zone) => `Time zone of days and months: ${zone}.`,
    card: 'Card',
    on: 'Turn on',
    save: 'Save',
    off: 'Turn off automatic top-up',
    state: 'Status',
    states: {
      off: 'off',
      paused: 'paused: the card is not charged',
      in_flight: 'a payment is in progress',
      waits: 'waiting before the next attempt',
      enough: 'on',
      bounds: 'on, but the amount is outside the limits of this service: choose another',
      day: 'on; no more payments today',
      cap: 'on; the monthly limit is reached',
      due: 'on; a payment is about to start',
    },
    since: 'Paused since',
    why: 'Last reason',
    next: 'Next attempt',
    month: 'This month',
    resume: 'To resume, top up once or choose another card.',
    badAmount: 'Enter an amount in roubles and kopecks, such as 1500 or 1500.50.',
    badCap: 'The monthly limit must be at least the top-up amount.',
    badCard: 'This card is no longer saved. Choose another.',
    noConsent: 'Tick the box: no card is charged without your consent.',
    conflict: 'The settings have changed in the meantime. Check them and try again.',
    nowTitle: 'Charge right away',
    now: (amount, card) =>
      `Your balance is below the threshold. Turning on automatic top-up charges ${amount} now: ${card}.`,
    nowMore:
      'This does not bring the balance up to the threshold: the same amount is charged again right after it until it does, as often as the daily and the monthly limit allow.',
    confirm: (amount) => `Turn on and charge ${amount} now`,
    back: 'Back without charging',
  },
  ru: {
    title: 'Автопополнение',
    noCard: 'Чтобы включить его, пополните кошелёк один раз и отметьте «Сохранить карту».',
    threshold: 'Пополнять, когда баланс ниже, ₽',
    thresholdHint: 'Резерв под выполняющиеся запросы входит в баланс.',
    amount: 'Сумма пополнения, ₽',
    cap: 'Лимит в месяц, ₽',
    capHint: (zone) => `Часовой пояс дней и месяцев: ${zone}.`,
    card: 'Карта',
    on: 'Включить',
    save: 'Сохранить',
    off: 'Отключить автопополнение',
    state: 'Статус',
    states: {
      off: 'отключено',
      paused: 'приостановлено: с карты ничего не списывается',
      in_flight: 'платёж выполняется',
      waits: 'ждёт следующей попытки',
      enough: 'включено',
      bounds: 'включено, но сумма вне лимитов сервиса: выберите другую',
      day: 'включено; сегодня платежей больше не будет',
      cap: 'включено; лимит в месяц исчерпан',
      due: 'включено; платёж вот-вот начнётся',
    },
    since: 'Приостановлено с',
    why: 'Последняя причина',
    next: 'Следующая попытка',
    month: 'В этом месяце',
    resume: 'Чтобы продолжить, пополните кошелёк один раз или выберите другую карту.',
    badAmount: 'Введите сумму в рублях и копейках, например 1500 или 1500,50.',
    badCap: 'Лимит в месяц не может быть меньше суммы пополнения.',
    badCard: 'Эта карта уже удалена. Выберите другую.',
    noConsent: 'Отметьте согласие: без него деньги с карты не списываются.',
    conflict: 'Настройки за это время изменились. Проверьте их и повторите.',
    nowTitle: 'Списание сразу',
    now: (amount, card) => `Баланс ниже порога. При включении автопополнения сразу спишется ${amount}: ${card}.`,
    nowMore:
      'Баланс и после этого останется ниже порога: та же сумма будет сразу списываться снова, пока он не достигнет порога, в пределах лимитов на день и на месяц.',
    confirm: (amount) => `Включить и списать ${amount}`,
    back: 'Назад без списания',
  },
});

export function autoWords(language: Language): AutoWords {
  return WORDS[language];
}
