// The limits of a key on its pages (form fields, display, changes) and key rotation.

import { NEW_KEYS_MAX, ROTATION_HOURS_MAX } from '../../accounts/accounts.ts';
import { checkLimits, type RequestedLimits } from '../../accounts/limits.ts';
import { fault } from '../../base/faults.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { type BudgetSum, getBudgetKeyId, getSpent } from '../../money/budget.ts';
import { type KeyLimits, NO_LIMITS, RESETS } from '../../money/key-limits.ts';
import { formatRub } from '../../money/money.ts';
import { findMoment, findPeriod, formatMoment } from '../../money/period.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { field, form, message, select, usual } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { isActive } from '../latest-keys.ts';
import { type Page, page } from '../page.ts';
import { typedFields } from '../refused-form.ts';
import {
  type RequestLimitProblem,
  readRequestLimits,
  requestLimitFields,
  showRequestLimits,
} from '../request-limit-fields.ts';
import { reopenForm, shownField } from '../shown-values.ts';
import { isVisibleKey } from '../visible-keys.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: (name: string) => `Limits of “${name}”`,
    budget: 'Budget (RUB)',
    budgetHint: 'The most the key may spend until the budget resets. Leave empty for no limit.',
    reset: 'Budget resets',
    resets: { none: 'never', day: 'every day', week: 'every week', month: 'every month' },
    expires: 'Disable the key on',
    expiresHint: 'From the start of this day the key is rejected for good. Leave empty to keep it.',
    users: 'Budget of each end user (RUB)',
    usersHint:
      'For an app with users of its own, named in the field user, safety_identifier or metadata.user_id of each call. Leave empty for no limit.',
    usersReset: 'Budgets of end users reset',
    perUser: 'per end user',
    models: 'Models',
    modelsHint: 'If none is ticked, the key may use all models.',
    save: 'Save',
    badBudget: 'Enter an amount above zero, such as 500 or 99.50, or leave it empty.',
    badDay: 'Choose a future date, or leave it empty.',
    badModels: 'These are not model IDs.',
    badHours: (most: number) => `Enter a whole number of hours, from 1 to ${most}.`,
    unknown: (names: string) => `Unknown model: ${names}.`,
    shared: (keys: string) => `The budget is shared with ${keys}: a change applies to all of them.`,
    rotate: 'Rotate',
    rotateTitle: 'Rotate this key',
    rotateHint: 'A new key with the same name and limits is created; both spend the same budget.',
    hours: 'The old key works for (hours)',
    all: 'all',
    never: 'never',
    noBudget: 'no limit',
    issued: 'Copy the key now: it is shown only once.',
    full: `There can be ten active keys, and ${NEW_KEYS_MAX} new ones within 24 hours. Revoke one first.`,
    ended: 'This key has just expired or been revoked: nothing was changed.',
    revoke: 'Revoke this key',
    usersLink: 'End users of this key',
    back: 'Back to keys',
  },
  ru: {
    title: (name: string) => `Ограничения ключа «${name}»`,
    budget: 'Бюджет, ₽',
    budgetHint: 'Сколько ключ может потратить, пока бюджет не обновится. Оставьте пустым, чтобы не ограничивать.',
    reset: 'Обновлять бюджет',
    resets: { none: 'не обновлять', day: 'каждый день', week: 'каждую неделю', month: 'каждый месяц' },
    expires: 'Отключить ключ с даты',
    expiresHint: 'С начала этого дня ключ перестанет работать навсегда. Оставьте пустым, если не нужно.',
    users: 'Бюджет каждого пользователя, ₽',
    usersHint:
      'Для приложения со своими пользователями: их имена передаются в поле user, safety_identifier или metadata.user_id каждого запроса. Оставьте пустым, чтобы не ограничивать.',
    usersReset: 'Обновлять бюджеты пользователей',
    perUser: 'на пользователя',
    models: 'Модели',
    modelsHint: 'Если не отмечена ни одна, ключу доступны все модели.',
    save: 'Сохранить',
    badBudget: 'Введите сумму больше нуля, например 500 или 99,50, или оставьте поле пустым.',
    badDay: 'Выберите дату в будущем или оставьте поле пустым.',
    badModels: 'Это не названия моделей.',
    badHours: (most: number) => `Введите целое число часов, от 1 до ${most}.`,
    unknown: (names: string) => `Нет такой модели: ${names}.`,
    shared: (keys: string) => `Бюджет общий с ${keys}: изменение действует на все эти ключи.`,
    rotate: 'Перевыпустить',
    rotateTitle: 'Перевыпустить ключ',
    rotateHint: 'Будет создан ключ с тем же названием и ограничениями; бюджет у них общий.',
    hours: 'Старый ключ работает ещё, часов',
    all: 'все',
    never: 'бессрочный',
    noBudget: 'без ограничения',
    issued: 'Скопируйте ключ: он показан только один раз.',
    full: `Действующих ключей может быть десять, новых за сутки — ${NEW_KEYS_MAX}. Сначала отзовите один.`,
    ended: 'Этот ключ только что отозван или истёк: ничего не изменилось.',
    revoke: 'Отозвать этот ключ',
    usersLink: 'Пользователи этого ключа',
    back: 'Назад к ключам',
  },
});

/** A wrong field and its error. */
export interface LimitProblem {
  readonly field: 'budget' | 'users' | RequestLimitProblem['field'] | 'expires' | 'models';
  readonly text: string;
}

/** A refused form and its error. */
interface Refused {
  readonly sent: Form;
  readonly problem?: LimitProblem;
}

/** The values of the form fields of limits. */
function showLimits({ format }: OwnerVisit, limits: KeyLimits) {
  const { budget, reset, models, endUsers } = limits;
  return {
    budget: budget === null ? '' : format.rubTyped(budget),
    reset,
    users: endUsers ? format.rubTyped(endUsers.cap) : '',
    users_reset: endUsers?.reset ?? 'month',
    ...showRequestLimits(limits.requests),
    expires: formatExpiryDay(limits),
    models: joinModels(models ?? []),
  };
}

/** The form fields of limits, filled in; ids are unique when a page has several forms. */
export function limitFields(visit: OwnerVisit, limits: KeyLimits, refused?: Refused): Html {
  const words = WORDS[visit.language];
  const shown = showLimits(visit, limits);
  /** Refused input stays in its field. */
  const typed = (name: string, value: string) => (refused?.sent.has(name) ? refused.sent.text(name) : value);
  const wrong = (name: LimitProblem['field']) =>
    refused?.problem?.field === name ? { error: refused.problem.text, autofocus: true } : {};
  const options = RESETS.map((name) => [name, words.resets[name]] as const);
  return html`${field({ name: 'budget', label: words.budget, value: typed('budget', shown.budget), inputmode: 'decimal', hint: words.budgetHint, optional: true, ...wrong('budget') })}
${select({ name: 'reset', label: words.reset, chosen: typed('reset', shown.reset) }, options)}
${field({ name: 'users', label: words.users, value: typed('users', shown.users), inputmode: 'decimal', hint: words.usersHint, optional: true, ...wrong('users') })}
${select({ name: 'users_reset', label: words.usersReset, chosen: typed('users_reset', shown.users_reset) }, options)}
${requestLimitFields(visit, limits.requests ?? {}, { typed, wrong })}
${shownField(shown, refused?.sent)}
${field({ name: 'expires', label: words.expires, type: 'date', value: typed('expires', shown.expires), hint: words.expiresHint, optional: true, ...wrong('expires') })}
${modelChoices(visit, refused ? readModels(visit, refused.sent, limits) : (limits.models ?? []), wrong('models').error)}`;
}

/** A box for each model on sale, and for the others that the key may use. */
function modelChoices(
  { services, language }: OwnerVisit,
  chosen: readonly string[],
  error: string | undefined,
): Html | undefined {
  const words = WORDS[language];
  const onSale = services.catalog().models.filter(({ routes }) => routes.length > 0);
  const names = new Set([...onSale.map(({ id }) => id), ...chosen]);
  if (names.size === 0) return undefined;
  const boxes = [...names].map(
    (name) =>
      html`<li><label><input name="models" type="checkbox" value="${name}"${chosen.includes(name) && html` checked`}> ${name}</label></li>`,
  );
  return html`<fieldset aria-describedby="models-hint"><legend>${words.models}</legend>
<p class="hint" id="models-hint">${words.modelsHint}</p>
${error !== undefined && html`<p class="error" role="alert">${error}</p>`}
<ul class="ticks">${boxes}</ul></fieldset>`;
}

/** Boxes that are ticked, or names with commas between them, unless a model is named so. */
function readModels({ services }: OwnerVisit, sent: Form, { models }: KeyLimits): readonly string[] {
  const isName = (text: string) => services.catalog().byName.has(text) || models?.includes(text) === true;
  const names = sent.all('models').flatMap((text) => (isName(text) ? [text] : text.split(',')));
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** As one value of a form. A name has no white space, because limits refuse that. */
function joinModels(names: readonly string[]): string {
  return names.toSorted().join('\n');
}

function splitModels(text: string): readonly string[] {
  return text.split('\n').filter((name) => name !== '');
}

function formatExpiryDay({ expiresAt, zone }: KeyLimits): string {
  return expiresAt === null ? '' : formatMoment(expiresAt, zone).slice(0, 10);
}

/** The limits of a submitted form, or the first wrong field; `before` are the current limits. */
export function readLimits(visit: OwnerVisit, form: Form, before: KeyLimits): RequestedLimits | LimitProblem {
  const models = joinModels(readModels(visit, form, before));
  const sent = reopenForm(
    { ...form, text: (name) => (name === 'models' ? models : form.text(name)) },
    showLimits(visit, before),
  );
  const words = WORDS[visit.language];
  const budget = sent.text('budget');
  const reset = sent.text('reset') || 'none';
  const day = sent.text('expires');
  const most = budget === '' ? null : readRub(budget, visit.language);
  const wall = day === '' ? null : Date.parse(`${day}T00:00:00Z`);
  const found = RESETS.find((name) => name === reset);
  if (most === undefined || found === undefined) return { field: 'budget', text: words.badBudget };
  const requests = sent.has('per_minute') ? readRequestLimits(visit, sent) : before.requests;
  if (requests && 'field' in requests) return requests;
  const endUsers = readUserLimit(visit, sent, before);
  if (endUsers === null) return { field: 'users', text: words.badBudget };
  if (Number.isNaN(wall)) return { field: 'expires', text: words.badDay };
  // An expiry that a rotation has set is not at the start of its day.
  const expiresAt =
    day === formatExpiryDay(before) ? before.expiresAt : wall === null ? null : findMoment(wall, before.zone);
  const named = splitModels(sent.text('models'));
  const { byName } = visit.services.catalog();
  const unknown = named.filter((name) => !byName.has(name) && !before.models?.includes(name));
  if (unknown.length > 0) return { field: 'models', text: words.unknown(unknown.join(', ')) };
  const ids = named.map((name) => byName.get(name)?.id ?? name);
  const limits = {
    budget: most,
    reset: found,
    expiresAt,
    models: ids.length === 0 ? null : ids,
    endUsers,
    requests,
  };
  try {
    checkLimits(limits, visit.services.now());
    return limits;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const isPast = expiresAt !== null && expiresAt <= visit.services.now();
    return isPast ? { field: 'expires', text: words.badDay } : { field: 'models', text: words.badModels };
  }
}

/** Undefined for no budget of end users, null for a wrong one; a form without the field changes nothing. */
function readUserLimit({ language }: OwnerVisit, sent: Form, before: KeyLimits): KeyLimits['endUsers'] | null {
  if (!sent.has('users')) return before.endUsers;
  const text = sent.text('users');
  if (text === '') return undefined;
  const cap = readRub(text, language);
  const reset = RESETS.find((name) => name === (sent.text('users_reset') || 'none'));
  return cap === undefined || cap <= 0n || reset === undefined ? null : { cap, reset };
}

/** The limits of a key in the table: the budget with its bar, the last day, the models. */
export function limitCells(visit: OwnerVisit, { limits, name }: KeyRow, sum: BudgetSum | undefined): readonly Html[] {
  const words = WORDS[visit.language];
  const { format, services } = visit;
  const { budget, reset, expiresAt, models, endUsers } = limits;
  const spent = getSpent(sum, findPeriod(services.now(), limits).start);
  const bar =
    budget !== null &&
    html`<meter min="0" max="${Number(budget)}" value="${Number(spent)}" aria-label="${name}"></meter><br>`;
  return [
    html`${
      budget === null
        ? words.noBudget
        : html`${bar}${format.rub(spent)} / ${format.rub(budget)}${reset !== 'none' && html`, ${words.resets[reset]}`}`
    }${endUsers && html`<br>${format.rub(endUsers.cap)} ${words.perUser}${endUsers.reset !== 'none' && html`, ${words.resets[endUsers.reset]}`}`}`,
    expiresAt === null ? usual(words.never) : html`${format.time(expiresAt)}`,
    models === null ? usual(words.all) : html`${models.join(', ')}`,
  ];
}

/** An active key of this account that the visitor sees; any other is a 404. */
export async function activeKey(visit: OwnerVisit): Promise<KeyRow> {
  const key = await visit.services.store.keys.get(String(visit.request.params.id));
  if (key?.account !== visit.account.id || !isVisibleKey(visit, key.id) || !isActive(visit, key))
    throw fault('not_found');
  return key;
}

export const keyLimits = page({
  path: '/account/keys/{id}/limits',
  who: 'account',
  get: async (visit) => limitsPage(visit, await activeKey(visit)),
  async post(visit, sent) {
    const key = await activeKey(visit);
    const limits = readLimits(visit, sent, key.limits);
    if ('field' in limits)
      return { ...(await limitsPage(visit, key, { refused: { sent, problem: limits } })), status: 400 };
    const { expiresAt, ...rest } = limits;
    try {
      await visit.services.accounts.limitKey(key.id, expiresAt === key.limits.expiresAt ? rest : limits);
    } catch (error) {
      const problem = { field: 'expires', text: WORDS[visit.language].badDay } as const;
      return refusedPage(visit, key, error, { refused: { sent, problem } });
    }
    await audit(visit, { action: 'key.limit', target: key.id, detail: toAuditDetail(limits) });
    return { to: linkTo(visit, '/account/keys') };
  },
});

/** Without bigints, which the audit log cannot store. */
export function toAuditDetail({ budget, endUsers, requests, ...rest }: RequestedLimits): Record<string, unknown> {
  const users = endUsers && { userBudget: formatRub(endUsers.cap), userReset: endUsers.reset };
  return { ...rest, budget: budget === null ? null : formatRub(budget), ...users, ...requests };
}

/** Issues the new key first, so that the account is never left without one. */
export const rotateKey = page({
  path: '/account/keys/{id}/rotate',
  who: 'account',
  formOn: '/account/keys',
  async post(visit, sent) {
    const words = WORDS[visit.language];
    const { accounts } = visit.services;
    const key = await activeKey(visit);
    const hours = Number(sent.text('hours') || Number.NaN);
    if (!Number.isInteger(hours) || hours < 1 || hours > ROTATION_HOURS_MAX) {
      const wrong = { sent, text: words.badHours(ROTATION_HOURS_MAX), field: 'hours' };
      return { ...(await limitsPage({ ...visit, refused: wrong }, key)), status: 400 };
    }
    try {
      const issued = await accounts.rotateKey(key.id, hours);
      await audit(visit, { action: 'key.rotate', target: key.id, detail: { to: issued.id, hours } });
      const state = html`${words.issued}<br><code class="key" data-copy>${issued.key}</code>`;
      const body = html`${message('done', state)}
<p><a href="${linkTo(visit, '/account/keys')}">${words.back}</a></p>`;
      return { title: words.rotateTitle, body };
    } catch (error) {
      return refusedPage({ ...visit, refused: { sent, text: words.full, field: 'hours' } }, key, error);
    }
  },
});

/** The key may have ended since it was read. */
async function refusedPage(visit: OwnerVisit, key: KeyRow, error: unknown, state: PageState = {}): Promise<Page> {
  if (!(error instanceof OperatorError)) throw error;
  const now = await visit.services.store.keys.get(key.id);
  if (now && isActive(visit, now)) return { ...(await limitsPage(visit, key, state)), status: 400 };
  const words = WORDS[visit.language];
  const body = html`${message('error', words.ended)}
<p><a href="${linkTo(visit, '/account/keys')}">${words.back}</a></p>`;
  return { title: words.title(key.name), body, status: 400 };
}

interface PageState {
  readonly refused?: Refused;
}

async function limitsPage(visit: OwnerVisit, key: KeyRow, { refused }: PageState = {}): Promise<Page> {
  const words = WORDS[visit.language];
  const path = linkTo(visit, `/account/keys/${encodeURIComponent(key.id)}`);
  const to = (what: string) => linkTo(visit, `/account/keys/${encodeURIComponent(key.id)}/${what}`);
  const hours = field({
    ...typedFields(visit, {})('hours', '24'),
    label: words.hours,
    inputmode: 'numeric',
    hint: words.rotateHint,
  });
  const sharing = (await visit.services.store.keys.list(key.account)).filter(
    (other) => other.id !== key.id && getBudgetKeyId(other) === getBudgetKeyId(key) && isActive(visit, other),
  );
  const names = sharing.map(({ last4 }) => `…${last4}`).join(', ');
  const body = html`${names !== '' && html`<p class="hint">${words.shared(names)}</p>`}
${form(visit, { action: to('limits'), fields: limitFields(visit, key.limits, refused), button: words.save })}
<h2>${words.rotateTitle}</h2>
${form(visit, { action: to('rotate'), fields: hours, button: words.rotate })}
<p>${key.limits.endUsers && html`<a href="${to('users')}">${words.usersLink}</a> · `}<a href="${path}">${words.revoke}</a> · <a href="${linkTo(visit, '/account/keys')}">${words.back}</a></p>`;
  return { title: words.title(key.name), body };
}

/** The default limits of a new key. */
export const defaultLimits = (visit: OwnerVisit): KeyLimits => ({ ...NO_LIMITS, zone: visit.zone });
