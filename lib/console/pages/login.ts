// Signing in and out.
import { readEmail } from '../../users/people.ts';
import { getCodeFactor } from '../../users/sign-in.ts';
import { attemptSignIn } from '../audit.ts';
import { field, form, message } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Page, page } from '../page.ts';
import { startSession } from '../start-session.ts';
import type { Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Sign in',
    email: 'Email',
    password: 'Password',
    code: 'Code from your authenticator app',
    codeHint: 'Six digits or a recovery code. Leave empty if you do not use an app.',
    button: 'Sign in',
    wrong: 'Wrong email, password or code.',
    wait: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
    unsent:
      'Your session had ended, so the form was not sent. Sign in, then go back twice in the browser: what you typed should still be there.',
    lost: 'Forgot your password? Ask the operator of this service for a new link.',
    forgot: 'Forgot your password?',
    register: 'Create an account',
    invited: 'New accounts are by invitation only: ask the operator of this service.',
  },
  ru: {
    title: 'Вход',
    email: 'Почта',
    password: 'Пароль',
    code: 'Код из приложения-аутентификатора',
    codeHint: 'Шесть цифр или код восстановления. Оставьте пустым, если двухэтапный вход не настроен.',
    button: 'Войти',
    wrong: 'Неверная почта, пароль или код.',
    wait: (seconds: number) => `Слишком много попыток. Повторите через ${seconds}\u00a0с.`,
    unsent:
      'Сеанс закончился, и форма не отправлена. Войдите и дважды нажмите «Назад» в браузере: введённое должно сохраниться.',
    lost: 'Забыли пароль? Попросите у оператора сервиса новую ссылку.',
    forgot: 'Забыли пароль?',
    register: 'Создать аккаунт',
    invited: 'Новые аккаунты открываются только по приглашению: попросите его у оператора сервиса.',
  },
});

/** Path prefixes that a visitor may be sent back to. */
const NEXT = /^\/(?:account|admin)(?:[/?][\w\-./?&=%,~+]*)?$/;

function loginPage(visit: Visit, { email = '', problem }: { email?: string; problem?: string }): Page {
  const words = WORDS[visit.language];
  const next = visit.query.get('next');
  const action = next === null ? '/login' : `/login?next=${encodeURIComponent(next)}`;
  const fields = [
    field({
      name: 'email',
      label: words.email,
      type: 'email',
      value: email,
      autocomplete: 'username',
      autofocus: true,
    }),
    field({ name: 'password', label: words.password, type: 'password', autocomplete: 'current-password' }),
    field({
      name: 'code',
      label: words.code,
      hint: words.codeHint,
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
      optional: true,
    }),
  ];
  const isUnsent = visit.query.has('unsent') && next !== null && NEXT.test(next);
  const note = problem ?? (isUnsent ? words.unsent : undefined);
  const body = html`${note !== undefined && message('error', note)}
${form(visit, { action, fields, button: words.button })}
${renderFurtherLinks(visit)}`;
  return { title: words.title, body };
}

function renderFurtherLinks({ services, language }: Visit): Html {
  const words = WORDS[language];
  const { mailer, registration } = services;
  const invited = registration === 'invite' && html`<p class="hint">${words.invited}</p>`;
  if (!mailer) return html`<p class="hint">${words.lost}</p>${invited}`;
  const register = registration === 'open' && html` · <a href="/register">${words.register}</a>`;
  return html`<p><a href="/reset">${words.forgot}</a>${register}</p>${invited}`;
}

/** What browsers take for a way out of these paths. */
const LEAVES = /\/\/|\.\./;

/** A path of ours; anything else leads to the overview. */
function safeRedirectTarget(text: string | null, operator: boolean): string {
  const start = operator ? '/admin' : '/account';
  return text !== null && NEXT.test(text) && !LEAVES.test(text) ? text : start;
}

export const login = page({
  path: '/login',
  who: 'anyone',
  get: (visit) => loginPage(visit, {}),
  async post(visit, sent) {
    const { services, query, language } = visit;
    const words = WORDS[language];
    const email = sent.text('email');
    const code = sent.text('code');
    const credentials = { email, password: sent.secret('password'), code, client: visit };
    // Only an address is logged: some type their password there by mistake.
    const typed = readEmail(email);
    const detail = typed === undefined ? {} : { email: typed };
    const event = { factor: code === '' ? ('password' as const) : getCodeFactor(code), detail };
    const result = await attemptSignIn(visit, event, () => services.signIn.signIn(credentials));
    if (result.status === 'wait')
      return {
        ...loginPage(visit, { email, problem: words.wait(result.seconds) }),
        status: 429,
        retryAfterS: result.seconds,
      };
    if (result.status === 'wrong') return { ...loginPage(visit, { email, problem: words.wrong }), status: 401 };
    const { user, proven } = result;
    const cookies = await startSession(visit, user, { proven });
    if (visit.signedIn) await services.sessions.end(visit.signedIn.session.hash);
    return { to: safeRedirectTarget(query.get('next'), user.operator), ...cookies };
  },
});

export const logout = page({
  path: '/logout',
  who: 'user',
  async post({ services, signedIn }) {
    await services.sessions.end(signedIn.session.hash);
    return { to: '/login', session: null };
  },
});
