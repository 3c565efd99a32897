// The authenticator app in a user's settings: set up, replace, remove, renew recovery codes. Each asks for the password
// and a code of the current app.
import type { User } from '../../store/ports/users.ts';
import { findCodeStep, hashRecoveryCode, isTotpSecret, makeRecoveryCodes, makeTotpSecret } from '../../users/totp.ts';
import { audit } from '../audit.ts';
import { mailSignInChange, type SignInChange } from '../change-email.ts';
import { foldAway, form, message } from '../components.ts';
import { type ConfirmProblems, confirm, confirmFields } from '../confirm.ts';
import { enrolment } from '../enrolment.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { Page, Redirect } from '../page.ts';
import { renewSession } from '../start-session.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { codesPage } from './recovery-codes.ts';

const WORDS = defineWords({
  en: {
    title: 'Two-step sign-in',
    has: 'On: signing in requires a code from your app.',
    codesLeft: (count: number) => `Recovery codes left: ${count}`,
    add: 'Set up an app',
    replace: 'Switch to another app',
    done: 'Continue',
    codes: 'New recovery codes',
    codesText: 'Your current codes will stop working.',
    makeCodes: 'Create new codes',
    remove: 'Turn off two-step sign-in',
    removeText: 'Signing in will require only the password.',
    badCode: 'The code is wrong or has already been used.',
    conflict: 'The settings have changed in the meantime. Try again.',
    removed: 'Two-step sign-in is off. All other sessions have ended.',
  },
  ru: {
    title: 'Двухэтапный вход',
    has: 'Включён: для входа нужен код из приложения.',
    codesLeft: (count: number) => `Осталось кодов восстановления: ${count}`,
    add: 'Настроить приложение',
    replace: 'Сменить приложение',
    done: 'Продолжить',
    codes: 'Новые коды восстановления',
    codesText: 'Текущие коды перестанут действовать.',
    makeCodes: 'Создать новые коды',
    remove: 'Отключить двухэтапный вход',
    removeText: 'Для входа будет нужен только пароль.',
    badCode: 'Код неверен или уже использован.',
    conflict: 'Настройки за это время изменились. Попробуйте ещё раз.',
    removed: 'Двухэтапный вход отключён. На остальных устройствах выполнен выход.',
  },
});

const CHANGES = ['app', 'codes', 'app_off'] as const;
export type AppChange = (typeof CHANGES)[number];

export function isAppChange(text: string): text is AppChange {
  return (CHANGES as readonly string[]).includes(text);
}

/** The errors of one of the forms. */
export interface AppProblem {
  readonly change: AppChange;
  readonly problems: ConfirmProblems & { readonly code?: string; readonly form?: string };
  /** Of the app that is being set up. */
  readonly secret?: string | undefined;
}

type AppOutcome = { readonly answer: Page | Redirect } | { readonly problem: AppProblem; readonly status: 400 | 429 };

/** Undefined for a guest, who has no password to confirm changes with. */
export async function appSection(visit: OwnerVisit, problem?: AppProblem): Promise<Html | undefined> {
  const words = WORDS[visit.language];
  const { user } = visit.signedIn;
  if (user.password === null) return undefined;
  const hasApp = user.totpSecret !== null;
  const findProblems = (change: AppChange) => (problem?.change === change ? problem.problems : {});
  const { secret = makeTotpSecret() } = problem ?? {};
  const setUp = await enrolment(visit, { secret, email: user.email, must: true, error: findProblems('app').code });
  return html`<h2>${words.title}</h2>
${hasApp && html`<p>${words.has} ${words.codesLeft(user.recovery.length)}</p>`}
${appForm(visit, { change: 'app', title: hasApp ? words.replace : words.add, button: words.done, problem, fields: setUp })}
${hasApp && appForm(visit, { change: 'codes', title: words.codes, button: words.makeCodes, problem, fields: html`<p>${words.codesText}</p>` })}
${hasApp && !user.operator && appForm(visit, { change: 'app_off', title: words.remove, button: words.remove, problem, fields: html`<p>${words.removeText}</p>`, danger: true })}`;
}

interface AppFormParts {
  readonly change: AppChange;
  readonly title: string;
  readonly button: string;
  readonly problem: AppProblem | undefined;
  readonly fields: Html;
  readonly danger?: boolean;
}

/** Open if it has an error. */
function appForm(visit: OwnerVisit, { change, title, button, problem, fields, danger = false }: AppFormParts): Html {
  const mine = problem?.change === change ? problem.problems : undefined;
  const action = linkTo(visit, '/account/settings');
  const all = html`<input type="hidden" name="change" value="${change}">${fields}${confirmFields(visit, change, mine)}`;
  const body = html`${mine?.form !== undefined && message('error', mine.form)}
${form(visit, { action, button, fields: all, danger })}`;
  return foldAway(title, body, mine !== undefined);
}

export function appRemoved({ language }: OwnerVisit): string {
  return WORDS[language].removed;
}

export async function changeApp(visit: OwnerVisit, change: AppChange, sent: Form): Promise<AppOutcome> {
  const { user } = visit.signedIn;
  if (change === 'app') return setUp(visit, sent);
  // Their forms are shown only with an app, and an operator's app may not be removed.
  if (user.totpSecret === null || (change === 'app_off' && user.operator)) return createConflictOutcome(visit, change);
  const confirmed = await confirm(visit, sent);
  if ('problems' in confirmed) return refused(change, confirmed);
  if (change === 'app_off') return remove(visit, confirmed.user);
  const codes = makeRecoveryCodes();
  const changed = { ...confirmed.user, recovery: codes.map(hashRecoveryCode) };
  return finish(visit, changed, { change, mailed: 'codes', codes });
}

async function setUp(visit: OwnerVisit, sent: Form): Promise<AppOutcome> {
  const { services, signedIn, language } = visit;
  if (signedIn.user.password === null) return createConflictOutcome(visit, 'app');
  const secret = sent.text('secret');
  const at = { now: services.now(), lastStep: -1 };
  const step = isTotpSecret(secret) ? findCodeStep(secret, sent.text('code'), at) : undefined;
  const again = isTotpSecret(secret) ? { secret } : {};
  if (step === undefined)
    return { problem: { change: 'app', problems: { code: WORDS[language].badCode }, ...again }, status: 400 };
  const confirmed = await confirm(visit, sent);
  if ('problems' in confirmed) return refused('app', confirmed, again);
  const codes = makeRecoveryCodes();
  const recovery = codes.map(hashRecoveryCode);
  const changed = { ...confirmed.user, totpSecret: secret, totpStep: step, recovery };
  const mailed = signedIn.user.totpSecret === null ? 'app' : 'app_replaced';
  return finish(visit, changed, { change: 'app', mailed: mailed, codes });
}

function remove(visit: OwnerVisit, user: User): Promise<AppOutcome> {
  const changed = { ...user, totpSecret: null, totpStep: -1, recovery: [] };
  return finish(visit, changed, { change: 'app_off', mailed: 'app_removed', codes: [] });
}

interface Ending {
  readonly change: AppChange;
  readonly mailed: SignInChange;
  readonly codes: readonly string[];
}

/** Saves the change unless the user has changed meanwhile, ends all other sessions, and mails the user. */
async function finish(visit: OwnerVisit, user: User, { change, mailed, codes }: Ending): Promise<AppOutcome> {
  const { people, sessions } = visit.services;
  const session = await renewSession(visit, async (kept) => {
    if (!(await people.change(user))) return false;
    await sessions.endAll(user.id, kept);
    return true;
  });
  if (session === undefined) return createConflictOutcome(visit, change);
  await audit(visit, { action: `user.${change}`, target: user.id });
  mailSignInChange(visit, user, mailed);
  const back = linkTo(visit, '/account/settings');
  if (codes.length > 0) return { answer: { ...codesPage(visit, codes, back), session } };
  return { answer: { to: linkTo(visit, '/account/settings?done=app_off'), session } };
}

function createConflictOutcome({ language }: OwnerVisit, change: AppChange): AppOutcome {
  return { problem: { change, problems: { form: WORDS[language].conflict } }, status: 400 };
}

function refused(
  change: AppChange,
  { problems, status }: { readonly problems: ConfirmProblems; readonly status: 400 | 429 },
  again: { readonly secret?: string } = {},
): AppOutcome {
  return { problem: { change, problems, ...again }, status };
}
