// An operator's view of one payment: its facts and refunds, the provider's response, and the forms for its phase.
import { type Payment, parseDispute, parseRefunds, refundableAmount } from '../../money/payment.ts';
import { newId } from '../../payments/ids.ts';
import { maskJson } from '../../payments/mask.ts';
import type { Account } from '../../store/ports/accounts.ts';
import { codeField } from '../code-field.ts';
import { definitionList, field, form, message, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords, type Language } from '../language.ts';
import { refusalMessage, typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { paymentWords } from '../wallet/payment-words.ts';
import { reasonText } from '../wallet/reasons.ts';

const WORDS = defineWords({
  en: {
    title: 'Payment',
    id: 'Payment number',
    account: 'Account',
    state: 'Status',
    why: 'Reason',
    provider: 'Provider',
    ref: 'Number at the provider',
    shop: 'Shop',
    test: 'test payment, no real money',
    origin: 'Method',
    created: 'Created',
    changed: 'Last change',
    expires: 'Link valid until',
    due: 'Next check',
    ordered: 'Ordered amount',
    credited: 'Credited',
    refunded: 'Refunded',
    shortfall: 'Shortfall: already spent',
    disputed: 'Dispute',
    said: 'Response of the provider',
    facts: 'Sent to the provider',
    refunds: 'Refunds',
    time: 'Time',
    refundId: 'Refund number',
    reason: 'Reason',
    amount: 'Amount',
    rub: 'Amount (RUB)',
    taken: 'Taken from the wallet',
    look: 'Check with the provider',
    lookTitle: 'Refresh the status',
    credit: 'Credit',
    creditHint: 'The amount that reached your shop. Check with the provider first.',
    reject: 'Do not credit',
    rejectText: 'Nothing goes into the wallet. Refund the money at the provider.',
    refundTitle: 'Refund',
    refundText:
      'The money leaves the balance at once and goes back to where it came from. If the provider refuses, it returns to the balance.',
    refundHint: (left: string) => `At most ${left}.`,
    disputeTitle: 'Record a dispute',
    disputeText: 'The payer’s bank is reclaiming this payment. No money moves until the dispute is lost.',
    number: 'Dispute number',
    disputeHint: 'Leave empty for everything that is left.',
    won: 'Dispute won',
    lost: 'Dispute lost',
    lostText: 'The whole amount is taken from the balance, which falls below zero if part of it was spent.',
    badAmount: 'Enter an amount in roubles and kopecks, such as 1500 or 1500.50.',
    badText: 'A field is empty or too long.',
    stale: 'The payment has just changed. Review it and try again.',
    refused: 'Not possible: the payment has another status, or the amount is too large.',
    play_money: 'This is a test payment without real money, and models here cost real money. Do not credit it.',
    refund_taken: 'This refund was requested before, with another amount. To make another refund, reload this page.',
    number_taken:
      'Another payment already has a dispute with this number. If one letter concerns both, add a suffix such as “/2”.',
    done: 'Done.',
    exists: 'Already done: nothing changed.',
    looked: 'The status was refreshed.',
    back: 'All payments',
  },
  ru: {
    title: 'Платёж',
    id: 'Номер платежа',
    account: 'Аккаунт',
    state: 'Статус',
    why: 'Причина',
    provider: 'Платёжная система',
    ref: 'Номер в платёжной системе',
    shop: 'Магазин',
    test: 'тестовый платёж, без настоящих денег',
    origin: 'Способ',
    created: 'Создан',
    changed: 'Последнее изменение',
    expires: 'Ссылка действует до',
    due: 'Следующая проверка',
    ordered: 'Сумма платежа',
    credited: 'Зачислено',
    refunded: 'Возвращено',
    shortfall: 'Недостача: деньги уже потрачены',
    disputed: 'Спор',
    said: 'Ответ платёжной системы',
    facts: 'Отправлено платёжной системе',
    refunds: 'Возвраты',
    time: 'Время',
    refundId: 'Номер возврата',
    reason: 'Причина',
    amount: 'Сумма',
    rub: 'Сумма, ₽',
    taken: 'Списано с кошелька',
    look: 'Проверить в платёжной системе',
    lookTitle: 'Обновить статус',
    credit: 'Зачислить',
    creditHint: 'Сумма, которая поступила в ваш магазин. Сначала проверьте её в платёжной системе.',
    reject: 'Не зачислять',
    rejectText: 'В кошелёк ничего не поступит. Верните деньги через платёжную систему.',
    refundTitle: 'Вернуть деньги',
    refundText:
      'Деньги сразу спишутся с баланса и вернутся туда, откуда пришли. Если платёжная система откажет, они вернутся на баланс.',
    refundHint: (left: string) => `Не больше ${left}.`,
    disputeTitle: 'Зафиксировать спор',
    disputeText: 'Банк плательщика отзывает платёж. Пока спор не проигран, деньги не списываются.',
    number: 'Номер спора',
    disputeHint: 'Оставьте пустым, чтобы указать весь остаток.',
    won: 'Спор выигран',
    lost: 'Спор проигран',
    lostText: 'Вся сумма спишется с баланса; если часть потрачена, он станет отрицательным.',
    badAmount: 'Введите сумму в рублях и копейках, например 1500 или 1500,50.',
    badText: 'Поле пустое или слишком длинное.',
    stale: 'Платёж только что изменился. Проверьте его и повторите.',
    refused: 'Действие недоступно: у платежа другой статус или сумма слишком велика.',
    play_money: 'Это тестовый платёж без настоящих денег, а модели здесь платные. Не зачисляйте его.',
    refund_taken: 'Этот возврат уже запрошен на другую сумму. Чтобы сделать ещё один возврат, обновите страницу.',
    number_taken:
      'Спор с таким номером уже есть у другого платежа. Если письмо касается обоих, добавьте к номеру, например, «/2».',
    done: 'Готово.',
    exists: 'Уже сделано: ничего не изменилось.',
    looked: 'Статус обновлён.',
    back: 'Все платежи',
  },
});

export function paymentPageWords(language: Language) {
  return WORDS[language];
}

interface PaymentRows {
  readonly payment: Payment;
  readonly account: Account | undefined;
}

export function paymentBody(visit: UserVisit, rows: PaymentRows, done: string | undefined): Html {
  const { payment } = rows;
  const words = WORDS[visit.language];
  return html`${refusalMessage(visit)}
${visit.refused === undefined && done !== undefined && message('done', done)}
${paymentFacts(visit, rows)}
${refundsTable(visit, payment)}
${changes(visit, payment)}
${payment.state !== null && html`<h2>${words.said}</h2><pre tabindex="0"><code>${maskJson(payment.state)}</code></pre>`}
<h2>${words.facts}</h2><pre tabindex="0"><code>${JSON.stringify(JSON.parse(payment.facts), null, 2)}</code></pre>
<p><a href="/admin/payments">${words.back}</a></p>`;
}

function paymentFacts({ language, format }: UserVisit, { payment, account }: PaymentRows): Html {
  const words = WORDS[language];
  const { phases, origins } = paymentWords(language);
  const { id, wallet, phase, reason, provider, ref, shop, test, origin, shortfall, expiresAt, dueAt } = payment;
  const dispute = parseDispute(payment);
  return definitionList([
    [words.state, html`<strong>${phases[phase]}</strong>${phases[phase] !== phase && ` (${phase})`}`],
    ...(reason === null ? [] : [[words.why, reasonText(language, reason)] as const]),
    [words.ordered, format.rubExact(payment.amount)],
    [words.credited, format.rubExact(payment.credited)],
    [words.refunded, format.rubExact(payment.refunded)],
    ...(shortfall === 0n ? [] : [[words.shortfall, format.rubExact(shortfall)] as const]),
    ...(dispute ? [[words.disputed, `${dispute.id}: ${format.rubExact(BigInt(dispute.amount))}`] as const] : []),
    [words.account, html`<a href="/admin/accounts/${wallet}">${account?.name ?? wallet}</a>`],
    [words.id, html`<code>${id}</code>`],
    [words.provider, provider],
    [words.ref, ref === null ? '—' : html`<code>${ref}</code>`],
    [words.shop, html`${shop}${test && html`<br>${words.test}`}`],
    [words.origin, origins[origin]],
    [words.created, format.time(payment.createdAt)],
    [words.changed, format.time(payment.changedAt)],
    ...(expiresAt === null ? [] : [[words.expires, format.time(expiresAt)] as const]),
    ...(dueAt === null ? [] : [[words.due, format.time(dueAt)] as const]),
  ]);
}

function refundsTable({ language, format }: UserVisit, payment: Payment): Html | undefined {
  const all = parseRefunds(payment);
  if (all.length === 0) return undefined;
  const words = WORDS[language];
  const { refunds } = paymentWords(language);
  const columns = [words.time, words.state, words.refundId, words.reason].map((title) => ({ title }));
  const amounts = [words.amount, words.taken].map((title) => ({ title, number: true }));
  const rows = all.map(({ at, id, ref, amount, state, reason, taken }) => [
    format.time(at),
    refunds[state],
    html`<code>${id}</code>${ref !== null && ref !== id && html`<br><code>${ref}</code>`}`,
    reasonText(language, reason ?? ''),
    format.rubExact(BigInt(amount)),
    taken === null ? '—' : format.rubExact(BigInt(taken)),
  ]);
  return html`<h2>${words.refunds}</h2>${table(words.refunds, [...columns, ...amounts], rows)}`;
}

interface ChangeForm {
  readonly button: string;
  readonly fields?: Html;
  readonly danger?: boolean;
  readonly confirm?: string;
}

function changes(visit: UserVisit, payment: Payment): Html {
  const words = WORDS[visit.language];
  const change = (name: string, { button, fields, danger = false, confirm }: ChangeForm) =>
    form(visit, {
      action: `/admin/payments/${payment.id}`,
      button,
      danger,
      confirm,
      fields: html`<input type="hidden" name="change" value="${name}">${fields}${codeField(visit, name)}`,
    });
  const ask = html`<h2>${words.lookTitle}</h2>${change('look', { button: words.look })}`;
  switch (payment.phase) {
    case 'review':
      return html`${reviewForms(visit, payment, change)}`;
    case 'credited':
    case 'partly_refunded':
      return html`${backForms(visit, payment, change)}${ask}`;
    case 'disputed':
      return html`<h2>${words.won}</h2>${change('won', { button: words.won })}
<h2>${words.lost}</h2><p>${words.lostText}</p>${change('lost', { button: words.lost, danger: true, confirm: `${words.lost}? ${words.lostText}` })}`;
    case 'pending':
    case 'succeeded':
    case 'expired':
    case 'reversed':
    case 'kept':
      return ask;
    default:
      return html``;
  }
}

type Change = (name: string, parts: ChangeForm) => Html;

function reviewForms(visit: UserVisit, { amount }: Payment, change: Change): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const typed = (name: 'credit' | 'reject') => typedFields(visit, { change: name });
  const reason = (name: 'credit' | 'reject') =>
    field({ ...typed(name)('reason'), id: `${name}-reason`, label: words.reason });
  const sum = field({
    ...typed('credit')('amount', ''),
    label: words.rub,
    inputmode: 'decimal' as const,
    hint: `${words.creditHint} ${words.ordered}: ${format.rubExact(amount)}`,
  });
  return html`<h2>${words.credit}</h2>
${change('credit', { button: words.credit, fields: html`${sum}${reason('credit')}` })}
<h2>${words.reject}</h2><p>${words.rejectText}</p>
${change('reject', { button: words.reject, fields: reason('reject'), danger: true, confirm: `${words.reject}? ${words.rejectText}` })}`;
}

function backForms(visit: UserVisit, payment: Payment, change: Change): Html {
  const { language, format, services } = visit;
  const back = typedFields(visit, { change: 'refund' });
  const disputed = typedFields(visit, { change: 'dispute' });
  const words = WORDS[language];
  const left = refundableAmount(payment);
  const id = newId('rfd', services.now());
  const refund = html`<input type="hidden" name="refund" value="${id}">
${field({ ...back('amount'), id: 'refund-amount', label: words.rub, inputmode: 'decimal', hint: words.refundHint(format.rubExact(left)) })}
${field({ ...back('reason'), id: 'refund-reason', label: words.reason })}`;
  const dispute = html`${field({ ...disputed('dispute'), label: words.number })}
${field({ ...disputed('amount'), id: 'dispute-amount', label: words.rub, inputmode: 'decimal', hint: words.disputeHint, optional: true })}`;
  return html`${left > 0n && html`<h2>${words.refundTitle}</h2><p>${words.refundText}</p>${change('refund', { button: words.refundTitle, fields: refund, danger: true, confirm: `${words.refundTitle}? ${words.refundText}` })}`}
<h2>${words.disputeTitle}</h2><p>${words.disputeText}</p>
${change('dispute', { button: words.disputeTitle, fields: dispute })}`;
}
