// Pages as routes: who may visit, what a form must carry, and how a page's answer is sent.
import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { fault } from '../base/faults.ts';
import type { Session } from '../store/ports/sessions.ts';
import { DEVICE_DAYS } from '../users/devices.ts';
import { getCodeFactor } from '../users/sign-in.ts';
import type { AccountPath } from './access.ts';
import { attemptSignIn } from './audit.ts';
import { type CodeProblem, codePage } from './code-page.ts';
import { dropCookie, type NewCookie, setCookie } from './cookie.ts';
import { csrfToken, type Form, refuseForeign } from './forms.ts';
import { type Html, html } from './html.ts';
import { isLanguage } from './language.ts';
import { layout } from './layout.ts';
import { lowBalanceBar } from './low-balance-bar.ts';
import { noAccountPage } from './no-account.ts';
import { choosePageStyle } from './response-style.ts';
import type { ConsoleServices } from './services.ts';
import {
  hasRecentCode,
  type OwnerVisit,
  openAccount,
  openForm,
  openVisit,
  type UserVisit,
  type Visit,
} from './visit.ts';

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** 200 if absent. */
  readonly status?: number;
  /** Without links to other pages, which a visitor without an account does not have. */
  readonly isAlone?: boolean;
  /** What a 429 says in `retry-after`, s. */
  readonly retryAfterS?: number;
  /** A session that starts with it. */
  readonly session?: string;
  /** The device it starts on. */
  readonly device?: string;
}

/** A 303 to another of our pages. */
export interface Redirect {
  readonly to: string;
  /** A session that starts with it; `null` ends the current one. */
  readonly session?: string | null;
  /** The device it starts on. */
  readonly device?: string;
  readonly cookie?: NewCookie;
}

/** A file, such as a CSV table. */
export interface Download {
  readonly type: string;
  readonly name: string;
  readonly content: NodeJS.ReadableStream | string;
}

/** The answer was already written, or the client has left. */
interface Written {
  readonly written: true;
}

export type Answer = Page | Redirect | Download | Written;

/** `anyone`: no sign-in; `account`: has an account, with a role that includes the page; `operator`: runs the service. */
interface Visitors {
  readonly anyone: Visit;
  readonly user: UserVisit;
  readonly account: OwnerVisit;
  readonly operator: UserVisit;
}

export type Who = keyof Visitors;

interface PageRoute<Of extends Who> {
  readonly path: Of extends 'account' ? AccountPath : string;
  readonly who: Of;
  readonly get?: (visit: Visitors[Of]) => Promise<Answer> | Answer;
  /** Handles the form; GET changes nothing. */
  readonly post?: (visit: Visitors[Of], form: Form) => Promise<Answer> | Answer;
  /** Without `get`: the page with the form, where the other languages and a sign-in lead. */
  readonly formOn?: string;
  /** Runs before the form is read; may throw, or answer instead. */
  readonly beforeForm?: (visit: Visitors[Of]) => Promise<Answer | undefined>;
  /** The file field of a form that takes images, or a bank statement. */
  readonly imageField?: string;
  /** Reads everything of an account, and has the stricter limit of files. */
  readonly isFile?: boolean;
}

export type PageRoutes = (services: ConsoleServices) => readonly ServerRoute[];

/** The routes of a page, for one or both methods. */
export function page<Of extends Who>(route: PageRoute<Of>): PageRoutes {
  const { path, who, get, post, formOn } = route;
  return (services) => {
    const routes: ServerRoute[] = [];
    const add = (method: 'GET' | 'POST', answer: (visit: Visitors[Of]) => Promise<Answer>) =>
      routes.push({
        method,
        path,
        handler: createHandler(answer),
        options: { auth: false, app: { who }, plugins: { style: choosePageStyle(services) } },
      });
    const createHandler =
      (answer: (visit: Visitors[Of]) => Promise<Answer>) => async (request: Request, h: ResponseToolkit) => {
        const opened = await openVisit(request, services);
        const visit = formOn === undefined ? opened : { ...opened, path: formOn };
        const admitted = await admitVisitor(visit, route);
        if (!isVisit(admitted)) return send(h, visit, admitted);
        await limitVisits(visit, route);
        return send(h, admitted, await addBar(admitted, await answer(admitted as Visitors[Of])));
      };
    if (get) add('GET', async (visit) => get(visit));
    if (post) add('POST', async (visit) => answerForm(visit, { ...route, post }));
    return routes;
  };
}

/** Operators are not limited; signing in has limits of its own. */
async function limitVisits({ signedIn, services }: Visit, { who, isFile }: Pick<PageRoute<Who>, 'who' | 'isFile'>) {
  if (!signedIn || who === 'anyone' || who === 'operator') return;
  await services.visitLimit.hit('page', signedIn.user.id);
  if (isFile) await services.visitLimit.hit('file', signedIn.user.id);
}

/** After signing in, the visitor returns to the page asked for, where nothing was done yet. */
function loginPath({ request, path, query }: Visit): string {
  const kept = new URLSearchParams(query);
  kept.delete('done');
  const ofForm = kept.size > 0 ? `?${kept.toString()}` : '';
  const isForm = request.method !== 'get';
  const next = `${path}${isForm ? ofForm : request.url.search}`;
  return `/login?next=${encodeURIComponent(next)}${isForm ? '&unsent=yes' : ''}`;
}

/** Resolves to an answer for visitors who have to sign in or have no account. */
async function admitVisitor(
  visit: Visit,
  { who, path }: { readonly who: Who; readonly path: string },
): Promise<Visit | Answer> {
  if (who === 'anyone') return visit;
  const { signedIn, query } = visit;
  if (!signedIn) return { to: loginPath(visit) };
  const user: UserVisit = { ...visit, signedIn };
  if (who === 'operator' && !signedIn.user.operator) throw fault('not_found');
  if (who !== 'account') return user;
  const opened = await openAccount(user, path);
  if (opened) return opened;
  if (!signedIn.user.operator) return noAccountPage(user);
  if (query.has('account')) throw fault('not_found');
  return { to: '/admin' };
}

function isVisit(admitted: Visit | Answer): admitted is Visit {
  return 'request' in admitted;
}

interface FormRoute<V extends Visit> {
  readonly path: string;
  readonly who: Who;
  readonly post: (visit: V, form: Form) => Promise<Answer> | Answer;
  readonly beforeForm?: (visit: V) => Promise<Answer | undefined>;
  readonly imageField?: string;
}

async function answerForm<V extends Visit>(visit: V, route: FormRoute<V>): Promise<Answer> {
  const { who, post, beforeForm, imageField } = route;
  const { services } = visit;
  refuseForeign(visit.request);
  const early = await beforeForm?.(visit);
  if (early) return early;
  const rules = imageField === undefined ? undefined : { name: imageField, limits: services.bodyLimits };
  const { form, close } = await openForm(visit, rules);
  try {
    const admitted = await readmitVisitor(visit, route);
    if (!isVisit(admitted)) return admitted;
    const { signedIn } = admitted;
    if (!signedIn || who !== 'operator') return await post(admitted, form);
    const user = { ...admitted, signedIn };
    const proof = await proveCode(user, form);
    if ('problem' in proof) return askForCode(user, form, proof.problem);
    // What is shown next asks for no other code.
    return await post({ ...user, signedIn: { ...signedIn, session: proof.session } }, form);
  } finally {
    close();
  }
}

/** A form may be on its way for minutes, in which its visitor may have been signed out, removed, or given another role. */
async function readmitVisitor<V extends Visit>(visit: V, { who, path }: FormRoute<V>): Promise<V | Answer> {
  if (who === 'anyone') return visit;
  const now = await openVisit(visit.request, visit.services);
  return (await admitVisitor({ ...now, path: visit.path }, { who, path })) as V | Answer;
}

/** The page that asks for a code, because an operator's form lacks one or has a wrong one. */
function askForCode(visit: UserVisit, form: Form, problem: CodeProblem): Answer {
  // Files cannot be sent along again.
  if (form.files.length === 0) return codePage(visit, form, problem);
  const { retryAfterS } = problem;
  throw retryAfterS === undefined ? fault('code_needed') : fault('try_later', { retryAfterS });
}

/** An operator's change needs a recent code: resolves to the session that has one. */
async function proveCode(
  visit: UserVisit,
  form: Form,
): Promise<{ readonly session: Session } | { readonly problem: CodeProblem }> {
  const { services, signedIn } = visit;
  if (hasRecentCode(visit)) return { session: signedIn.session };
  const code = form.text('code');
  const attempt = () => services.signIn.proveCode(signedIn.user, code, visit);
  const checked = await attemptSignIn(visit, { factor: getCodeFactor(code) }, attempt);
  if (checked.status === 'wait') return { problem: { retryAfterS: checked.seconds } };
  if (checked.status !== 'ok') return { problem: {} };
  return { session: await services.sessions.prove(signedIn.session) };
}

/** Above what the page of an account shows. */
async function addBar(visit: Visit, answer: Answer): Promise<Answer> {
  if (!('body' in answer) || !('account' in visit)) return answer;
  const bar = await lowBalanceBar(visit as OwnerVisit);
  return bar ? { ...answer, body: html`${bar}${answer.body}` } : answer;
}

function send(h: ResponseToolkit, visit: Visit, answer: Answer): Lifecycle.ReturnValue {
  if ('written' in answer) return h.abandon;
  const response = respond(h, visit, answer);
  const { secure, formCookie, query } = visit;
  const language = query.get('lang') ?? undefined;
  if (isLanguage(language)) setCookie(response, 'lang', language, secure);
  if (formCookie !== undefined) setCookie(response, 'form', formCookie, secure);
  if ('device' in answer && answer.device !== undefined)
    setCookie(response, 'device', answer.device, secure, DEVICE_DAYS * 86_400);
  return response;
}

function respond(h: ResponseToolkit, visit: Visit, answer: Exclude<Answer, Written>): ResponseObject {
  if ('body' in answer) {
    const { session } = answer;
    // Its forms are sent with the session that starts with it.
    const shown = session === undefined ? visit : { ...visit, csrf: csrfToken(session) };
    const text = `<!doctype html>\n${layout(shown, answer).text}\n`;
    const response = h.response(text).type('text/html; charset=utf-8');
    if (session !== undefined) setCookie(response, 'session', session, visit.secure);
    if (answer.retryAfterS !== undefined) response.header('retry-after', String(answer.retryAfterS));
    return response.code(answer.status ?? 200);
  }
  if ('content' in answer) {
    const disposition = `attachment; filename="${answer.name}"`;
    return h.response(answer.content).type(answer.type).header('content-disposition', disposition);
  }
  const response = h.response().code(303).header('location', answer.to);
  const { cookie } = answer;
  if (cookie) setCookie(response, cookie.name, cookie.value, visit.secure, cookie.maxAgeS);
  if (answer.session === null) dropCookie(response, 'session', visit.secure);
  else if (answer.session !== undefined) setCookie(response, 'session', answer.session, visit.secure);
  return response;
}
