// Texts for payments: phases and their meaning for the payer, refunds, methods.

import type { PaymentPhase, Refund } from '../../money/payment.ts';
import type { MethodKind } from '../../upstream/contract/payment.ts';
import { defineWords, type Language } from '../language.ts';

interface PaymentWords {
  /** For lists. */
  readonly phases: Readonly<Record<PaymentPhase, string>>;
  /** For the page of one payment. */
  readonly meanings: Readonly<Record<PaymentPhase, string>>;
  readonly refunds: Readonly<Record<Refund['state'], string>>;
  readonly methods: Readonly<Record<MethodKind, string>>;
  readonly origins: Readonly<Record<'manual' | 'auto', string>>;
}

const WORDS = defineWords<PaymentWords>({
  en: {
    phases: {
      created: 'starting',
      pending: 'waiting for payment',
      succeeded: 'paid, being credited',
      review: 'under review',
      credited: 'credited',
      partly_refunded: 'partly refunded',
      disputed: 'disputed',
      expired: 'not paid in time',
      canceled: 'declined',
      failed: 'failed',
      rejected: 'not credited',
      refunded: 'refunded',
      reversed: 'taken back by the bank',
      kept: 'credited, dispute closed',
    },
    meanings: {
      created: 'The payment provider has not answered yet. Check again in a few seconds: the link will be here.',
      pending: 'We are waiting for your payment. The money is credited as soon as the provider confirms it.',
      succeeded: 'Your payment went through. The money will be in the wallet in a moment.',
      review: 'Your payment does not match its order, so an operator is checking it. You do not need to pay again.',
      credited: 'The money is in the wallet.',
      partly_refunded: 'Part of the money was refunded.',
      disputed: 'Your bank is reclaiming this payment. The operator is dealing with it.',
      expired: 'This payment was not made in time. If you did pay, the money will still be credited.',
      canceled: 'The payment was declined or canceled. Nothing was credited. You can try again.',
      failed: 'The payment did not go through because of a technical failure. Nothing was credited. Try again later.',
      rejected: 'An operator checked this payment and did not credit it. Ask the operator for a refund.',
      refunded: 'The money was refunded.',
      reversed: 'Your bank took this payment back.',
      kept: 'The dispute is closed. The money stays in the wallet.',
    },
    refunds: { asked: 'in progress', booked: 'refunded', refused: 'refused' },
    methods: { card: 'Bank card', sbp: 'Faster Payments System (SBP)', wallet: 'E-wallet', bank: 'Bank account' },
    origins: { manual: 'on the site', auto: 'automatic top-up' },
  },
  ru: {
    phases: {
      created: 'создаётся',
      pending: 'ждёт оплаты',
      succeeded: 'оплачен, зачисляется',
      review: 'на проверке',
      credited: 'зачислен',
      partly_refunded: 'возвращён частично',
      disputed: 'оспорен',
      expired: 'не оплачен вовремя',
      canceled: 'отклонён',
      failed: 'не прошёл',
      rejected: 'не зачислен',
      refunded: 'возвращён',
      reversed: 'отозван банком',
      kept: 'зачислен, спор закрыт',
    },
    meanings: {
      created: 'Платёжная система ещё не ответила. Проверьте через несколько секунд: ссылка появится здесь.',
      pending: 'Ждём вашей оплаты. Деньги зачислятся, как только платёжная система её подтвердит.',
      succeeded: 'Оплата прошла. Деньги вот-вот появятся в кошельке.',
      review: 'Платёж не совпал с заказом, его проверяет оператор. Платить ещё раз не нужно.',
      credited: 'Деньги зачислены в кошелёк.',
      partly_refunded: 'Часть денег возвращена.',
      disputed: 'Ваш банк отзывает этот платёж. Оператор этим занимается.',
      expired: 'Платёж не оплачен вовремя. Если вы всё же заплатили, деньги зачислятся.',
      canceled: 'Платёж отклонён или отменён. Ничего не зачислено. Можно попробовать ещё раз.',
      failed: 'Платёж не прошёл из-за технического сбоя. Ничего не зачислено. Попробуйте позже.',
      rejected: 'Оператор проверил этот платёж и не зачислил его. Попросите оператора вернуть деньги.',
      refunded: 'Деньги возвращены.',
      reversed: 'Ваш банк отозвал этот платёж.',
      kept: 'Спор закрыт. Деньги остаются в кошельке.',
    },
    refunds: { asked: 'выполняется', booked: 'возвращено', refused: 'отказано' },
    methods: { card: 'Банковская карта', sbp: 'СБП', wallet: 'Электронный кошелёк', bank: 'Банковский счёт' },
    origins: { manual: 'на сайте', auto: 'автопополнение' },
  },
});

export function paymentWords(language: Language): PaymentWords {
  return WORDS[language];
}
