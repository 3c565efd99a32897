// Texts for the codes with which providers and our own steps say why a payment was declined or needs a review.
import { NEVER_STARTED, NOT_ACCEPTED, PAID_LATE } from '../../money/payment.ts';
import { writeAmount } from '../../money/written-amount.ts';
import { GONE_BACK } from '../../payments/gone-back.ts';
import { RESTORED } from '../../payments/restored.ts';
import { AMOUNT_UNUSABLE, CARD_UNUSABLE, NO_OWNER, PROVIDER_OFF } from '../../payments/topup-rules.ts';
import { defineWords, findWord, type Language } from '../language.ts';

interface ReasonWords {
  readonly codes: Readonly<Record<string, string>>;
  /** The parts of a payment that may differ from its order. */
  readonly parts: Readonly<Record<string, string>>;
  /** What these parts may be, beside names and numbers. */
  readonly values: Readonly<Record<string, string>>;
  readonly sayInstead: (found: string, wanted: string) => string;
  readonly playMoney: (upstream: string) => string;
}

const WORDS = defineWords<ReasonWords>({
  en: {
    codes: {
      insufficient_funds: 'not enough money on the card',
      limit_exceeded: 'the limit of the card is reached',
      payment_method_limit_exceeded: 'the limit of the card is reached',
      confirmation_failed: 'the bank could not confirm the payer',
      '3d_secure_failed': 'the bank could not confirm the payer',
      call_issuer: 'the bank refused; ask it for the reason',
      general_decline: 'the bank refused without giving a reason',
      declined_without_reason: 'the bank refused without giving a reason',
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
      canceled_by_payer: 'the payer canceled it',
      canceled_by_merchant: 'the shop canceled it',
      canceled: 'it was canceled',
      expired_on_confirmation: 'it was not paid in time',
      expired_on_capture: 'it was not captured in time',
      [NOT_ACCEPTED]:
        'the payment provider takes no payments for this service at the moment; its operator has been told',
    },
    parts: {},
    values: {},
    sayInstead: (found, wanted) => `${found} instead of ${wanted}`,
    playMoney: (upstream) => `test payment, but models of the upstream ${upstream} cost real money`,
  },
  ru: {
    codes: {
      insufficient_funds: 'на карте недостаточно денег',
      limit_exceeded: 'исчерпан лимит карты',
      payment_method_limit_exceeded: 'исчерпан лимит карты',
      confirmation_failed: 'банк не смог подтвердить плательщика',
      '3d_secure_failed': 'банк не смог подтвердить плательщика',
      call_issuer: 'банк отказал; причину можно узнать в банке',
      general_decline: 'банк отказал без объяснения причин',
      declined_without_reason: 'банк отказал без объяснения причин',
      card_expired: 'срок карты истёк',
      card_blocked: 'карта заблокирована',
      payment_method_restricted: 'карта заблокирована',
      invalid_card_number: 'неверный номер карты',
      invalid_csc: 'неверный код с оборота карты',
      identification_required: 'нужна идентификация электронного кошелька',
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
      'test: true, but its provider takes real money now':
        'платёж тестовый, а платёжная система теперь принимает настоящие деньги',
      'test: false, but its provider takes no real money now':
        'платёж настоящий, а платёжная система теперь принимает только тестовые',
      [GONE_BACK]: 'деньги по одному из платежей возвращены',
      [CARD_UNUSABLE]: 'списать деньги с этой карты сейчас нельзя',
      [PROVIDER_OFF]: 'платёжная система этой карты сейчас отключена',
      [NO_OWNER]: 'у этого аккаунта больше нет владельца',
      [AMOUNT_UNUSABLE]: 'платёжная система не принимает такую сумму',
      [RESTORED]:
        'данные сервиса восстановлены из резервной копии: неизвестно, списывались ли деньги с карты после неё',
      [PAID_LATE]: 'деньги пришли после того, как платёж был отменён или не состоялся',
      [NEVER_STARTED]: 'платёж не был создан в платёжной системе',
      [NOT_ACCEPTED]: 'платёжная система сейчас не принимает платежи этого сервиса; оператор уже знает',
    },
    parts: {
      status: 'статус',
      sum: 'сумма',
      currency: 'валюта',
      shop: 'магазин',
      test: 'тестовый платёж',
      order: 'заказ',
      payment: 'платёж',
    },
    values: {
      succeeded: 'оплачен',
      pending: 'ждёт оплаты',
      canceled: 'отменён',
      true: 'да',
      false: 'нет',
      null: 'нет',
    },
    sayInstead: (found, wanted) => `${found} (ожидалось: ${wanted})`,
    playMoney: (upstream) => `платёж тестовый, а модели провайдера ${upstream} стоят настоящих денег`,
  },
});

/** The reason itself if there are no words for it. */
export function reasonText(language: Language, reason: string): string {
  const known = findWord(WORDS[language].codes, reason);
  if (known !== undefined) return known;
  return reason
    .split('; ')
    .map((part) => differenceText(language, part))
    .join('; ');
}

const PLAY_MONEY = /^test: its money is not real, and wallets here pay for the upstream (\S+), which costs real money$/;

/** `sum: 999.99 instead of 1000.00` */
function differenceText(language: Language, text: string): string {
  const { codes, parts, values, sayInstead, playMoney } = WORDS[language];
  const known = findWord(codes, text);
  if (known !== undefined) return known;
  const [, upstream] = PLAY_MONEY.exec(text) ?? [];
  if (upstream !== undefined) return playMoney(upstream);
  const [, name = '', found = '', wanted = ''] = /^(\w+): (\S+) instead of (\S+)$/.exec(text) ?? [];
  if (name === '') return text;
  const say = (value: string) => findWord(values, value) ?? (name === 'sum' ? writeAmount(value, language) : value);
  return `${parts[name] ?? name}: ${sayInstead(say(found), say(wanted))}`;
}
