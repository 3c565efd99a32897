// One-time links: first operator, invitation, forgotten password. GET only shows the form, which uses up the link.
import { fault } from '../../base/faults.ts';
import { toClientNetwork } from '../../base/network.ts';
import type { Link, LinkPurpose } from '../../store/ports/sessions.ts';
import type { User } from '../../store/ports/users.ts';
import { countAttempt, waitsAfter } from '../../users/attempts.ts';
import { hashPassword, problemOf } from '../../users/password.ts';
import { type Enrolment, readEmail } from '../../users/people.ts';
import { codeFactorOf } from '../../users/sign-in.ts';
import { hashRecoveryCode, isSecret, makeRecoveryCodes, makeSecret, stepOf } from '../../users/totp.ts';
import { attemptSignIn, recordSignIn } from '../audit.ts';
import { tellOfChange } from '../change-letter.ts';
import { enrolment } from '../enrolment.ts';
import { enter } from '../enter.ts';
import type { Form } from '../forms.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { hasLinkToken, hideLinkToken, linkAction, linkToken } from '../link-token.ts';
import { type Answer, type Page, page } from '../page.ts';
import { definitionList, field, form, message } from '../parts.ts';
import { passwordWords } from '../password-words.ts';
import type { WebServices } from '../services.ts';
import type { Visit } from '../visit.ts';
import { answerAsk, askPage, toSignIn } from './ask-link.ts';
import { codesPage } from './codes.ts';
import { joinPath } from './join.ts';

const WORDS = defineWords({
  en: {
    title: 'Set up your access',
    resetTitle: 'Choose a new password',
    none: 'This link is unknown, used or expired.',
    where: 'If you run this service: the first link is printed when it starts. Create another with',
    use: 'If you use this service: ask its operator for a link.',
    ask: 'Ask the operator of this service for a new link.',
    operator: 'You will run this service: its accounts, payments and models.',
    email: 'Email',
    password: 'Password',
    again: 'Repeat the password',
    code: 'Code from your authenticator app',
    button: 'Save',
    badEmail: 'Enter a valid email address.',
    taken: 'This email is already in use.',
    badCode: 'The code is wrong or has already been used.',
    codeHint: 'Six digits from the app, or a recovery code.',
    wait: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
    restore:
      'Choose a new password. Your current authenticator app and recovery codes will stop working; you can set up an app again here.',
    invitedTitle: 'Create an account',
    invited: 'New accounts are by invitation only: ask the operator of this service for a link.',
    demoTitle: 'Demo account',
    demo: 'Explore the keys, calls and wallet of the demo account as its owner.',
    open: 'Open the demo account',
  },
  ru: {
    title: 'Настройка доступа',
    resetTitle: 'Новый пароль',
    none: 'Ссылка неизвестна, уже использована или устарела.',
    where: 'Если вы управляете сервисом: первая ссылка выводится при его запуске. Новую создаёт команда',
    use: 'Если вы пользуетесь сервисом: попросите ссылку у оператора.',
    ask: 'Попросите у оператора сервиса новую ссылку.',
    operator: 'Вы будете управлять сервисом: аккаунтами, платежами и моделями.',
    email: 'Почта',
    password: 'Пароль',
    again: 'Повторите пароль',
    code: 'Код из приложения-аутентификатора',
    button: 'Сохранить',
    badEmail: 'Введите корректный адрес почты.',
    taken: 'Эта почта уже занята.',
    badCode: 'Код неверен или уже использован.',
    codeHint: 'Шесть цифр из приложения или код восстановления.',
    wait: (seconds: number) => `Слишком много попыток. Повторите через ${seconds} с.`,
    restore:
      'Задайте новый пароль. Прежние приложение-аутентификатор и коды восстановления перестанут действовать; здесь же можно настроить приложение заново.',
    invitedTitle: 'Регистрация',
    invited: 'Новые аккаунты открываются только по приглашению: попросите ссылку у оператора сервиса.',
    demoTitle: 'Демо-аккаунт',
    demo: 'Посмотрите ключи, запросы и кошелёк демо-аккаунта глазами владельца.',
    open: 'Открыть демо-аккаунт',
  },
});

/** A link that may be used, and the person it is for if there is one already. */
interface Opened {
  readonly link: Link;
  readonly user: User | undefined;
}

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

const HOUR_MS = 3_600_000;

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

async function linkPage(visit: Visit, { link, user }: Opened, sent: Sent): Promise<Page> {
  const words = WORDS[visit.language];
  if (link.purpose === 'demo') return demoPage(visit);
  const { email, secret = makeSecret(), errors = {} } = sent;
  const isReset = link.purpose === 'reset';
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
      : definitionList([[words.email, link.email]]),
    field({
      ...{ name: 'password', label: words.password, type: 'password', autocomplete: 'new-password' },
      ...{ hint: passwordWords(visit.language).hint, error: errors.password },
    }),
    field({ name: 'again', label: words.again, type: 'password', autocomplete: 'new-password', error: errors.again }),
    asksCode({ link, user }) &&
      field({
        ...{ name: 'code', label: words.code, hint: words.codeHint, error: errors.code },
        ...{ inputmode: 'numeric', autocomplete: 'one-time-code' },
      }),
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
    title: isReset || link.purpose === 'restore' ? words.resetTitle : words.title,
    body: html`${isOperator(link) && html`<p>${words.operator}</p>`}${link.purpose === 'restore' && html`<p>${words.restore}</p>`}${form(visit, { action, fields, button: words.button })}`,
  };
}

/**
 * The sandbox account needs only the link: its money is not real. Nobody but its guest is let in by it: other owners
 * have a password, and perhaps an app and accounts whose money is.
 */
async function openDemo(visit: Visit, { account, purpose }: Link, token: string): Promise<Answer> {
  const { people, store } = visit.services;
  const email = `${account}@sandbox.invalid`;
  const known = await store.users.find(email);
  const isGuest = !known || (known.status === 'active' && known.password === null && known.totpSecret === null);
  if (account === null || !isGuest || !(await people.take(token))) return refuseLink(visit);
  const user = known ?? (await people.addGuest(email, account, visit.language));
  if (known) await people.join(known, account);
  await recordSignIn(visit, { factor: 'link', result: 'ok', user, detail: { purpose } });
  return { to: '/account', ...(await enter(visit, user)) };
}

function isOperator({ purpose }: Link): boolean {
  return purpose === 'setup' || purpose === 'operator';
}

/** A mailed link alone is no second factor. */
function asksCode({ link, user }: Opened): boolean {
  return link.purpose === 'reset' && user !== undefined && user.totpSecret !== null;
}

async function useLink(visit: Visit, sent: Form): Promise<Answer> {
  const { services, language } = visit;
  const words = WORDS[language];
  const token = linkToken(visit);
  const opened = await lookAt(visit, token);
  if (!opened) return refuseLink(visit);
  const { link, user: known } = opened;
  if (link.purpose === 'demo') return openDemo(visit, link, token);
  if (await isForMember(visit, link)) return { to: joinPath(visit) };
  const email = link.email ?? readEmail(sent.text('email'));
  const [password, secret] = [sent.secret('password'), sent.text('secret')];
  const problem = problemOf(password, [email ?? '']);
  const isReset = link.purpose === 'reset';
  const at = { now: services.now(), lastStep: -1 };
  const step = isSecret(secret) && !isReset ? stepOf(secret, sent.text('code'), at) : undefined;
  const wantsApp = !isReset && (isOperator(link) || sent.text('code') !== '');
  const isTaken = email !== undefined && link.user === null && (await services.store.users.find(email)) !== undefined;
  const errors = {
    ...(email === undefined && { email: words.badEmail }),
    ...(isTaken && { email: words.taken }),
    ...(problem && { password: passwordWords(language).problems[problem] }),
    ...(password !== sent.secret('again') && { again: passwordWords(language).differs }),
    ...(wantsApp && step === undefined && { code: words.badCode }),
  };
  const again = { email: sent.text('email'), ...(isSecret(secret) && { secret }), errors };
  if (email === undefined || Object.keys(errors).length > 0)
    return { ...(await linkPage(visit, opened, again)), status: 400 };
  // Before anything is used up: there may be no room for it now.
  const hashed = known && (await hashPassword(password, known.id));
  const proved = known && asksCode(opened) ? await prove(visit, known, sent.text('code')) : { user: known };
  if ('problem' in proved)
    return { ...(await linkPage(visit, opened, { errors: { code: proved.problem } })), status: proved.status };
  if (!(await services.people.take(token))) return refuseLink(visit);
  const codes = step === undefined ? [] : makeRecoveryCodes();
  const totp = step === undefined ? undefined : { secret, step, recovery: codes.map(hashRecoveryCode) };
  const user = await admitOnce(visit, { link, user: proved.user }, { email, password, hashed, totp });
  if (user === 'late') return refuseLink(visit);
  if (user === 'taken')
    return { ...(await linkPage(visit, opened, { ...again, errors: { email: words.taken } })), status: 400 };
  await recordSignIn(visit, { factor: 'link', result: 'ok', user, detail: { purpose: link.purpose } });
  if (known) tellOfChange(visit, user, link.purpose === 'reset' ? 'password' : 'restored');
  const cookies = await enter(visit, user, { proven: step !== undefined || asksCode(opened) });
  return codes.length === 0
    ? { to: '/account', ...cookies }
    : { ...codesPage(visit, codes, user.operator ? '/admin' : '/account'), ...cookies };
}

/** The same waits apply as for signing in, apart from what strangers without the link have guessed. */
async function prove(
  visit: Visit,
  user: User,
  code: string,
): Promise<{ readonly user: User } | { readonly problem: string; readonly status: number }> {
  const words = WORDS[visit.language];
  const { address, device, services } = visit;
  const attempt = () => services.signIn.proveCode(user, code, { address, device, hasLink: true });
  const result = await attemptSignIn(visit, { factor: codeFactorOf(code) }, attempt);
  if (result.status === 'ok') return result;
  return result.status === 'wait'
    ? { problem: words.wait(result.seconds), status: 429 }
    : { problem: words.badCode, status: 401 };
}

interface Chosen {
  readonly email: string;
  readonly password: string;
  /** The same, if it is for somebody who is there already. */
  readonly hashed: string | undefined;
  readonly totp: Enrolment | undefined;
}

/** Unknown links cost nothing, so only some of those of one network are written down. */
const LOST_MAX = 20;

async function refuseLink(visit: Visit): Promise<Page> {
  const { services, address } = visit;
  const name = {
    name: `lost-links:${toClientNetwork(address)}`,
    waitsMs: waitsAfter(LOST_MAX, [HOUR_MS]),
    windowMs: HOUR_MS,
  };
  const seconds = await countAttempt(services.store.sessions, [name], services.now());
  await recordSignIn(visit, { factor: 'link', result: seconds > 0 ? 'wait' : 'wrong' });
  return noLink(visit, 'setup');
}

/** A link that was taken and let nobody in is as good as before. */
async function admitOnce(visit: Visit, opened: Opened, chosen: Chosen): Promise<User | 'taken' | 'late'> {
  const { sessions } = visit.services.store;
  try {
    const user = await admit(visit, opened, chosen);
    if (user === 'taken') await sessions.addLink(opened.link);
    return user;
  } catch (error) {
    await sessions.addLink(opened.link);
    throw error;
  }
}

const NO_APP = { totpSecret: null, totpStep: -1, recovery: [] };

/**
 * Changes the user the link is for, or creates one in the account of the invitation. `late`: the user changed in the
 * meantime, or somebody else is the first operator.
 */
async function admit(
  { services, language }: Visit,
  { link, user: known }: Opened,
  { email, password, hashed, totp }: Chosen,
): Promise<User | 'taken' | 'late'> {
  const { people } = services;
  if (known && hashed !== undefined) {
    const enrolled = totp && { totpSecret: totp.secret, totpStep: totp.step, recovery: totp.recovery };
    const changed = { ...known, ...(link.purpose === 'restore' && NO_APP), ...enrolled };
    if (!(await people.setHash(changed, hashed))) return 'late';
    return { ...changed, password: hashed, version: known.version + 1 };
  }
  const wanted = { email, password, ...(totp && { totp }), operator: isOperator(link), language };
  const user = await (link.purpose === 'setup' ? people.addFirstOperator(wanted) : people.add(wanted));
  if (typeof user === 'string') return user;
  const account = registers(link) ? (await services.accounts.create(email.slice(0, 100))).id : link.account;
  if (account !== null) await people.join(user, account);
  return user;
}

/** Whoever registers gets an account of their own, without money. */
function registers({ purpose, account }: Link): boolean {
  return purpose === 'verify' || (purpose === 'invite' && account === null);
}

/**
 * What a link is for, if that is still allowed: registration may have been closed since, or the person may have been
 * suspended or removed.
 */
async function lookAt({ services }: Visit, token: string): Promise<Opened | undefined> {
  const { people, registration, store } = services;
  const link = await people.look(token);
  if (!link || (registers(link) && !REGISTERING[registration].includes(link.purpose))) return undefined;
  if (link.user === null) return { link, user: undefined };
  const user = await store.users.get(link.user);
  return user?.status === 'active' ? { link, user } : undefined;
}

/** Who has access already accepts an invitation after signing in. */
async function isForMember({ services }: Visit, { purpose, account, email }: Link): Promise<boolean> {
  if (purpose !== 'invite' || account === null || email === null) return false;
  return (await services.store.users.find(email)) !== undefined;
}

async function openLink(visit: Visit, where: 'setup' | 'reset'): Promise<Answer> {
  const opened = await lookAt(visit, linkToken(visit));
  if (!opened) return noLink(visit, where);
  const hidden = hideLinkToken(visit);
  if (hidden) return hidden;
  return (await isForMember(visit, opened.link)) ? { to: joinPath(visit) } : linkPage(visit, opened, {});
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
  // A guest of the sandbox has no password that could be forgotten.
  if (user?.status !== 'active' || user.operator || user.password === null) return undefined;
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
