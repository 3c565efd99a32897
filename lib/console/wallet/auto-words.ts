// The texts of automatic top-ups on the wallet page.
import type { Hindrance } from '../../payments/topup-rules.ts';
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
  readonly states: Readonly<Record<Hindrance | 'due', string>>;
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
  readonly confirm: (amount: string) => string;
  readonly back: string;
}

const WORDS = defineWords<AutoWords>({
  en: {
    title: 'Automatic top-up',
    noCard: 'To set it up, pay once and tick the box that saves the card.',
    threshold: 'When the balance falls below (RUB)',
    thresholdHint: 'What running calls hold counts as balance.',
    amount: 'Charge this amount (RUB)',
    cap: 'At most in a month (RUB)',
    capHint: (zone) => `Months and days are those of ${zone}.`,
    card: 'Card to charge',
    on: 'Switch on',
    save: 'Save',
    off: 'Switch off',
    state: 'State',
    states: {
      off: 'off',
      paused: 'paused: the card is not charged',
      in_flight: 'a payment is under way',
      waits: 'waiting before the next try',
      enough: 'on',
      bounds: 'on, but no longer within the limits of this service: choose another amount',
      day: 'on; no more payments today',
      cap: 'on; the monthly limit is reached',
      due: 'on; a payment is about to begin',
    },
    since: 'Paused since',
    why: 'Last reason',
    next: 'Next try',
    month: 'This month',
    resume: 'Pay by hand or choose another card, and it goes on.',
    badAmount: 'Enter an amount in roubles and kopecks, such as 1500 or 1500.50.',
    badCap: 'The monthly limit must be at least the amount of one charge.',
    badCard: 'This card is not there any more. Choose another.',
    noConsent: 'Tick the box: without your consent no card is charged.',
    conflict: 'Something changed in the meantime. Check the values and try again.',
    nowTitle: 'A charge right away',
    now: (amount, card) =>
      `Your balance is below the threshold. Switching automatic top-up on charges ${amount} now: ${card}.`,
    confirm: (amount) => `Switch on and charge ${amount} now`,
    back: 'Back without charging',
  },
  ru: {
    title: 'Автопополнение',
    noCard: 'Чтобы включить его, оплатите один раз и отметьте сохранение карты.',
    threshold: 'Пополнять, когда баланс ниже, ₽',
    thresholdHint: 'Резерв под выполняющиеся запросы входит в баланс.',
    amount: 'Сумма пополнения, ₽',
    cap: 'Не больше за месяц, ₽',
    capHint: (zone) => `Месяцы и дни — по времени ${zone}.`,
    card: 'С какой карты',
    on: 'Включить',
    save: 'Сохранить',
    off: 'Отключить',
    state: 'Состояние',
    states: {
      off: 'отключено',
      paused: 'приостановлено: с карты ничего не списывается',
      in_flight: 'платёж уже идёт',
      waits: 'ждёт следующей попытки',
      enough: 'включено',
      bounds: 'включено, но сумма больше не подходит сервису: выберите другую',
      day: 'включено; на сегодня платежей больше не будет',
      cap: 'включено; предел за месяц исчерпан',
      due: 'включено; платёж вот-вот начнётся',
    },
    since: 'Приостановлено с',
    why: 'Последняя причина',
    next: 'Следующая попытка',
    month: 'В этом месяце',
    resume: 'Оплатите вручную или выберите другую карту, и оно продолжится.',
    badAmount: 'Введите сумму в рублях и копейках, например 1500 или 1500,50.',
    badCap: 'Предел за месяц — не меньше одного списания.',
    badCard: 'Этой карты больше нет. Выберите другую.',
    noConsent: 'Отметьте согласие: без него с карты ничего не списывается.',
    conflict: 'За это время что-то изменилось. Проверьте значения и повторите.',
    nowTitle: 'Списание сразу',
    now: (amount, card) => `Баланс меньше порога. При включении автопополнения сейчас же спишется ${amount}: ${card}.`,
    confirm: (amount) => `Включить и списать ${amount} сейчас`,
    back: 'Назад, ничего не списывать',
  },
});

export function autoWords(language: Language): AutoWords {
  return WORDS[language];
}
