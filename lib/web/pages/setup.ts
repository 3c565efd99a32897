// One-time links: the first operator, invitations, forgotten passwords. A GET looks at the link, only the form uses it up.
import { toString as drawCode } from 'qrcode';
import type { Link } from '../../store/ports/sessions.ts';
import type { User } from '../../store/ports/users.ts';
import { PASSWORD_LENGTH_MIN, type PasswordProblem, problemOf } from '../../users/password.ts';
import { type Enrolment, readEmail } from '../../users/people.ts';
import { hashRecoveryCode, isSecret, makeRecoveryCodes, makeSecret, secretUrl, stepOf } from '../../users/totp.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Answer, type Page, page } from '../page.ts';
import { facts, field, form, message } from '../parts.ts';
import type { Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Set up your access',
    resetTitle: 'Choose a new password',
    none: 'This link is unknown, used or too old.',
    where: 'The first link is printed at the start of the service. “tollgate operator create EMAIL” prints another.',
    ask: 'Ask the operator of this service for a new link.',
    email: 'Email',
    password: 'Password',
    passwordHint: `At least ${PASSWORD_LENGTH_MIN} characters. A few words are easier to remember than signs.`,
    again: 'The same password again',
    app: 'Authenticator app',
    appMust: 'Operators sign in with a code. Scan this with an authenticator app, then enter the code it shows.',
    appMay: 'Optional: scan this with an authenticator app and enter the code it shows.',
    secret: 'Or type this key into the app',
    code: 'Code',
    button: 'Save',
    badEmail: 'This is not an email address.',
    taken: 'Somebody uses this address already.',
    differs: 'The passwords differ.',
    badCode: 'The code is wrong or was used already.',
    problems: {
      short: `The password is shorter than ${PASSWORD_LENGTH_MIN} characters.`,
      long: 'The password is too long.',
      common: 'This password is one that others guess first. Choose another.',
    } satisfies Record<PasswordProblem, string> as Record<PasswordProblem, string>,
    codesTitle: 'Recovery codes',
    codes: 'Keep these. Each replaces one code of the app, once, should you lose it. They are shown only now.',
    go: 'Continue',
    demoTitle: 'Demo account',
    demo: 'See keys, calls and money of the demo account, as its owner does.',
    open: 'Open the demo account',
  },
  ru: {
    title: 'Настройка доступа',
    resetTitle: 'Новый пароль',
    none: 'Ссылка неизвестна, уже использована или устарела.',
    where: 'Первая ссылка печатается при запуске сервиса. Новую печатает «tollgate operator create EMAIL».',
    ask: 'Попросите у оператора сервиса новую ссылку.',
    email: 'Почта',
    password: 'Пароль',
    passwordHint: `Не меньше ${PASSWORD_LENGTH_MIN} символов. Несколько слов запомнить проще, чем знаки.`,
    again: 'Тот же пароль ещё раз',
    app: 'Приложение с кодами',
    appMust: 'Оператор входит с кодом. Отсканируйте это приложением и введите код, который оно покажет.',
    appMay: 'По желанию: отсканируйте это приложением с кодами и введите код, который оно покажет.',
    secret: 'Или введите в приложение этот ключ',
    code: 'Код',
    button: 'Сохранить',
    badEmail: 'Это не адрес почты.',
    taken: 'Этот адрес уже занят.',
    differs: 'Пароли не совпадают.',
    badCode: 'Код неверен или уже использован.',
    problems: {
      short: `Пароль короче ${PASSWORD_LENGTH_MIN} символов.`,
      long: 'Пароль слишком длинный.',
      common: 'Такой пароль подбирают первым. Выберите другой.',
    } satisfies Record<PasswordProblem, string> as Record<PasswordProblem, string>,
    codesTitle: 'Коды восстановления',
    codes: 'Сохраните их. Каждый один раз заменит код приложения, если оно потеряется. Показаны только сейчас.',
    go: 'Продолжить',
    demoTitle: 'Демо-аккаунт',
    demo: 'Посмотрите ключи, вызовы и деньги демо-аккаунта глазами владельца.',
    open: 'Открыть демо-аккаунт',
  },
});

/** What was sent and what is wrong with it, by field. */
interface Sent {
  readonly email?: string;
  readonly secret?: string;
  readonly errors?: Readonly<Partial<Record<'email' | 'password' | 'again' | 'code', string>>>;
}

/** Those who are new, and those of operators: they choose an app as well. */
const IS_RESET: ReadonlySet<string> = new Set(['reset']);

function noLink(visit: Visit, where: 'setup' | 'reset'): Page {
  const words = WORDS[visit.language];
  const body = html`${message('error', words.none)}<p>${where === 'setup' ? words.where : words.ask}</p>`;
  return { title: words.title, body, status: visit.query.has('token') ? 404 : 200 };
}

function demoPage(visit: Visit): Page {
  const words = WORDS[visit.language];
  const action = `${visit.path}?token=${encodeURIComponent(visit.query.get('token') ?? '')}`;
  return {
    title: words.demoTitle,
    body: html`<p>${words.demo}</p>${form(visit, { action, fields: '', button: words.open })}`,
  };
}

async function linkPage(visit: Visit, link: Link, { email, secret = makeSecret(), errors = {} }: Sent): Promise<Page> {
  const words = WORDS[visit.language];
  if (link.purpose === 'demo') return demoPage(visit);
  const isReset = IS_RESET.has(link.purpose);
  const token = visit.query.get('token') ?? '';
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
      ...{ hint: words.passwordHint, error: errors.password },
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
  const action = `${visit.path}?token=${encodeURIComponent(token)}`;
  return {
    title: isReset ? words.resetTitle : words.title,
    body: form(visit, { action, fields, button: words.button }),
  };
}

/** The account of the sandbox opens with the link alone: its money is not real. */
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

interface EnrolmentParts {
  readonly secret: string;
  readonly email: string;
  readonly must: boolean;
  readonly error: string | undefined;
}

async function enrolment(visit: Visit, { secret, email, must, error }: EnrolmentParts): Promise<Html> {
  const words = WORDS[visit.language];
  const picture = await drawCode(secretUrl(secret, email), { type: 'svg', margin: 2 });
  const source = `data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`;
  return html`<fieldset><legend>${words.app}</legend>
<p>${must ? words.appMust : words.appMay}</p>
<img class="code" src="${source}" alt="${words.app}" width="180" height="180">
<p>${words.secret}: <code>${secret}</code></p>
<input type="hidden" name="secret" value="${secret}">
${field({ name: 'code', label: words.code, inputmode: 'numeric', autocomplete: 'one-time-code', optional: !must, error })}
</fieldset>`;
}

async function useLink(visit: Visit, sent: Form): Promise<Answer> {
  const { services, language } = visit;
  const words = WORDS[language];
  const token = visit.query.get('token') ?? '';
  const link = await services.people.look(token);
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
    ...(problem && { password: words.problems[problem] }),
    ...(password !== sent.secret('again') && { again: words.differs }),
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
  return codes.length === 0 ? { to: '/account', session } : { ...codesPage(visit, codes, user.operator), session };
}

interface Chosen {
  readonly email: string;
  readonly password: string;
  readonly totp: Enrolment | undefined;
}

/** The user that a link was for, changed; or a new one, who belongs to the account of the invitation. */
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
  if (user !== 'taken' && link.account !== null) {
    await store.users.join({ user: user.id, account: link.account, role: 'owner' });
  }
  return user;
}

function codesPage({ language }: Visit, codes: readonly string[], operator: boolean): Page {
  const words = WORDS[language];
  const body = html`<p>${words.codes}</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a class="button" href="${operator ? '/admin' : '/account'}">${words.go}</a></p>`;
  return { title: words.codesTitle, body };
}

const linkRoute = (path: string, where: 'setup' | 'reset') =>
  page({
    path,
    who: 'anyone',
    async get(visit) {
      const link = await visit.services.people.look(visit.query.get('token') ?? '');
      return link ? linkPage(visit, link, {}) : noLink(visit, where);
    },
    post: useLink,
  });

export const setup = linkRoute('/setup', 'setup');
export const reset = linkRoute('/reset', 'reset');
