// Promo codes for an operator: what each gives and how often it was used; make one, end one.
import { createPromo, makePromoCode, readPromoCode } from '../../accounts/promos.ts';
import { fault } from '../../base/faults.ts';
import { addDays, findDayStart, parseDay } from '../../money/days.ts';
import { DEFAULT_ZONE } from '../../money/key-limits.ts';
import type { PromoCode } from '../../store/ports/promos.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { checkbox, field, form, message, table } from '../components.ts';
import { type Form, isLine } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords, getFormat } from '../language.ts';
import { type Answer, type Page, page } from '../page.ts';
import { typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Promo codes',
    intro: 'An owner types a code on the wallet page; each account can use it once.',
    none: 'There are no promo codes yet.',
    columns: { code: 'Code', reason: 'Reason', amount: 'Amount', used: 'Used', last: 'Last day', days: 'Bonus lasts' },
    state: 'Status',
    active: 'active',
    ended: 'ended',
    usedUp: 'used up',
    of: (used: string, uses: string) => `${used} of ${uses}`,
    never: 'no limit',
    forGood: 'never expires',
    days: (count: string) => `days: ${count}`,
    create: 'Create a code',
    code: 'Code',
    codeHint: '4 to 40 Latin letters, digits and hyphens. Leave empty for a random code.',
    amount: 'Amount for each account (RUB)',
    uses: 'How many accounts may use it',
    last: 'Last day of the code',
    lastHint: 'In Moscow time. Leave empty for a code that lasts until it is ended or used up.',
    life: 'How many days the bonus lasts',
    lifeHint: 'Leave empty for a bonus that never expires.',
    reason: 'Reason',
    reasonHint: 'Owners see it.',
    opens: 'Can be spent before the first payment',
    make: 'Create',
    endTitle: 'End a code',
    end: (code: string) => `End ${code}`,
    endText: 'Nobody can use it any more. Bonuses already given stay.',
    done: 'Done.',
    older: 'More codes',
    problems: {
      code: 'A code has 4 to 40 Latin letters, digits and hyphens.',
      amount: 'Enter an amount in RUB, such as 1500 or 1500.50.',
      count: 'Enter whole numbers of at least 1.',
      day: 'The last day must be today or later.',
      reason: 'Enter a reason.',
      taken: 'This code already exists.',
    },
  },
  ru: {
    title: 'Промокоды',
    intro: 'Владелец вводит промокод на странице кошелька; каждый аккаунт может применить его один раз.',
    none: 'Промокодов пока нет.',
    columns: {
      code: 'Промокод',
      reason: 'Причина',
      amount: 'Сумма',
      used: 'Применён',
      last: 'Последний день',
      days: 'Срок бонуса',
    },
    state: 'Статус',
    active: 'действует',
    ended: 'завершён',
    usedUp: 'исчерпан',
    of: (used: string, uses: string) => `${used} из ${uses}`,
    never: 'не ограничен',
    forGood: 'бессрочно',
    days: (count: string) => `дней: ${count}`,
    create: 'Новый промокод',
    code: 'Промокод',
    codeHint: 'От 4 до 40 латинских букв, цифр и дефисов. Оставьте пустым, чтобы создать случайный.',
    amount: 'Сумма для каждого аккаунта, ₽',
    uses: 'Сколько аккаунтов могут его применить',
    last: 'Последний день промокода',
    lastHint:
      'По московскому времени. Оставьте пустым, чтобы промокод действовал, пока его не завершат или не исчерпают.',
    life: 'Сколько дней действует бонус',
    lifeHint: 'Оставьте пустым для бессрочного бонуса.',
    reason: 'Причина',
    reasonHint: 'Её увидят владельцы.',
    opens: 'Можно тратить до первого платежа',
    make: 'Создать',
    endTitle: 'Завершить промокод',
    end: (code: string) => `Завершить ${code}`,
    endText: 'Больше никто не сможет его применить. Уже начисленные бонусы останутся.',
    done: 'Готово.',
    older: 'Ещё промокоды',
    problems: {
      code: 'В промокоде от 4 до 40 латинских букв, цифр и дефисов.',
      amount: 'Введите сумму в рублях, например 1500 или 1500,50.',
      count: 'Введите целые числа не меньше 1.',
      day: 'Последний день не может быть раньше сегодняшнего.',
      reason: 'Укажите причину.',
      taken: 'Такой промокод уже есть.',
    },
  },
});

interface WrongField {
  readonly problem: keyof (typeof WORDS)['en']['problems'];
  readonly field: string;
}

const PER_PAGE = 100;
const DAYS_MAX = 3650;

export const adminPromo = page({
  path: '/admin/promo',
  who: 'operator',
  get: (visit) => promoPage(visit),
  async post(visit, sent) {
    switch (sent.text('change')) {
      case 'create': {
        const answer = await createByForm(visit, sent);
        if (!('field' in answer)) return answer;
        const text = WORDS[visit.language].problems[answer.problem];
        return { ...(await promoPage({ ...visit, refused: { sent, text, field: answer.field } })), status: 400 };
      }
      case 'end':
        return endByForm(visit, sent);
      default:
        throw fault('stale_form');
    }
  },
});

async function createByForm(visit: UserVisit, sent: Form): Promise<Answer | WrongField> {
  const { services } = visit;
  const createdAt = services.now();
  // The form's own code, so that a double submission makes one.
  const code = readPromoCode(sent.text('promo') || sent.text('made'));
  if (code === undefined) return { problem: 'code', field: 'promo' };
  const amount = readRub(sent.text('amount'), visit.language);
  const uses = readCount(sent.text('uses'));
  const reason = sent.text('reason');
  if (amount === undefined) return { problem: 'amount', field: 'amount' };
  const days = sent.text('days') === '' ? null : readCount(sent.text('days'));
  if (uses === undefined) return { problem: 'count', field: 'uses' };
  if (days === undefined || (days ?? 0) > DAYS_MAX) return { problem: 'count', field: 'days' };
  const until = sent.text('last') === '' ? null : findEnd(sent.text('last'));
  if (until === undefined || (until !== null && until <= createdAt)) return { problem: 'day', field: 'last' };
  if (!isLine(reason)) return { problem: 'reason', field: 'reason' };
  const promo = createPromo({ code, amount, uses, until, days, opens: sent.has('opens'), reason, createdAt });
  if (!(await services.store.promos.add(promo))) return { problem: 'taken', field: 'promo' };
  const detail = { rub_micro: `${amount}`, uses, until, days, opens: promo.opens, reason };
  await audit(visit, { action: 'promo.create', target: code, detail });
  return { to: '/admin/promo?done=done' };
}

function findEnd(text: string): number | undefined {
  const day = parseDay(text);
  return day === undefined ? undefined : findDayStart(addDays(day, 1), DEFAULT_ZONE);
}

function readCount(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

async function endByForm(visit: UserVisit, sent: Form): Promise<Answer> {
  const { services } = visit;
  const code = sent.text('promo');
  if (!(await services.store.promos.get(code))) throw fault('not_found');
  if (await services.store.promos.end(code, services.now())) await audit(visit, { action: 'promo.end', target: code });
  return { to: '/admin/promo?done=done' };
}

async function promoPage(visit: UserVisit): Promise<Page> {
  const { services, language, query } = visit;
  const words = WORDS[language];
  const codes = await services.store.promos.page({ after: query.get('after') ?? '', limit: PER_PAGE });
  const last = codes.length === PER_PAGE ? codes.at(-1) : undefined;
  const body = html`${query.get('done') === 'done' && message('done', words.done)}
<p>${words.intro}</p>
${codes.length === 0 ? html`<p>${words.none}</p>` : codeTable(visit, codes)}
${last && html`<p><a href="/admin/promo?after=${last.code}" rel="next">${words.older}</a></p>`}
<h2>${words.create}</h2>
${createForm(visit)}
${endForms(visit, codes)}`;
  return { title: words.title, body };
}

function codeTable(visit: UserVisit, codes: readonly PromoCode[]): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const { code, reason, amount, used, last, days } = words.columns;
  const names = [code, words.state, reason, last, days].map((title) => ({ title }));
  const numbers = [amount, used].map((title) => ({ title, number: true }));
  const rows = codes.map((promo) => [
    html`<code>${promo.code}</code>`,
    words[findState(promo, visit.services.now())],
    promo.reason,
    promo.until === null ? words.never : getFormat(language, DEFAULT_ZONE).date(promo.until - 1),
    promo.days === null ? words.forGood : words.days(format.number(promo.days)),
    format.rub(promo.amount),
    words.of(format.number(promo.used), format.number(promo.uses)),
  ]);
  return table(words.title, [...names, ...numbers], rows);
}

function findState({ endedAt, until, used, uses }: PromoCode, now: number): 'ended' | 'usedUp' | 'active' {
  if (endedAt !== null || (until !== null && until <= now)) return 'ended';
  return used >= uses ? 'usedUp' : 'active';
}

function createForm(visit: UserVisit): Html {
  const words = WORDS[visit.language];
  const typed = typedFields(visit, { change: 'create' });
  const fields = html`<input type="hidden" name="change" value="create"><input type="hidden" name="made" value="${makePromoCode()}">
${field({ ...typed('promo'), label: words.code, hint: words.codeHint, optional: true })}
${field({ ...typed('amount'), label: words.amount, inputmode: 'decimal' })}
${field({ ...typed('uses'), label: words.uses, inputmode: 'numeric' })}
${field({ ...typed('reason'), label: words.reason, hint: words.reasonHint })}
${field({ ...typed('last'), label: words.last, type: 'date', hint: words.lastHint, optional: true })}
${field({ ...typed('days'), label: words.life, hint: words.lifeHint, inputmode: 'numeric', optional: true })}
${checkbox({ name: 'opens', label: words.opens, checked: visit.refused?.sent.has('opens') === true })}${codeField(visit, 'promo')}`;
  return form(visit, { action: '/admin/promo', button: words.make, fields });
}

function endForms(visit: UserVisit, codes: readonly PromoCode[]): Html {
  const words = WORDS[visit.language];
  const open = codes.filter((promo) => findState(promo, visit.services.now()) === 'active');
  const forms = open.map(({ code }) =>
    form(visit, {
      action: '/admin/promo',
      button: words.end(code),
      danger: true,
      confirm: `${words.end(code)}? ${words.endText}`,
      fields: html`<input type="hidden" name="change" value="end"><input type="hidden" name="promo" value="${code}">${codeField(visit, `end-${code}`)}`,
    }),
  );
  return html`${
    forms.length > 0 &&
    html`<h2>${words.endTitle}</h2>
<p>${words.endText}</p>`
  }${forms}`;
}
