// Grants on the operator's page of an account: those that are not over, the form that gives one, and those that revoke.
import { randomBytes } from 'node:crypto';
import { giveMonthlyGrant, isMonthGiven } from '../../accounts/allowances.ts';
import { giveGrant, listGrants, revokeGrant } from '../../accounts/grants.ts';
import { readZone } from '../../accounts/zone.ts';
import { addDays, findDayStart, parseDay } from '../../money/days.ts';
import { GRANTS_MAX } from '../../money/grants.ts';
import type { Account } from '../../store/ports/accounts.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { checkbox, field, foldAway, form } from '../components.ts';
import { type Form, isLine, type Refusal } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { Redirect } from '../page.ts';
import { isRefused, typedFields } from '../refused-form.ts';
import { reopenForm, shownField } from '../shown-values.ts';
import type { UserVisit } from '../visit.ts';
import { grantTable } from '../wallet/bonuses.ts';

const WORDS = defineWords({
  en: {
    title: 'Bonuses',
    give: 'Give a bonus',
    amount: 'Amount (RUB)',
    reason: 'Reason',
    reasonHint: 'The owner sees it.',
    last: 'Last day',
    lastHint: (zone: string) =>
      `What is left at the end of this day (${zone}) is taken back. Leave empty for a bonus that never expires.`,
    opens: 'Can be spent before the first payment',
    monthly: 'Monthly bonus',
    monthlyNow: (amount: string, reason: string) => `${amount} a month: ${reason}`,
    monthlyHint:
      'Given at once and at the start of each month; what is left expires with the month. A new amount applies from the next month on. Leave it empty to stop the bonus.',
    monthlyButton: 'Change the monthly bonus',
    revokeTitle: 'Revoke a bonus',
    revoke: (reason: string) => `Revoke “${reason}”`,
    revokeText: 'What is left of it is taken back. Running calls keep what they hold.',
    badAmount: 'Enter an amount in RUB, such as 1500 or 1500.50.',
    badText: 'Enter a reason.',
    badDay: 'The last day must be today or later.',
    refusals: {
      id_taken: 'This form has already given another bonus. Send it again to give this one.',
      no_grant: 'This bonus has already ended.',
      too_many_grants: `A wallet has at most ${GRANTS_MAX} bonuses at a time.`,
    },
    refused: (status: string) => `The ledger refused this: ${status}.`,
  },
  ru: {
    title: 'Бонусы',
    give: 'Начислить бонус',
    amount: 'Сумма, ₽',
    reason: 'Причина',
    reasonHint: 'Её увидит владелец.',
    last: 'Последний день',
    lastHint: (zone: string) =>
      `В конце этого дня (часовой пояс ${zone}) остаток спишется. Оставьте пустым для бессрочного бонуса.`,
    opens: 'Можно тратить до первого платежа',
    monthly: 'Ежемесячный бонус',
    monthlyNow: (amount: string, reason: string) => `${amount} в месяц: ${reason}`,
    monthlyHint:
      'Начисляется сразу и в начале каждого месяца; остаток сгорает в конце месяца. Новая сумма действует со следующего месяца. Чтобы отменить бонус, оставьте поле суммы пустым.',
    monthlyButton: 'Изменить ежемесячный бонус',
    revokeTitle: 'Отозвать бонус',
    revoke: (reason: string) => `Отозвать «${reason}»`,
    revokeText: 'Остаток бонуса спишется. Выполняющиеся запросы сохранят свой резерв.',
    badAmount: 'Введите сумму в рублях, например 1500 или 1500,50.',
    badText: 'Укажите причину.',
    badDay: 'Последний день не может быть раньше сегодняшнего.',
    refusals: {
      id_taken: 'По этой форме уже начислен другой бонус. Чтобы начислить этот, отправьте её ещё раз.',
      no_grant: 'Этот бонус уже закончился.',
      too_many_grants: `В кошельке может быть не больше ${GRANTS_MAX} бонусов одновременно.`,
    },
    refused: (status: string) => `Операция отклонена: ${status}.`,
  },
});

type Given = Redirect | Refusal;

export async function grantForms(
  visit: UserVisit,
  account: Account,
  wallet: { readonly grants?: string },
): Promise<Html> {
  const words = WORDS[visit.language];
  const { store } = visit.services;
  const [grants, zone] = await Promise.all([listGrants(store, wallet), readZone(store.users, account.id)]);
  const action = `/admin/accounts/${account.id}`;
  const revoke = grants.map(({ id, reason }, at) =>
    form(visit, {
      action,
      button: words.revoke(reason),
      danger: true,
      confirm: `${words.revoke(reason)}? ${words.revokeText}`,
      fields: html`<input type="hidden" name="change" value="grant_revoke"><input type="hidden" name="grant" value="${id}">
${field({ ...typedFields(visit, { change: 'grant_revoke', grant: id })('reason'), id: `revoke-${at}-reason`, label: words.reason })}${codeField(visit, `revoke-${at}`)}`,
    }),
  );
  const typed = typedFields(visit, { change: 'grant' });
  const opens = isRefused(visit, { change: 'grant' }) && visit.refused?.sent.has('opens') === true;
  const give = html`<input type="hidden" name="change" value="grant"><input type="hidden" name="grant" value="${makeGrantId()}">
${field({ ...typed('amount'), id: 'grant-amount', label: words.amount, inputmode: 'decimal' })}
${field({ ...typed('reason'), id: 'grant-reason', label: words.reason, hint: words.reasonHint })}
${field({ ...typed('last'), id: 'grant-last', label: words.last, type: 'date', hint: words.lastHint(zone), optional: true })}
${checkbox({ name: 'opens', label: words.opens, checked: opens })}${codeField(visit, 'grant')}`;
  return html`<h2>${words.title}</h2>
${grants.length > 0 && grantTable(visit, grants)}
${revoke.length > 0 && foldAway(words.revokeTitle, html`<p>${words.revokeText}</p>${revoke}`, isRefused(visit, { change: 'grant_revoke' }))}
<h3>${words.give}</h3>
${form(visit, { action, button: words.give, fields: give })}
${monthlyForm(visit, account)}`;
}

function monthlyForm(visit: UserVisit, { id, allowance }: Account): Html {
  const words = WORDS[visit.language];
  const typed = typedFields(visit, { change: 'grant_monthly' });
  const shown = showAllowance(visit, allowance);
  const refused = isRefused(visit, { change: 'grant_monthly' }) ? visit.refused?.sent : undefined;
  const fields = html`<input type="hidden" name="change" value="grant_monthly">${shownField(shown, refused)}
${field({ ...typed('amount', shown.amount), id: 'monthly-amount', label: words.amount, inputmode: 'decimal', hint: words.monthlyHint, optional: true })}
${field({ ...typed('reason', shown.reason), id: 'monthly-reason', label: words.reason, hint: words.reasonHint, optional: true })}
${codeField(visit, 'monthly')}`;
  const now = allowance && html`<p>${words.monthlyNow(visit.format.rub(allowance.amount), allowance.reason)}</p>`;
  const monthly = form(visit, { action: `/admin/accounts/${id}`, button: words.monthlyButton, fields });
  return html`${now}
${foldAway(words.monthly, monthly, refused !== undefined)}`;
}

function showAllowance({ format }: UserVisit, allowance: Account['allowance']) {
  return { amount: allowance ? format.rubTyped(allowance.amount) : '', reason: allowance?.reason ?? '' };
}

const GRANT_ID = /^grant_[0-9a-f]{24}$/;

function makeGrantId(): string {
  return `grant_${randomBytes(12).toString('hex')}`;
}

export async function giveByForm(visit: UserVisit, { id: wallet }: Account, sent: Form): Promise<Given> {
  const { services, language } = visit;
  const words = WORDS[language];
  const at = services.now();
  const amount = readRub(sent.text('amount'), language);
  const reason = sent.text('reason');
  const last = sent.text('last');
  if (amount === undefined) return { text: words.badAmount, field: 'amount' };
  if (!isLine(reason)) return { text: words.badText, field: 'reason' };
  const until = last === '' ? null : await findEnd(visit, wallet, last);
  if (until === undefined || (until !== null && until <= at)) return { text: words.badDay, field: 'last' };
  // The form's own id, so that a double submission gives once.
  const sentId = sent.text('grant');
  const grantId = GRANT_ID.test(sentId) ? sentId : makeGrantId();
  const opens = sent.has('opens');
  const terms = { wallet, at, amount, grantId, until, reason, ...(opens && { opens: true as const }) };
  const { status } = await giveGrant(services.store, terms);
  if (status !== 'done' && status !== 'exists') return { text: describeRefusal(visit, status) };
  const detail = { grant: grantId, rub_micro: `${amount}`, reason, until, opens, status };
  await audit(visit, { action: 'grant.give', target: wallet, account: wallet, detail });
  return { to: `/admin/accounts/${wallet}?done=done` };
}

export async function changeMonthlyByForm(
  visit: UserVisit,
  { id: wallet, allowance: before }: Account,
  sent: Form,
): Promise<Given> {
  const { services, language } = visit;
  const { store } = services;
  const words = WORDS[language];
  const changed = reopenForm(sent, showAllowance(visit, before));
  const text = changed.text('amount');
  const reason = changed.text('reason');
  const amount = text === '' ? undefined : readRub(text, language);
  if (text !== '' && amount === undefined) return { text: words.badAmount, field: 'amount' };
  if (amount !== undefined && !isLine(reason)) return { text: words.badText, field: 'reason' };
  const allowance = amount === undefined ? undefined : { amount, reason };
  await store.accounts.setAllowance(wallet, allowance);
  const detail = { rub_micro: amount === undefined ? 'none' : `${amount}`, reason: allowance?.reason };
  await audit(visit, { action: 'grant.monthly', target: wallet, account: wallet, detail });
  if (allowance) {
    const { status } = await giveMonthlyGrant(store, wallet, allowance, services.now());
    if (!isMonthGiven(status)) return { text: describeRefusal(visit, status) };
  }
  return { to: `/admin/accounts/${wallet}?done=done` };
}

/** The end of a day in the account's zone; undefined if it is not a day. */
async function findEnd({ services }: UserVisit, account: string, text: string): Promise<number | undefined> {
  const day = parseDay(text);
  if (day === undefined) return undefined;
  return findDayStart(addDays(day, 1), await readZone(services.store.users, account));
}

export async function revokeByForm(visit: UserVisit, { id: wallet }: Account, sent: Form): Promise<Given> {
  const { services, language } = visit;
  const grantId = sent.text('grant');
  const reason = sent.text('reason');
  if (!isLine(reason)) return { text: WORDS[language].badText, field: 'reason' };
  const { status, taken } = await revokeGrant(services.store, { wallet, grantId, reason, at: services.now() });
  if (status !== 'done' && status !== 'exists') return { text: describeRefusal(visit, status) };
  const detail = { grant: grantId, rub_micro: `${taken}`, reason, status };
  await audit(visit, { action: 'grant.revoke', target: wallet, account: wallet, detail });
  return { to: `/admin/accounts/${wallet}?done=done` };
}

function describeRefusal({ language }: UserVisit, status: string): string {
  const words = WORDS[language];
  return (words.refusals as Readonly<Record<string, string>>)[status] ?? words.refused(status);
}
