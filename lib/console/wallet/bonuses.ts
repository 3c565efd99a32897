// The owner's grants, with what is left of each and when it ends, and the form for promo codes.
import { listGrants } from '../../accounts/grants.ts';
import { readPromoCode, redeemPromo } from '../../accounts/promos.ts';
import { fault } from '../../base/faults.ts';
import { toClientNetwork } from '../../base/network.ts';
import { countAttempt, slowDown, uncountAttempt } from '../../users/attempts.ts';
import { audit } from '../audit.ts';
import { field, form, table } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { Redirect } from '../page.ts';
import { typedFields } from '../refused-form.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Bonuses',
    note: 'Calls spend bonuses before the money you paid in. Bonuses are not paid out.',
    columns: { reason: 'Bonus', at: 'Received', until: 'Expires', amount: 'Amount', left: 'Left' },
    monthly: (amount: string, reason: string) =>
      `Every month you get ${amount} (${reason}). What is left expires with the month.`,
    never: 'never',
    code: 'Promo code',
    use: 'Use code',
    problems: {
      none: 'There is no such code. Check the spelling.',
      over: 'This code has expired.',
      used_up: 'This code has been used up.',
      again: 'You have already used this code.',
      too_many: 'The wallet has too many bonuses. Use the code once one of them has expired.',
    },
  },
  ru: {
    title: 'Бонусы',
    note: 'Сначала тратятся бонусы, потом внесённые деньги. Получить бонусы деньгами нельзя.',
    columns: { reason: 'Бонус', at: 'Получен', until: 'Действует до', amount: 'Сумма', left: 'Осталось' },
    monthly: (amount: string, reason: string) =>
      `Каждый месяц вам начисляется ${amount} (${reason}). Остаток сгорает в конце месяца.`,
    never: 'бессрочно',
    code: 'Промокод',
    use: 'Применить',
    problems: {
      none: 'Такого промокода нет. Проверьте, нет ли опечатки.',
      over: 'Срок действия промокода истёк.',
      used_up: 'Промокод уже использован максимальное число раз.',
      again: 'Вы уже применили этот промокод.',
      too_many: 'В кошельке слишком много бонусов. Примените промокод, когда один из них закончится.',
    },
  },
});

export async function bonusSection(visit: OwnerVisit, wallet: { readonly grants?: string }): Promise<Html> {
  const { language, services, account, format } = visit;
  const { allowance } = account;
  const words = WORDS[language];
  const grants = await listGrants(services.store, wallet);
  const code = form(visit, {
    action: linkTo(visit, '/account/wallet'),
    button: words.use,
    fields: html`<input type="hidden" name="change" value="promo">${field({ ...typedFields(visit, { change: 'promo' })('code'), id: 'promo-code', label: words.code })}`,
  });
  return html`<h2>${words.title}</h2>
${allowance && html`<p>${words.monthly(format.rub(allowance.amount), allowance.reason)}</p>`}
${grants.length > 0 && grantTable(visit, grants)}
${grants.length > 0 && html`<p class="hint">${words.note}</p>`}
${code}`;
}

/** Also on the operator's page of an account. */
export function grantTable(
  { language, format }: Pick<OwnerVisit, 'language' | 'format'>,
  grants: Awaited<ReturnType<typeof listGrants>>,
): Html {
  const { title, columns, never } = WORDS[language];
  const names = [columns.reason, columns.at, columns.until].map((name) => ({ title: name }));
  const sums = [columns.amount, columns.left].map((name) => ({ title: name, number: true }));
  const rows = grants.map(({ reason, at, until, amount, left }) => [
    reason,
    format.time(at),
    until === null ? never : format.time(until),
    format.rub(amount),
    format.rub(left),
  ]);
  return table(title, [...names, ...sums], rows);
}

/** Wrong codes make the account and the network wait, so that codes cannot be guessed. */
export async function redeemByForm(visit: OwnerVisit, sent: Form): Promise<Redirect | { readonly text: string }> {
  const { problems } = WORDS[visit.language];
  const { services, account, address } = visit;
  const { sessions } = services.store;
  const names = [slowDown(`promo-address:${toClientNetwork(address)}`, 20), slowDown(`promo:${account.id}`, 5)];
  const seconds = await countAttempt(sessions, names, services.now());
  if (seconds > 0) throw fault('try_later', { retryAfterS: seconds });
  const code = readPromoCode(sent.text('code'));
  if (code === undefined) return { text: problems.none };
  const redeemed = await redeemPromo(services.store, { code, account: account.id, at: services.now() });
  if (redeemed.status === 'none') return { text: problems.none };
  // Only codes that do not exist are guesses.
  await uncountAttempt(sessions, names);
  if (redeemed.status !== 'done') return { text: problems[redeemed.status] };
  const detail = { grant: redeemed.grantId, rub_micro: `${redeemed.amount}`, until: redeemed.until };
  await audit(visit, { action: 'promo.use', target: code, detail });
  return { to: linkTo(visit, '/account/wallet?done=promo') };
}
