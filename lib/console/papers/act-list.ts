// The acts of an account, and the form that issues the one of a month.
import { KOPECK } from '../../money/money.ts';
import { type Act, type ActRefusal, computeActKopecks, findLastMonth } from '../../payments/papers/acts.ts';
import { form, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords, type Language, LOCALES } from '../language.ts';
import { linkTo, type OwnerVisit, type UserVisit } from '../visit.ts';

const WORDS = defineWords<{
  readonly title: string;
  readonly act: string;
  readonly month: string;
  readonly amount: string;
  readonly none: string;
  readonly name: (number: string) => string;
  readonly issue: string;
  readonly hint: string;
  readonly refusals: Readonly<Record<ActRefusal | 'month', string>>;
}>({
  en: {
    title: 'Acts',
    act: 'Act',
    month: 'Month',
    amount: 'Amount',
    none: 'No acts yet.',
    name: (number) => `No. ${number}`,
    issue: 'Issue the act',
    hint: 'For a month that is over. An act does not change once it is issued.',
    refusals: {
      month: 'Choose a month.',
      open: 'This month is not over yet.',
      nothing: 'In this month nothing was charged to top-ups (bonuses do not count), or all of it was refunded.',
      archived: 'The calls of this month have been archived, so its act can no longer be issued. Ask the operator.',
    },
  },
  ru: {
    title: 'Акты',
    act: 'Акт',
    month: 'Месяц',
    amount: 'Сумма',
    none: 'Актов пока нет.',
    name: (number) => `№ ${number}`,
    issue: 'Сформировать акт',
    hint: 'За завершённый месяц. Сформированный акт больше не меняется.',
    refusals: {
      month: 'Выберите месяц.',
      open: 'Этот месяц ещё не закончился.',
      nothing: 'В этом месяце из пополнений ничего не списано (бонусы не в счёт) или всё списанное возвращено.',
      archived: 'Запросы за это время перенесены в архив, и акт сформировать уже нельзя. Обратитесь к оператору.',
    },
  },
});

export function describeActRefusal(language: Language, refusal: ActRefusal | 'month'): string {
  return WORDS[language].refusals[refusal];
}

/** `November 2026` */
export function formatPageMonth(language: Language, month: string): string {
  const format = { timeZone: 'UTC', month: 'long', year: 'numeric' } as const;
  return new Intl.DateTimeFormat(LOCALES[language], format).format(Date.parse(`${month}-01`));
}

interface ListedActs {
  readonly acts: readonly Act[];
  /** The path before the month of an act. */
  readonly base: string;
}

export function actTable(visit: UserVisit & Partial<Pick<OwnerVisit, 'accounts'>>, { acts, base }: ListedActs): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  if (acts.length === 0) return html`<p>${words.none}</p>`;
  const rows = acts.map((act) => [
    html`<a href="${linkTo(visit, `${base}${act.month}`)}">${words.name(String(act.number))}</a>`,
    formatPageMonth(language, act.month),
    format.rub(computeActKopecks(act) * KOPECK),
  ]);
  const names = [words.act, words.month].map((title) => ({ title }));
  return table(words.title, [...names, { title: words.amount, number: true }], rows);
}

/** A month as it was typed, and why it has no act. */
export interface ActProblem {
  readonly month: string;
  readonly problem: string;
}

export function actForm(visit: OwnerVisit, action: string, refused: ActProblem | undefined): Html {
  const words = WORDS[visit.language];
  const last = findLastMonth(visit.services.now(), visit.zone);
  const notes = refused ? 'month-hint month-error' : 'month-hint';
  const fields = html`<input type="hidden" name="change" value="act">
<p class="field"><label for="month">${words.month}</label>
<input id="month" name="month" type="month" value="${refused?.month ?? last}" max="${last}" pattern="20\\d\\d-\\d\\d" required aria-describedby="${notes}"${refused && html` aria-invalid="true"`}>
<span class="hint" id="month-hint">${words.hint}</span>
${refused && html`<span class="error" id="month-error">${refused.problem}</span>`}</p>`;
  return form(visit, { action, fields, button: words.issue });
}
