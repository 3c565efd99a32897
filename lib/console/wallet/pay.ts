// The top-up form, and the payment it creates.

import { fault, isFault } from '../../base/faults.ts';
import type { OpenPayment } from '../../catalog/payments.ts';
import type { SumBounds } from '../../catalog/topup-bounds.ts';
import { FIRST_TOPUP_MINIMUM } from '../../money/decide.ts';
import { formatRub, KOPECK, type Micro } from '../../money/money.ts';
import { getOrderBounds } from '../../payments/order-bounds.ts';
import { StoreError } from '../../store/store.ts';
import type { MethodKind } from '../../upstream/contract/payment.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { checkbox, field, form, select } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { Redirect } from '../page.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { consentText, storeConsent } from './consent.ts';
import { paymentWords } from './payment-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Top up',
    off: (account: string) =>
      `Online payment is not set up. Ask the operator of this service to top up the account ${account}.`,
    first: (minimum: string) => `The first payment must be at least ${minimum}.`,
    record: 'Record a payment',
    amount: 'Amount (RUB)',
    presets: 'Usual amounts',
    least: (least: string) => `At least ${least}.`,
    method: 'Payment method',
    pay: 'Pay',
    badAmount: 'Enter an amount in roubles and kopecks, such as 1500 or 1500.50.',
    describeBounds: (least: string, most: string) => `The amount must be from ${least} to ${most}.`,
    tooMany: 'Too many payments are waiting. Pay one of them, or wait until they expire.',
    gone: 'This payment method is not available now. Choose another, or try again later.',
  },
  ru: {
    title: 'Пополнить',
    off: (account: string) => `Оплата на сайте не настроена. Попросите оператора сервиса пополнить аккаунт ${account}.`,
    first: (minimum: string) => `Первый платёж — не меньше ${minimum}.`,
    record: 'Зачислить платёж',
    amount: 'Сумма, ₽',
    presets: 'Частые суммы',
    least: (least: string) => `Не меньше ${least}.`,
    method: 'Способ оплаты',
    pay: 'Оплатить',
    badAmount: 'Введите сумму в рублях и копейках, например 1500 или 1500,50.',
    describeBounds: (least: string, most: string) => `Сумма — от ${least} до ${most}.`,
    tooMany: 'Слишком много неоплаченных платежей. Оплатите один из них или дождитесь, пока истечёт их срок.',
    gone: 'Этот способ оплаты сейчас недоступен. Выберите другой или попробуйте позже.',
  },
});

/** The submitted form and its error. */
export interface PayProblem {
  readonly sent: Form;
  readonly problem: string;
}

interface PaymentOption {
  /** `<provider>:<method>` */
  readonly value: string;
  readonly open: OpenPayment;
  readonly method: MethodKind;
}

/** Every payment method, the default first. */
function listPaymentOptions({ services }: OwnerVisit): readonly PaymentOption[] {
  return services.payments
    .providers()
    .flatMap((open) => open.provider.methods.map((method) => ({ value: `${open.name}:${method}`, open, method })));
}

export async function paySection(visit: OwnerVisit, rejected?: PayProblem): Promise<Html> {
  const { services, account, language, format, signedIn } = visit;
  const words = WORDS[language];
  const options = listPaymentOptions(visit);
  const least = await services.payments.minimumOrder(account.id);
  if (options.length === 0)
    return html`<h2>${words.title}</h2>
<p>${words.off(account.id)}${least >= FIRST_TOPUP_MINIMUM && ` ${words.first(format.rub(least))}`}${signedIn.user.operator && html` <a href="/admin/accounts/${account.id}">${words.record}</a>`}</p>`;
  const canSaveCard = options.some(({ open }) => open.provider.charge);
  const fields = html`<input type="hidden" name="change" value="pay">
${field({ name: 'amount', label: words.amount, value: rejected?.sent.text('amount') ?? readPreset(visit) ?? '', inputmode: 'decimal', hint: words.least(format.rub(least)), error: rejected?.problem, autofocus: rejected !== undefined })}
${methodField(visit, options, rejected?.sent.text('method'))}
${canSaveCard && checkbox({ name: 'save', label: consentText(language, 'save_method'), checked: rejected?.sent.has('save') ?? false })}`;
  return html`<h2 id="pay">${words.title}</h2>
${presetLinks(visit)}
${form(visit, { action: linkTo(visit, '/account/wallet'), fields, button: words.pay })}`;
}

/** In roubles, for those who have no sum in mind. */
const PRESETS = [1000, 3000, 5000, 10_000];

function readPreset({ query }: OwnerVisit): string | undefined {
  return PRESETS.map(String).find((rub) => rub === query.get('amount'));
}

/** Each fills in the form. */
function presetLinks(visit: OwnerVisit): Html {
  const chosen = readPreset(visit);
  const items = PRESETS.map((rub) => {
    const here = `${rub}` === chosen && html` aria-current="true"`;
    const to = linkTo(visit, `/account/wallet?amount=${rub}`);
    return html`<a class="button quiet" href="${to}#pay"${here}>${visit.format.rubAxis(rub)}</a>`;
  });
  return html`<nav class="buttons" aria-label="${WORDS[visit.language].presets}">${items}</nav>`;
}

function methodField(
  { language }: OwnerVisit,
  options: readonly PaymentOption[],
  chosen: string | undefined = options[0]?.value,
): Html {
  const { methods } = paymentWords(language);
  const [first, ...others] = options;
  if (others.length === 0) return html`<input type="hidden" name="method" value="${first?.value}">`;
  const isOne = others.every(({ open }) => open.name === first?.open.name);
  const name = ({ open, method }: PaymentOption) => (isOne ? methods[method] : `${methods[method]} (${open.name})`);
  return select(
    { name: 'method', label: WORDS[language].method, chosen },
    options.map((option) => [option.value, name(option)]),
  );
}

/** Creates a payment. Its page links to the payment host, because the content policy forbids a form to lead there. */
export async function startPayment(visit: OwnerVisit, sent: Form): Promise<Redirect | PayProblem> {
  const { services, account, language } = visit;
  const words = WORDS[language];
  const refuse = (problem: string): PayProblem => ({ sent, problem });
  const options = listPaymentOptions(visit);
  const chosen = sent.text('method');
  const option = chosen === '' ? options[0] : options.find(({ value }) => value === chosen);
  if (!option) return refuse(words.gone);
  const amount = readRub(sent.text('amount'), visit.language);
  if (amount === undefined || amount % KOPECK !== 0n) return refuse(words.badAmount);
  const { open, method } = option;
  const bounds = getOrderBounds(await services.payments.minimumOrder(account.id), open, method);
  if (!isWithin(amount, bounds)) return refuse(describeBounds(visit, bounds));
  const saveMethod = sent.has('save') && open.provider.charge !== undefined;
  if (saveMethod) await storeConsent(visit, 'save_method');
  const email = visit.signedIn.user.email;
  const request = { wallet: account.id, provider: open.name, amount, locale: language, email, method, saveMethod };
  try {
    const { id } = await services.payments.order(request);
    const detail = { rub: formatRub(amount), provider: open.name, method, save: saveMethod };
    await audit(visit, { action: 'payment.order', target: id, detail });
    return { to: linkTo(visit, `/account/wallet?order=${id}`) };
  } catch (error) {
    if (error instanceof StoreError) throw fault('store_unavailable', {}, error);
    if (!isFault(error) || error.data?.code !== 'invalid_field') throw error;
    // The amount was checked, so there are too many open payments, or the provider was just switched off.
    return refuse(error.data.detail.field === 'amount' ? words.tooMany : words.gone);
  }
}

export function isWithin(amount: Micro, { min, max }: SumBounds): boolean {
  return min <= amount && amount <= max;
}

export function describeBounds({ language, format }: OwnerVisit, { min, max }: SumBounds): string {
  return WORDS[language].describeBounds(format.rub(min), format.rub(max));
}
