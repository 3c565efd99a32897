// Forms that send an email with a link: forgotten password, new account. They answer the same for every address.
import type { LinkPurpose } from '../../store/ports/sessions.ts';
import { readEmail } from '../../users/people.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type LetterKind, letter } from '../letters.ts';
import type { Page } from '../page.ts';
import { field, form, message } from '../parts.ts';
import type { Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    resetTitle: 'Reset your password',
    registerTitle: 'Create an account',
    reset: 'Enter the address you sign in with: we will send you a link to choose a new password.',
    register: 'Enter your address: we will send you a link to choose a password and open your account.',
    email: 'Email',
    button: 'Send a link',
    sent: 'If this address can be used, an email with a link is on its way.',
    badEmail: 'This is not an email address.',
    signIn: 'Back to sign-in',
    wait: (seconds: number) => `Too many letters were asked for. Try again in ${seconds} s.`,
  },
  ru: {
    resetTitle: 'Новый пароль',
    registerTitle: 'Новый аккаунт',
    reset: 'Укажите почту, с которой вы входите: пришлём ссылку, по которой зададите новый пароль.',
    register: 'Укажите почту: пришлём ссылку, по которой зададите пароль и откроете аккаунт.',
    email: 'Почта',
    button: 'Прислать ссылку',
    sent: 'Если этот адрес подходит, письмо со ссылкой уже отправлено.',
    badEmail: 'Это не адрес почты.',
    signIn: 'Вернуться ко входу',
    wait: (seconds: number) => `Писем запрошено слишком много. Повторите через ${seconds} с.`,
  },
});

export type AskKind = 'reset' | 'verify';

export function askPage(
  visit: Visit,
  kind: AskKind,
  shown: { email?: string; problem?: string; sent?: boolean } = {},
): Page {
  const words = WORDS[visit.language];
  const isReset = kind === 'reset';
  const fields = field({
    ...{ name: 'email', label: words.email, type: 'email', autocomplete: 'username' },
    ...{ value: shown.email, error: shown.problem },
  });
  const body = shown.sent
    ? message('done', words.sent)
    : html`<p>${isReset ? words.reset : words.register}</p>
${form(visit, { action: visit.path, fields, button: words.button })}`;
  return { title: isReset ? words.resetTitle : words.registerTitle, body: html`${body}${toSignIn(visit)}` };
}

export function toSignIn({ language }: Visit): Html {
  return html`<p><a href="/login">${WORDS[language].signIn}</a></p>`;
}

/** Emails per hour to one address or from one client. */
const LETTERS_MAX = { mail: 3, address: 20 };
const HOUR_MS = 3_600_000;

/** What the form did; `send` makes the link, or nothing if the address does not qualify. */
export async function answerAsk(
  visit: Visit,
  kind: AskKind,
  { text, send }: { text: string; send: (email: string) => Promise<string | undefined> },
): Promise<Page> {
  const words = WORDS[visit.language];
  const email = readEmail(text);
  if (email === undefined) return { ...askPage(visit, kind, { email: text, problem: words.badEmail }), status: 400 };
  const seconds = await waitFor(visit, email);
  if (seconds > 0) return { ...askPage(visit, kind, { email: text, problem: words.wait(seconds) }), status: 429 };
  // Not awaited: the time it takes would reveal which addresses are known.
  const token = send(email);
  void token
    .then((found) => found !== undefined && sendLink(visit, { kind, email, token: found, purpose: kind }))
    .catch((err: unknown) => visit.services.log.error({ err }, 'could not send an email'));
  return askPage(visit, kind, { sent: true });
}

export interface LinkLetter {
  readonly kind: LetterKind;
  readonly email: string;
  readonly token: string;
  readonly purpose: LinkPurpose;
}

/** Emails a link; false without a mail server, when the operator has to hand the link out. */
export async function sendLink(
  { services, language }: Visit,
  { kind, email, token, purpose }: LinkLetter,
): Promise<boolean> {
  if (!services.mailer) return false;
  const path = purpose === 'reset' ? '/reset' : '/setup';
  const link = `${services.publicUrl()}${path}?token=${token}`;
  await services.mailer.send(letter(kind, email, { language, link }));
  return true;
}

async function waitFor({ services, address }: Visit, email: string): Promise<number> {
  const { sessions } = services.store;
  const now = services.now();
  const names = [
    [`letters:${email}`, LETTERS_MAX.mail] as const,
    [`letters-from:${address}`, LETTERS_MAX.address] as const,
  ];
  const waits = await Promise.all(
    names.map(async ([name, most]) => {
      const { count, lastAt } = await sessions.fail(name, { now, since: now - HOUR_MS });
      return count > most ? lastAt + HOUR_MS - now : 0;
    }),
  );
  return Math.ceil(Math.max(...waits) / 1000);
}
