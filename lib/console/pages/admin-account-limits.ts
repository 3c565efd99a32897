// The limits on the requests of an account: a form on its page for operators.
import type { Account } from '../../store/ports/accounts.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { foldAway, form } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import {
  type RequestLimitProblem,
  readRequestLimits,
  requestLimitFields,
  showRequestLimits,
} from '../request-limit-fields.ts';
import { reopenForm, shownField } from '../shown-values.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Limits on requests',
    hint: 'For all keys of the account together. They take effect within a second.',
    perMinute:
      'Leave empty to apply the limit of the service to each key. A higher number lets keys make more requests than that.',
    button: 'Change the limits',
  },
  ru: {
    title: 'Ограничения запросов',
    hint: 'Для всех ключей аккаунта вместе; вступают в силу в течение секунды.',
    perMinute:
      'Оставьте пустым, чтобы для каждого ключа действовал общий лимит сервиса. Большее число разрешит ключам больше запросов.',
    button: 'Изменить ограничения',
  },
});

export interface RefusedLimits {
  readonly sent: Form;
  readonly problem: RequestLimitProblem;
}

export function accountLimitsForm(visit: UserVisit, { id, requests = {} }: Account, refused?: RefusedLimits): Html {
  const words = WORDS[visit.language];
  const typed = (name: string, value: string) => (refused?.sent.has(name) ? refused.sent.text(name) : value);
  const wrong = (name: RequestLimitProblem['field']) =>
    refused?.problem.field === name ? { error: refused.problem.text, autofocus: true } : {};
  const limits = form(visit, {
    action: `/admin/accounts/${id}`,
    button: words.button,
    fields: html`<input type="hidden" name="change" value="limits"><p class="hint">${words.hint}</p>
${shownField(showRequestLimits(requests), refused?.sent)}${requestLimitFields(visit, requests, { typed, wrong, perMinuteHint: words.perMinute })}${codeField(visit, 'limits')}`,
  });
  return foldAway(words.title, limits, refused !== undefined || Object.keys(requests).length > 0);
}

/** Resolves to the wrong field of the form, if any. */
export async function changeAccountLimits(
  visit: UserVisit,
  { id, requests }: Account,
  sent: Form,
): Promise<RefusedLimits | undefined> {
  const limits = readRequestLimits(visit, reopenForm(sent, showRequestLimits(requests)));
  if (limits && 'field' in limits) return { sent, problem: limits };
  await visit.services.accounts.limit(id, limits);
  await audit(visit, { action: 'account.limit', target: id, account: id, detail: limits });
  return undefined;
}
