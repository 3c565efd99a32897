// One-time links: first operator, invitation, forgotten password. Only submitting the form uses up the link.
import { readInvitation } from '../../accounts/members.ts';
import { toClientNetwork } from '../../base/network.ts';
import type { Link, LinkPurpose } from '../../store/ports/sessions.ts';
import type { User } from '../../store/ports/users.ts';
import { allowAtMost, countAttempt } from '../../users/attempts.ts';
import { findPasswordProblem, hashPassword } from '../../users/password.ts';
import { type Enrolment, readEmail } from '../../users/people.ts';
import { getCodeFactor } from '../../users/sign-in.ts';
import { findCodeStep, hashRecoveryCode, isTotpSecret, makeRecoveryCodes, makeTotpSecret } from '../../users/totp.ts';
import { attemptSignIn, recordSignIn } from '../audit.ts';
import { mailSignInChange } from '../change-email.ts';
import { definitionList, field, form, message } from '../components.ts';
import { enrolment } from '../enrolment.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { hasLinkToken, hideLinkToken, linkAction, readLinkToken } from '../link-token.ts';
import { type Answer, type Page, page } from '../page.ts';
import { passwordWords } from '../password-words.ts';
import type { ConsoleServices } from '../services.ts';
import { startSession } from '../start-session.ts';
import type { Visit } from '../visit.ts';
import { describeInvitation, joinPath } from './join.ts';
import { answerLinkRequest, linkRequestPage, signInLink } from './link-request.ts';
import { codesPage } from './recovery-codes.ts';
import { WORDS } from './setup-words.ts';

/** A usable link, and its user if there is one already. */
interface OpenedLink {
  readonly link: Link;
  readonly user: User | undefined;
}

/** Submitted values and their errors by field. */
interface Submitted {
  readonly email?: string;
  readonly secret?: string;
  readonly errors?: Readonly<Partial<Record<'email' | 'password' | 'again' | 'code', string>>>;
}

/** The links that open an account, by registration mode. */
const REGISTERING: Readonly<Record<ConsoleServices['registration'], readonly LinkPurpose[]>> = {
  closed: [],
  invite: ['invite'],
  open: ['invite', 'verify'],
};

function noLinkPage(visit: Visit): Page {
  const words = WORDS[visit.language];
  const { mailer, registration } = visit.services;
  const hasToken = hasLinkToken(visit);
  const isSetup = visit.path === '/setup';
  const byMail = isSetup ? registration === 'open' && '/register' : '/reset';
  const body = html`${hasToken && message('error', words.none)}
${isSetup && html`<p>${words.where} <code>tollgate operator create EMAIL</code></p>`}
${(isSetup || !mailer) && html`<p>${isSetup ? words.use : words.ask}</p>`}
${mailer && byMail && html`<p><a href="${byMail}">${isSetup ? words.invitedTitle : words.anew}</a></p>`}${signInLink(visit)}`;
  return { title: isSetup ? words.title : words.resetTitle, body, status: hasToken ? 404 : 200 };
}

function demoPage(visit: Visit): Page {
  const words = WORDS[visit.language];
  const action = linkAction(visit);
  return {
    title: words.demoTitle,
    body: html`<p>${words.demo}</p>${form(visit, { action, fields: '', button: words.open })}`,
  };
}

async function linkPage(visit: Visit, { link, user }: OpenedLink, sent: Submitted): Promise<Page> {
  const words = WORDS[visit.language];
  if (link.purpose === 'demo') return demoPage(visit);
  const { email, secret = makeTotpSecret(), errors = {} } = sent;
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
      : await describeRecipient(visit, link, link.email),
    field({
      name: 'password',
      label: words.password,
      type: 'password',
      autocomplete: 'new-password',
      hint: passwordWords(visit.language).hint,
      error: errors.password,
    }),
    field({ name: 'again', label: words.again, type: 'password', autocomplete: 'new-password', error: errors.again }),
    needsCode({ link, user }) &&
      field({
        name: 'code',
        label: words.code,
        hint: words.codeHint,
        error: errors.code,
        inputmode: 'numeric',
        autocomplete: 'one-time-code',
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

/** Whom the link is for, and what an invitation offers them. */
async function describeRecipient(visit: Visit, link: Link, email: string): Promise<Html> {
  const invited = link.purpose === 'invite' && link.account !== null ? link.account : undefined;
  const account = invited === undefined ? undefined : await visit.services.store.accounts.get(invited);
  if (account) return describeInvitation(visit, { account, link }, email);
  return definitionList([[WORDS[visit.language].email, email]]);
}

/**
 * The demo account needs only the link, because its money is not real. The link signs in only its guest: other owners
 * have a password, and perhaps accounts with real money.
 */
async function openDemo(visit: Visit, { account, purpose }: Link, token: string): Promise<Answer> {
  const { people, store } = visit.services;
  const email = `${account}@sandbox.invalid`;
  const existing = await store.users.find(email);
  const isGuest =
    !existing || (existing.status === 'active' && existing.password === null && existing.totpSecret === null);
  if (account === null || !isGuest || !(await people.useLink(token))) return refuseLink(visit);
  const user = existing ?? (await people.addGuest(email, account, visit.language));
  if (existing) await people.join(existing, { account, role: 'owner' });
  await recordSignIn(visit, { factor: 'link', result: 'ok', user, detail: { purpose } });
  return { to: '/account', ...(await startSession(visit, user)) };
}

function isOperator({ purpose }: Link): boolean {
  return purpose === 'setup' || purpose === 'operator';
}

/** A mailed link does not replace the second factor. */
function needsCode({ link, user }: OpenedLink): boolean {
  return link.purpose === 'reset' && user !== undefined && user.totpSecret !== null;
}

async function useLink(visit: Visit, sent: Form): Promise<Answer> {
  const { services } = visit;
  const token = readLinkToken(visit);
  const opened = await findUsableLink(visit, token);
  if (!opened) return refuseLink(visit);
  const { link, user: existing } = opened;
  if (link.purpose === 'demo') return openDemo(visit, link, token);
  if (await isForMember(visit, link)) return { to: joinPath(visit) };
  const { again, valid } = await readLinkForm(visit, opened, sent);
  if (!valid) return { ...(await linkPage(visit, opened, again)), status: 400 };
  const { email, password, secret, step } = valid;
  // Hashed before anything is used up, because it may fail as busy.
  const hashed = existing && (await hashPassword(password, existing.id));
  const checked =
    existing && needsCode(opened) ? await checkCode(visit, existing, sent.text('code')) : { user: existing };
  if ('problem' in checked)
    return { ...(await linkPage(visit, opened, { errors: { code: checked.problem } })), status: checked.status };
  if (!(await services.people.useLink(token))) return refuseLink(visit);
  const codes = step === undefined ? [] : makeRecoveryCodes();
  const totp = step === undefined ? undefined : { secret, step, recovery: codes.map(hashRecoveryCode) };
  const user = await saveUserOrRestoreLink(visit, { link, user: checked.user }, { email, password, hashed, totp });
  if (user === 'late') return refuseLink(visit);
  if (user === 'taken') {
    const errors = { email: WORDS[visit.language].taken };
    return { ...(await linkPage(visit, opened, { ...again, errors })), status: 400 };
  }
  await recordSignIn(visit, { factor: 'link', result: 'ok', user, detail: { purpose: link.purpose } });
  if (existing) mailSignInChange(visit, user, link.purpose === 'reset' ? 'password' : 'restored');
  const cookies = await startSession(visit, user, { proven: step !== undefined || needsCode(opened) });
  return codes.length === 0
    ? { to: '/account', ...cookies }
    : { ...codesPage(visit, codes, user.operator ? '/admin' : '/account'), ...cookies };
}

interface ReadLinkForm {
  /** For the form, if it is shown once more. */
  readonly again: Submitted;
  /** Undefined if something is wrong. */
  readonly valid: ValidLinkForm | undefined;
}

interface ValidLinkForm {
  readonly email: string;
  readonly password: string;
  /** Of the authenticator app. */
  readonly secret: string;
  /** The step of the app's code; undefined without an app. */
  readonly step: number | undefined;
}

async function readLinkForm(visit: Visit, { link }: OpenedLink, sent: Form): Promise<ReadLinkForm> {
  const { services, language } = visit;
  const words = WORDS[language];
  const email = link.email ?? readEmail(sent.text('email'));
  const password = sent.secret('password');
  const secret = sent.text('secret');
  const problem = findPasswordProblem(password, [email ?? '']);
  const isReset = link.purpose === 'reset';
  const at = { now: services.now(), lastStep: -1 };
  const step = isTotpSecret(secret) && !isReset ? findCodeStep(secret, sent.text('code'), at) : undefined;
  const wantsApp = !isReset && (isOperator(link) || sent.text('code') !== '');
  const isTaken = email !== undefined && link.user === null && (await services.store.users.find(email)) !== undefined;
  const errors = {
    email: email === undefined ? words.badEmail : isTaken ? words.taken : undefined,
    password: problem && passwordWords(language).problems[problem],
    again: password === sent.secret('again') ? undefined : passwordWords(language).differs,
    code: wantsApp && step === undefined ? words.badCode : undefined,
  };
  const again = { email: sent.text('email'), secret: isTotpSecret(secret) ? secret : undefined, errors };
  const isValid = Object.values(errors).every((error) => error === undefined);
  return { again, valid: isValid && email !== undefined ? { email, password, secret, step } : undefined };
}

/** Throttled like signing in, but without counting the guesses of strangers who have no link. */
async function checkCode(
  visit: Visit,
  user: User,
  code: string,
): Promise<{ readonly user: User } | { readonly problem: string; readonly status: number }> {
  const words = WORDS[visit.language];
  const { address, device, services } = visit;
  const attempt = () => services.signIn.proveCode(user, code, { address, device, hasLink: true });
  const result = await attemptSignIn(visit, { factor: getCodeFactor(code) }, attempt);
  if (result.status === 'ok') return result;
  return result.status === 'wait'
    ? { problem: words.wait(result.seconds), status: 429 }
    : { problem: words.badCode, status: 401 };
}

interface NewCredentials {
  readonly email: string;
  readonly password: string;
  /** The hash of the password, for an existing user. */
  readonly hashed: string | undefined;
  readonly totp: Enrolment | undefined;
}

/** Unknown links logged per network and hour. */
const UNKNOWN_LINKS_MAX = 20;

async function refuseLink(visit: Visit): Promise<Page> {
  const { services, address } = visit;
  const name = allowAtMost(`lost-links:${toClientNetwork(address)}`, UNKNOWN_LINKS_MAX);
  const seconds = await countAttempt(services.store.sessions, [name], services.now());
  await recordSignIn(visit, { factor: 'link', result: seconds > 0 ? 'wait' : 'wrong' });
  return noLinkPage(visit);
}

/** Restores the link if nobody was signed in with it. */
async function saveUserOrRestoreLink(
  visit: Visit,
  opened: OpenedLink,
  credentials: NewCredentials,
): Promise<User | 'taken' | 'late'> {
  const { sessions } = visit.services.store;
  try {
    const user = await saveUser(visit, opened, credentials);
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
async function saveUser(
  { services, language }: Visit,
  { link, user: existing }: OpenedLink,
  { email, password, hashed, totp }: NewCredentials,
): Promise<User | 'taken' | 'late'> {
  const { people } = services;
  if (existing && hashed !== undefined) {
    const enrolled = totp && { totpSecret: totp.secret, totpStep: totp.step, recovery: totp.recovery };
    const changed = { ...existing, ...(link.purpose === 'restore' && NO_APP), ...enrolled };
    if (!(await people.setHash(changed, hashed))) return 'late';
    return { ...changed, password: hashed, version: existing.version + 1 };
  }
  const newUser = { email, password, totp, operator: isOperator(link), language };
  const user = await (link.purpose === 'setup' ? people.addFirstOperator(newUser) : people.add(newUser));
  if (typeof user === 'string') return user;
  if (opensAccount(link)) {
    const { id } = await services.accounts.create(email.slice(0, 100));
    await people.join(user, { account: id, role: 'owner' });
  } else if (link.account !== null) {
    await people.join(user, await readInvitation(services.store.users, link, link.account));
  }
  return user;
}

/** Whether the link opens a new account, with an empty wallet. */
function opensAccount({ purpose, account }: Link): boolean {
  return purpose === 'verify' || (purpose === 'invite' && account === null);
}

/**
 * Undefined if the link is unknown or no longer allowed: registration was closed, or the user was suspended or removed.
 */
async function findUsableLink({ services }: Visit, token: string): Promise<OpenedLink | undefined> {
  const { people, registration, store } = services;
  const link = await people.peekLink(token);
  if (!link || (opensAccount(link) && !REGISTERING[registration].includes(link.purpose))) return undefined;
  if (link.user === null) return { link, user: undefined };
  const user = await store.users.get(link.user);
  return user?.status === 'active' ? { link, user } : undefined;
}

/** An existing user accepts an invitation after signing in. */
async function isForMember({ services }: Visit, { purpose, account, email }: Link): Promise<boolean> {
  if (purpose !== 'invite' || account === null || email === null) return false;
  return (await services.store.users.find(email)) !== undefined;
}

async function openLink(visit: Visit): Promise<Answer> {
  const opened = await findUsableLink(visit, readLinkToken(visit));
  if (!opened) return noLinkPage(visit);
  const hidden = hideLinkToken(visit);
  if (hidden) return hidden;
  return (await isForMember(visit, opened.link)) ? { to: joinPath(visit) } : linkPage(visit, opened, {});
}

export const setup = page({ path: '/setup', who: 'anyone', get: openLink, post: useLink });

export const reset = page({
  path: '/reset',
  who: 'anyone',
  get: (visit) => (asksForEmail(visit) ? linkRequestPage(visit, 'reset') : openLink(visit)),
  post(visit, sent) {
    if (!asksForEmail(visit)) return useLink(visit, sent);
    return answerLinkRequest(visit, 'reset', {
      text: sent.text('email'),
      send: (email) => makeResetToken(visit, email),
    });
  },
});

/** Without a token the page asks for an address to mail a link to, if mail is set up. */
function asksForEmail(visit: Visit): boolean {
  return !hasLinkToken(visit) && visit.services.mailer !== undefined;
}

/** Operators reset their password on the command line, so that their mail account does not give access to the service. */
async function makeResetToken({ services }: Visit, email: string): Promise<string | undefined> {
  const user = await services.store.users.find(email);
  // A guest of the sandbox has no password that could be forgotten.
  if (user?.status !== 'active' || user.operator || user.password === null) return undefined;
  return services.people.makeLink({ purpose: 'reset', user: user.id, email });
}
