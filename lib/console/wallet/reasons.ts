// Why a payment was declined or is checked, in words: providers and our own steps name reasons by code.
import { NEVER_STARTED, NOT_ACCEPTED } from '../../money/payment.ts';
import { defineWords, type Language } from '../language.ts';

interface ReasonWords {
  readonly codes: Readonly<Record<string, string>>;
  /** What of a payment may differ from its order. */
  readonly parts: Readonly<Record<string, string>>;
  readonly insteadOf: (found: string, wanted: string) => string;
}

const WORDS = defineWords<ReasonWords>({
  en: {
    codes: {
      insufficient_funds: 'there is not enough money on the card',
      limit_exceeded: 'the limit of the card is reached',
      payment_method_limit_exceeded: 'the limit of the card is reached',
      confirmation_failed: 'the bank could not confirm the payer',
      '3d_secure_failed': 'the bank could not confirm the payer',
      call_issuer: 'the bank refused; it can say why',
      general_decline: 'the bank refused without saying why',
      declined_without_reason: 'the bank refused without saying why',
      card_expired: 'the card has expired',
      card_blocked: 'the card is blocked',
      payment_method_restricted: 'the card is blocked',
      invalid_card_number: 'the card number is wrong',
      invalid_csc: 'the code on the back of the card is wrong',
      identification_required: 'the e-wallet has to be identified first',
      country_forbidden: 'cards of this country are not accepted',
      fraud_suspected: 'the payment looked like fraud',
      permission_revoked: 'the permission to charge the card was withdrawn',
      issuer_unavailable: 'the bank did not answer',
      bank_unavailable: 'the bank did not answer',
      internal_timeout: 'the provider did not answer in time',
      canceled_by_payer: 'the payer called it off',
      canceled_by_merchant: 'the shop called it off',
      canceled: 'it was called off',
      expired_on_confirmation: 'it was not paid in time',
      expired_on_capture: 'it was not captured in time',
      [NOT_ACCEPTED]:
        'the payment provider takes no payments for this service at the moment; its operator has been told',
    },
    parts: {},
    insteadOf: (found, wanted) => `${found} instead of ${wanted}`,
  },
  ru: {
    codes: {
      insufficient_funds: 'на карте не хватает денег',
      limit_exceeded: 'исчерпан лимит карты',
      payment_method_limit_exceeded: 'исчерпан лимит карты',
      confirmation_failed: 'банк не смог подтвердить плательщика',
      '3d_secure_failed': 'банк не смог подтвердить плательщика',
      call_issuer: 'банк отказал; почему, знает он сам',
      general_decline: 'банк отказал, не объяснив почему',
      declined_without_reason: 'банк отказал, не объяснив почему',
      card_expired: 'срок карты истёк',
      card_blocked: 'карта заблокирована',
      payment_method_restricted: 'карта заблокирована',
      invalid_card_number: 'неверный номер карты',
      invalid_csc: 'неверный код с обратной стороны карты',
      identification_required: 'сначала нужна идентификация кошелька',
      country_forbidden: 'карты этой страны не принимаются',
      fraud_suspected: 'платёж похож на мошеннический',
      permission_revoked: 'разрешение списывать с карты отозвано',
      issuer_unavailable: 'банк не ответил',
      bank_unavailable: 'банк не ответил',
      internal_timeout: 'платёжная система не ответила вовремя',
      canceled_by_payer: 'плательщик отменил оплату',
      canceled_by_merchant: 'магазин отменил оплату',
      canceled: 'оплата отменена',
      expired_on_confirmation: 'не оплачено вовремя',
      expired_on_capture: 'не подтверждено вовремя',
      'not paid in time': 'не оплачено вовремя',
      'its provider could not be asked': 'платёжная система не отвечала',
      'the provider refused it': 'платёжная система отказала',
      [NEVER_STARTED]: 'платёжная система его не начинала',
      [NOT_ACCEPTED]: 'платёжная система сейчас не принимает платежи этого сервиса; оператор уже знает',
    },
    parts: {
      status: 'состояние',
      sum: 'сумма',
      currency: 'валюта',
      shop: 'магазин',
      test: 'тестовый платёж',
      order: 'заказ',
      payment: 'платёж',
    },
    insteadOf: (found, wanted) => `${found} вместо ${wanted}`,
  },
});

/** As it is if there are no words for it. */
export function reasonText(language: Language, reason: string): string {
  const { codes } = WORDS[language];
  if (Object.hasOwn(codes, reason)) return codes[reason] as string;
  return reason
    .split('; ')
    .map((part) => differenceText(language, part))
    .join('; ');
}

/** `sum: 999.99 instead of 1000.00` */
function differenceText(language: Language, text: string): string {
  const { parts, insteadOf } = WORDS[language];
  const [, name = '', found = '', wanted = ''] = /^(\w+): (\S+) instead of (\S+)$/.exec(text) ?? [];
  return name === '' ? text : `${parts[name] ?? name}: ${insteadOf(found, wanted)}`;
}
