// One-time links: first operator, invitation, forgotten password. GET only shows the form, which uses up the link.
import { fault } from '../../faults.ts';
import type { Link, LinkPurpose } from '../../store/ports/sessions.ts';
import type { User } from '../../store/ports/users.ts';
import { problemOf } from '../../users/password.ts';
import { type Enrolment, readEmail } from '../../users/people.ts';
import { hashRecoveryCode, isSecret, makeRecoveryCodes, makeSecret, stepOf } from '../../users/totp.ts';
import { enrolment } from '../enrolment.ts';
import type { Form } from '../forms.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { hasLinkToken, hideLinkToken, linkAction, linkToken } from '../link-token.ts';
import { type Answer, type Page, page } from '../page.ts';
import { facts, field, form, message } from '../parts.ts';
import { passwordWords } from '../password-words.ts';
import type { WebServices } from '../services.ts';
import type { Visit } from '../visit.ts';
import { answerAsk, askPage, toSignIn } from './ask-link.ts';
import { codesPage } from './codes.ts';

const WORDS = defineWords({
  en: {
    title: 'Set up your access',
    resetTitle: 'Choose a new password',
    none: 'This link is unknown, has been used or has expired.',
    where: 'To run this service: the first link is printed when the service starts. Another one is printed by',
    use: 'To use it: ask its operator for a link.',
    ask: 'Ask the operator of this service for a new link.',
    operator: 'You will run this service: its accounts, payments and models.',
    email: 'Email',
    password: 'Password',
    again: 'Repeat the password',
    button: 'Save',
    badEmail: 'This is not an email address.',
    taken: 'This address is already in use.',
    badCode: 'The code is wrong or has already been used.',
    invitedTitle: 'Create an account',
    invited: 'New accounts are by invitation: ask the operator of this service for a link.',
    demoTitle: 'Demo account',
    demo: 'See the keys, calls and wallet of the demo account as its owner would.',
    open: 'Open the demo account',
  },
  ru: {
    title: 'Настройка доступа',
    resetTitle: 'Новый пароль',
    none: 'Ссылка неизвестна, уже использована или устарела.',
    where: 'Чтобы управлять сервисом: первая ссылка печатается при его запуске, новую печатает',
    use: 'Чтобы пользоваться им: попросите ссылку у оператора.',
    ask: 'Попросите у оператора сервиса новую ссылку.',
    operator: 'Вы будете управлять сервисом: аккаунтами, платежами и моделями.',
    email: 'Почта',
    password: 'Пароль',
    again: 'Тот же пароль ещё раз',
    button: 'Сохранить',
    badEmail: 'Это не адрес почты.',
    taken: 'Этот адрес уже занят.',
    badCode: 'Код неверен или уже использован.',
    invitedTitle: 'Новый аккаунт',
    invited: 'Новые аккаунты открываются по приглашению: попросите ссылку у оператора сервиса.',
    demoTitle: 'Демо-аккаунт',
    demo: 'Посмотрите ключи, вызовы и деньги демо-аккаунта глазами владельца.',
    open: 'Открыть демо-аккаунт',
  },
});

/** What was submitted and what is wrong with it, by field. */
interface Sent {
  readonly email?: string;
  readonly secret?: string;
  readonly errors?: Readonly<Partial<Record<'email' | 'password' | 'again' | 'code', string>>>;
}

/** The links with which people register. */
const REGISTERING: Readonly<Record<WebServices['registration'], readonly LinkPurpose[]>> = {
  closed: [],
  invite: ['invite'],
  open: ['invite', 'verify'],
};

/** New people and operators also set up an app. */
const IS_RESET: ReadonlySet<string> = new Set(['reset']);

function noLink(visit: Visit, where: 'setup' | 'reset'): Page {
  const words = WORDS[visit.language];
  const hasToken = hasLinkToken(visit);
  const isSetup = where === 'setup';
  const body = html`${hasToken && message('error', words.none)}
${isSetup && html`<p>${words.where} <code>tollgate operator create EMAIL</code></p>`}
<p>${isSetup ? words.use : words.ask}</p>${toSignIn(visit)}`;
  return { title: words.title, body, status: hasToken ? 404 : 200 };
}

function demoPage(visit: Visit): Page {
  const words = WORDS[visit.language];
  const action = linkAction(visit);
  return {
    title: words.demoTitle,
    body: html`<p>${words.demo}</p>${form(visit, { action, fields: '', button: words.open })}`,
  };
}

async function linkPage(visit: Visit, link: Link, { email, secret = makeSecret(), errors = {} }: Sent): Promise<Page> {
  const words = WORDS[visit.language];
  if (link.purpose === 'demo') return demoPage(visit);
  const isReset = IS_RESET.has(link.purpose);
  const fields = [
    link.email === null
      ? field({
          name: 'email',
          label: words.email,
          type: 'email',
          value: email,
          autocomplete: 'username',
          error: errors.email,
        })
      : facts([[words.email, link.email]]),
    field({
      ...{ name: 'password', label: words.password, type: 'password', autocomplete: 'new-password' },
      ...{ hint: passwordWords(visit.language).hint, error: errors.password },
    }),
    field({ name: 'again', label: words.again, type: 'password', autocomplete: 'new-password', error: errors.again }),
    !isReset &&
      (await enrolment(visit, {
        secret,
        email: link.email ?? email ?? '',
        must: isOperator(link),
        error: errors.code,
      })),
  ];
  const action = linkAction(visit);
  return {
    title: isReset ? words.resetTitle : words.title,
    body: html`${isOperator(link) && html`<p>${words.operator}</p>`}${form(visit, { action, fields, button: words.button })}`,
  };
}

/** The sandbox account needs only the link: its money is not real. */
async function openDemo(visit: Visit, link: Link, token: string): Promise<Answer> {
  const { people, sessions, store } = visit.services;
  if (link.account === null || !(await people.take(token))) return noLink(visit, 'setup');
  const [member] = await store.users.membersOf(link.account);
  const known = member && (await store.users.get(member.user));
  const user = known ?? (await people.addGuest(`${link.account}@sandbox.invalid`, link.account, visit.language));
  return { to: '/account', session: await sessions.open(user, visit) };
}

function isOperator({ purpose }: Link): boolean {
  return purpose === 'setup' || purpose === 'operator';
}

async function useLink(visit: Visit, sent: Form): Promise<Answer> {
  const { services, language } = visit;
  const words = WORDS[language];
  const token = linkToken(visit);
  const link = await lookAt(visit, token);
  if (!link) return noLink(visit, 'setup');
  if (link.purpose === 'demo') return openDemo(visit, link, token);
  const email = link.email ?? readEmail(sent.text('email'));
  const [password, secret] = [sent.secret('password'), sent.text('secret')];
  const problem = problemOf(password, [email ?? '']);
  const step = isSecret(secret) ? stepOf(secret, sent.text('code'), { now: services.now(), lastStep: -1 }) : undefined;
  const wantsApp = isOperator(link) || sent.text('code') !== '';
  const isTaken = email !== undefined && link.user === null && (await services.store.users.find(email)) !== undefined;
  const errors = {
    ...(email === undefined && { email: words.badEmail }),
    ...(isTaken && { email: words.taken }),
    ...(problem && { password: passwordWords(language).problems[problem] }),
    ...(password !== sent.secret('again') && { again: passwordWords(language).differs }),
    ...(!IS_RESET.has(link.purpose) && wantsApp && step === undefined && { code: words.badCode }),
  };
  const again = { email: sent.text('email'), ...(isSecret(secret) && { secret }), errors };
  if (email === undefined || Object.keys(errors).length > 0)
    return { ...(await linkPage(visit, link, again)), status: 400 };
  if (!(await services.people.take(token))) return noLink(visit, 'setup');
  const codes = step === undefined ? [] : makeRecoveryCodes();
  const totp = step === undefined ? undefined : { secret, step, recovery: codes.map(hashRecoveryCode) };
  const user = await admit(visit, link, { email, password, totp });
  if (user === 'taken')
    return { ...(await linkPage(visit, link, { ...again, errors: { email: words.taken } })), status: 400 };
  const session = await services.sessions.open(user, visit, { proven: step !== undefined });
  return codes.length === 0
    ? { to: '/account', session }
    : { ...codesPage(visit, codes, user.operator ? '/admin' : '/account'), session };
}

interface Chosen {
  readonly email: string;
  readonly password: string;
  readonly totp: Enrolment | undefined;
}

/** Changes the user the link is for, or creates one in the account of the invitation. */
async function admit({ services, language }: Visit, link: Link, chosen: Chosen): Promise<User | 'taken'> {
  const { people, store } = services;
  const { email, password, totp } = chosen;
  const known = link.user === null ? undefined : await store.users.get(link.user);
  if (known) {
    const enrolled = totp && { totpSecret: totp.secret, totpStep: totp.step, recovery: totp.recovery };
    const changed = { ...known, ...enrolled };
    if (!(await people.setPassword(changed, password))) return 'taken';
    return { ...changed, version: known.version + 1 };
  }
  const user = await people.add({ email, password, ...(totp && { totp }), operator: isOperator(link), language });
  if (user === 'taken') return user;
  const account = registers(link) ? (await services.accounts.create(email.slice(0, 100))).id : link.account;
  if (account !== null) await store.users.join({ user: user.id, account, role: 'owner' });
  return user;
}

/** Whoever registers gets an account of their own, without money. */
function registers({ purpose, account }: Link): boolean {
  return purpose === 'verify' || (purpose === 'invite' && account === null);
}

/** What a link is for, if that is still allowed: registration may have been closed since. */
async function lookAt({ services }: Visit, token: string): Promise<Link | undefined> {
  const { people, registration } = services;
  const link = await people.look(token);
  return link && registers(link) && !REGISTERING[registration].includes(link.purpose) ? undefined : link;
}

async function openLink(visit: Visit, where: 'setup' | 'reset'): Promise<Answer> {
  const link = await lookAt(visit, linkToken(visit));
  if (!link) return noLink(visit, where);
  return hideLinkToken(visit) ?? linkPage(visit, link, {});
}

export const setup = page({ path: '/setup', who: 'anyone', get: (visit) => openLink(visit, 'setup'), post: useLink });

export const reset = page({
  path: '/reset',
  who: 'anyone',
  get: (visit) => (asksForLetter(visit) ? askPage(visit, 'reset') : openLink(visit, 'reset')),
  post(visit, sent) {
    if (!asksForLetter(visit)) return useLink(visit, sent);
    return answerAsk(visit, 'reset', { text: sent.text('email'), send: (email) => resetToken(visit, email) });
  },
});

/** Without a token the page asks for an address to mail a link to, if mail is set up. */
function asksForLetter(visit: Visit): boolean {
  return !hasLinkToken(visit) && visit.services.mailer !== undefined;
}

/**
 * An operator's password is reset on the command line, so that access to their mail does not mean access to the
 * service.
 */
async function resetToken({ services }: Visit, email: string): Promise<string | undefined> {
  const user = await services.store.users.find(email);
  if (user?.status !== 'active' || user.operator) return undefined;
  return services.people.makeLink({ purpose: 'reset', user: user.id, email });
}

export const register = page({
  path: '/register',
  who: 'anyone',
  get: (visit) => invitedPage(visit) ?? askPage(visit, 'verify'),
  post: (visit, sent) =>
    invitedPage(visit) ??
    answerAsk(visit, 'verify', { text: sent.text('email'), send: (email) => registerToken(visit, email) }),
});

/** Instead of the form, if not everybody may create an account. */
function invitedPage(visit: Visit): Page | undefined {
  const { registration } = visit.services;
  if (registration === 'closed') throw fault('not_found');
  if (registration === 'open') return undefined;
  const words = WORDS[visit.language];
  return { title: words.invitedTitle, body: html`<p>${words.invited}</p>${toSignIn(visit)}` };
}

async function registerToken({ services }: Visit, email: string): Promise<string | undefined> {
  if (await services.store.users.find(email)) return undefined;
  return services.people.makeLink({ purpose: 'verify', email });
}
