// Asks a signed-in user for the password and a code before changing how they sign in.
import type { User } from '../store/ports/users.ts';
import { getCodeFactor, type SignInResult } from '../users/sign-in.ts';
import { attemptSignIn } from './audit.ts';
import { field } from './components.ts';
import type { Form } from './forms.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { UserVisit, Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
    password: 'Current password',
    present: 'Code from your current app',
    presentHint: 'Six digits or a recovery code.',
    wrong: 'The current password is wrong.',
    badCode: 'The code is wrong or has already been used.',
    wait: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
  },
  ru: {
    password: 'Текущий пароль',
    present: 'Код из текущего приложения',
    presentHint: 'Шесть цифр или код восстановления.',
    wrong: 'Текущий пароль неверен.',
    badCode: 'Код неверен или уже использован.',
    wait: (seconds: number) => `Слишком много попыток. Повторите через ${seconds}\u00a0с.`,
  },
});

/** Errors by field. */
export type ConfirmProblems = Readonly<Partial<Record<'old' | 'present', string>>>;

type Confirmed = { readonly user: User } | { readonly problems: ConfirmProblems; readonly status: 400 | 429 };

/** The fields that `confirm` reads. `form` keeps ids unique on pages with several forms. */
export function confirmFields({ signedIn, language }: UserVisit, form: string, problems: ConfirmProblems = {}): Html {
  const words = WORDS[language];
  const password = { name: 'old', id: `${form}-old`, label: words.password, type: 'password' } as const;
  const present = { name: 'present', id: `${form}-present`, label: words.present, hint: words.presentHint };
  return html`${field({ ...password, autocomplete: 'current-password', error: problems.old })}
${signedIn.user.totpSecret !== null && field({ ...present, autocomplete: 'one-time-code', error: problems.present })}`;
}

/**
 * Checks the password and, if an app is set up, a code, which is then used up. A session is not enough: it may have been
 * left open.
 */
export async function confirm(visit: UserVisit, sent: Form): Promise<Confirmed> {
  const confirmed = await confirmPassword(visit, sent);
  if ('problems' in confirmed || confirmed.user.totpSecret === null) return confirmed;
  const code = sent.text('present');
  const attempt = () => visit.services.signIn.proveCode(confirmed.user, code, visit);
  const proved = await attemptSignIn(visit, { factor: getCodeFactor(code) }, attempt);
  return toConfirmed(visit, proved, 'present');
}

export async function confirmPassword(visit: UserVisit, sent: Form): Promise<Confirmed> {
  const { user } = visit.signedIn;
  const attempt = () => visit.services.signIn.confirmPassword(user, sent.secret('old'), visit);
  return toConfirmed(visit, await attemptSignIn(visit, { factor: 'password' }, attempt), 'old');
}

function toConfirmed({ language }: Visit, result: SignInResult, name: keyof ConfirmProblems): Confirmed {
  const words = WORDS[language];
  if (result.status === 'ok') return { user: result.user };
  if (result.status === 'wait') return { problems: { [name]: words.wait(result.seconds) }, status: 429 };
  return { problems: { [name]: name === 'old' ? words.wrong : words.badCode }, status: 400 };
}
