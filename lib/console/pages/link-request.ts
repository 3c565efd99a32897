// Forms that send an email with a link: forgotten password, new account. They answer the same for every address.
import { HOUR_MS } from '../../base/durations.ts';
import { toClientNetwork } from '../../base/network.ts';
import type { LinkPurpose } from '../../store/ports/sessions.ts';
import type { User } from '../../store/ports/users.ts';
import { allowHourly, type CountedName, countAttempt, uncountAttempt } from '../../users/attempts.ts';
import { readEmail } from '../../users/people.ts';
import { recordSignIn } from '../audit.ts';
import { field, form, message } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type LinkEmailKind, writeLinkEmail } from '../link-email.ts';
import type { Page } from '../page.ts';
import type { Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    resetTitle: 'Reset your password',
    registerTitle: 'Create an account',
    reset: 'Enter the email you sign in with, and we will send you a link to set a new password.',
    register: 'Enter your email, and we will send you a link to set a password and open your account.',
    email: 'Email',
    button: 'Send a link',
    sent: 'If this address can be used, an email with a link is on its way.',
    known: 'If you already have access with this address, no email is sent: sign in, or',
    forgot: 'set a new password',
    badEmail: 'Enter a valid email address.',
    signIn: 'Back to sign-in',
    wait: (seconds: number) =>
      `Too many emails were requested. The links already sent still work; request another in ${seconds} s.`,
  },
  ru: {
    resetTitle: 'Сброс пароля',
    registerTitle: 'Регистрация',
    reset: 'Укажите почту, с которой входите: пришлём ссылку, чтобы задать новый пароль.',
    register: 'Укажите почту: пришлём ссылку, чтобы задать пароль и открыть аккаунт.',
    email: 'Почта',
    button: 'Прислать ссылку',
    sent: 'Если этот адрес подходит, письмо со ссылкой уже отправлено.',
    known: 'Если с этой почтой у вас уже есть доступ, письма не будет: войдите или',
    forgot: 'задайте новый пароль',
    badEmail: 'Введите корректный адрес почты.',
    signIn: 'Вернуться ко входу',
    wait: (seconds: number) =>
      `Запрошено слишком много писем. Ссылки из них ещё действуют; новую можно запросить через ${seconds}\u00a0с.`,
  },
});

type LinkRequestKind = 'reset' | 'verify';

export function linkRequestPage(
  visit: Visit,
  kind: LinkRequestKind,
  state: { email?: string; problem?: string; sent?: boolean } = {},
): Page {
  const words = WORDS[visit.language];
  const isReset = kind === 'reset';
  const fields = field({
    name: 'email',
    label: words.email,
    type: 'email',
    autocomplete: 'username',
    value: state.email,
    error: state.problem,
  });
  const body = state.sent
    ? html`${message('done', words.sent)}${!isReset && html`<p class="hint">${words.known} <a href="/reset">${words.forgot}</a>.</p>`}`
    : html`<p>${isReset ? words.reset : words.register}</p>
${form(visit, { action: visit.path, fields, button: words.button })}`;
  return { title: isReset ? words.resetTitle : words.registerTitle, body: html`${body}${signInLink(visit)}` };
}

export function signInLink({ language }: Visit): Html {
  return html`<p><a href="/login">${WORDS[language].signIn}</a></p>`;
}

/** Emails per hour to one address or from one client. */
const EMAILS_MAX = { mail: 3, address: 20 };
const FACTORS = { reset: 'reset', verify: 'register' } as const;

/** Answers the form; `send` creates the token, or none if the address does not qualify. */
export async function answerLinkRequest(
  visit: Visit,
  kind: LinkRequestKind,
  { text, send }: { text: string; send: (email: string) => Promise<string | undefined> },
): Promise<Page> {
  const words = WORDS[visit.language];
  const email = readEmail(text);
  if (email === undefined)
    return { ...linkRequestPage(visit, kind, { email: text, problem: words.badEmail }), status: 400 };
  const { store, log, now, mailer } = visit.services;
  const user = await store.users.find(email);
  const names = await listCountedNames(visit, { kind, email, user });
  const seconds = await countAttempt(store.sessions, names, now());
  const event = { factor: FACTORS[kind], user, detail: { email } };
  await recordSignIn(visit, { ...event, result: seconds > 0 ? 'wait' : 'ok' });
  if (seconds > 0) {
    const problem = words.wait(Math.min(seconds, secondsLeft(now())));
    return { ...linkRequestPage(visit, kind, { email: text, problem }), status: 429 };
  }
  const deliver = async () => {
    const token = await send(email);
    if (token === undefined) await mailer?.check();
    else await sendLink(visit, { kind, email, token, purpose: kind });
  };
  // Not awaited: the time it takes would reveal which addresses are known.
  void deliver()
    .catch(async (err: unknown) => {
      log.error({ err }, 'could not send an email');
      // An email that failed does not count; nor one that would have failed, or the wait would tell who is known.
      await uncountAttempt(store.sessions, names);
    })
    .catch((err: unknown) => log.warn({ err }, 'could not take back the count of an email'));
  return linkRequestPage(visit, kind, { sent: true });
}

interface LinkEmail {
  readonly kind: LinkEmailKind;
  readonly email: string;
  readonly token: string;
  readonly purpose: LinkPurpose;
}

/** Emails a link; false without a mail server, when the operator has to hand the link out. */
export async function sendLink(
  { services, language }: Visit,
  { kind, email, token, purpose }: LinkEmail,
): Promise<boolean> {
  if (!services.mailer) return false;
  const path = purpose === 'reset' ? '/reset' : '/setup';
  const link = `${services.publicUrl()}${path}?token=${token}`;
  await services.mailer.send(writeLinkEmail(kind, email, { language, link }));
  return true;
}

/**
 * The counters of an email. Each kind has its own, because an address with an account never gets the email to register.
 * On a known device of the owner, emails that strangers requested do not count.
 */
async function listCountedNames(
  { services, address, device: token }: Visit,
  linkRequest: LinkRequest,
): Promise<readonly CountedName[]> {
  const { kind, email, user } = linkRequest;
  const device = await services.devices.find(user, token);
  const counted = (whose: string, max: number) => allowHourly(`letters:${kind}:${whose}`, max, services.now());
  if (device) return [counted(device.hash, EMAILS_MAX.mail)];
  return [counted(toClientNetwork(address), EMAILS_MAX.address), counted(email, EMAILS_MAX.mail)];
}

interface LinkRequest {
  readonly kind: LinkRequestKind;
  readonly email: string;
  readonly user: User | undefined;
}

/** Until the next hour, when the counters start again. */
function secondsLeft(now: number): number {
  return Math.ceil((HOUR_MS - (now % HOUR_MS)) / 1000);
}
