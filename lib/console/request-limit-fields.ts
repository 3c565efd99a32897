// The form fields of limits on requests, of a key or of an account.
import { checkRequestLimits } from '../accounts/limits.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { RequestLimits } from '../money/request-limits.ts';
import { field } from './components.ts';
import type { Form } from './forms.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
    perMinute: 'Requests a minute',
    perMinuteHint: 'Leave empty for the limit of the service, which cannot be exceeded.',
    atOnce: 'Calls at once',
    atOnceHint: 'Leave empty for no limit.',
    wait: 'Further calls wait (seconds)',
    waitHint: 'From 1 to 60. Leave empty to refuse them at once.',
    addresses: 'Allowed addresses',
    addressesHint:
      'Where calls may come from: addresses or networks, separated by commas. Leave empty to allow any address.',
    badRequests:
      'Enter a whole number above zero, or leave it empty. Calls can wait only if you limit how many run at once.',
    badAddresses: 'These are not addresses or networks such as 203.0.113.7 or 10.0.0.0/8.',
  },
  ru: {
    perMinute: 'Запросов в минуту',
    perMinuteHint: 'Если поле пустое, действует общий лимит сервиса; задать больше него нельзя.',
    atOnce: 'Запросов одновременно',
    atOnceHint: 'Оставьте пустым, чтобы не ограничивать.',
    wait: 'Остальные ждут очереди, секунд',
    waitHint: 'От 1 до 60. Оставьте пустым, чтобы отклонять их сразу.',
    addresses: 'Разрешённые адреса',
    addressesHint:
      'Адреса или сети, с которых принимаются запросы, через запятую. Оставьте пустым, чтобы не ограничивать.',
    badRequests:
      'Введите целое число больше нуля или оставьте поле пустым. Очередь возможна, только если ограничено число одновременных запросов.',
    badAddresses: 'Это не адреса и не сети вида 203.0.113.7 или 10.0.0.0/8.',
  },
});

/** A wrong field and its error. */
export interface RequestLimitProblem {
  readonly field: 'per_minute' | 'at_once' | 'wait' | 'addresses';
  readonly text: string;
}

interface FieldParts {
  /** Refused input stays in its field. */
  typed(name: string, value: string): string;
  wrong(name: RequestLimitProblem['field']): object;
  /** Instead of the text about a key. */
  readonly perMinuteHint?: string;
}

/** The values of the fields. */
export function showRequestLimits({ perMinute, atOnce, waitSeconds, addresses = [] }: RequestLimits = {}) {
  return {
    per_minute: String(perMinute ?? ''),
    at_once: String(atOnce ?? ''),
    wait: String(waitSeconds ?? ''),
    addresses: addresses.join(', '),
  };
}

export function requestLimitFields(
  { language }: Visit,
  limits: RequestLimits,
  { typed, wrong, perMinuteHint }: FieldParts,
): Html {
  const words = WORDS[language];
  const shown = showRequestLimits(limits);
  const number = (name: RequestLimitProblem['field'], label: string, hint: string) =>
    field({
      name,
      label,
      value: typed(name, shown[name]),
      inputmode: 'numeric',
      hint,
      optional: true,
      ...wrong(name),
    });
  return html`${number('per_minute', words.perMinute, perMinuteHint ?? words.perMinuteHint)}
${number('at_once', words.atOnce, words.atOnceHint)}
${number('wait', words.wait, words.waitHint)}
${field({ name: 'addresses', label: words.addresses, value: typed('addresses', shown.addresses), hint: words.addressesHint, optional: true, ...wrong('addresses') })}`;
}

/** The limits of a submitted form, undefined for none, or the first wrong field. */
export function readRequestLimits({ language }: Visit, sent: Form): RequestLimits | RequestLimitProblem | undefined {
  const words = WORDS[language];
  const number = (name: string) => (sent.text(name) === '' ? undefined : Number(sent.text(name)));
  const rate = { perMinute: number('per_minute') };
  const atOnce = { atOnce: number('at_once') };
  const turns = { ...atOnce, waitSeconds: number('wait') };
  const named = sent
    .text('addresses')
    .split(',')
    .map((address) => address.trim());
  const addresses = named.filter((address) => address !== '');
  if (!isAllowed(rate)) return { field: 'per_minute', text: words.badRequests };
  if (!isAllowed(atOnce)) return { field: 'at_once', text: words.badRequests };
  if (!isAllowed(turns)) return { field: 'wait', text: words.badRequests };
  if (addresses.length > 0 && !isAllowed({ addresses })) return { field: 'addresses', text: words.badAddresses };
  const all = Object.entries({ ...rate, ...turns, ...(addresses.length > 0 && { addresses }) });
  const given = all.filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function isAllowed(limits: RequestLimits): boolean {
  try {
    checkRequestLimits(limits);
    return true;
  } catch (error) {
    if (error instanceof OperatorError) return false;
    throw error;
  }
}
