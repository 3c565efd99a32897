// One visit to a page: who, in which language, for which account, with which form.
import type { Request } from '@hapi/hapi';
import { readZone } from '../accounts/zone.ts';
import { fault } from '../base/faults.ts';
import { toClientNetwork } from '../base/network.ts';
import { findClientAddress } from '../http/client-address.ts';
import { DEFAULT_ZONE } from '../money/key-limits.ts';
import type { Account } from '../store/ports/accounts.ts';
import { type Membership, ROLES, type Role } from '../store/ports/users.ts';
import { isProven, type SignedIn } from '../users/sessions.ts';
import { makeToken } from '../users/token.ts';
import { type AccountPath, findSight, requireSight } from './access.ts';
import { readCookie } from './cookie.ts';
import { checkCsrf, csrfToken, type Form, type ImageRules, type Refused, readForm } from './forms.ts';
import { chooseLanguage, type Format, getFormat, type Language } from './language.ts';
import type { ConsoleServices } from './services.ts';

export interface Visit {
  readonly request: Request;
  readonly services: ConsoleServices;
  /** As normalized by the router; for a form without a page of its own, that of the page it is on. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly language: Language;
  readonly format: Format;
  /** The value of every form's hidden `csrf` field. */
  readonly csrf: string;
  /** A new cookie that guards forms before sign-in. */
  readonly formCookie: string | undefined;
  /** Whether cookies require https. */
  readonly secure: boolean;
  /** The client's network address. */
  readonly address: string;
  /** The token of a device on which somebody has signed in; with the address, the `client` of `services.signIn`. */
  readonly device: string | undefined;
  readonly agent: string;
  readonly signedIn: SignedIn | undefined;
  /** The form that is shown again because it was refused. */
  readonly refused?: Refused;
}

/** A visit by someone signed in. */
export interface UserVisit extends Visit {
  readonly signedIn: SignedIn;
}

/** A visit to an account's pages by one of its members. */
export interface OwnerVisit extends UserVisit {
  readonly account: Account;
  /** What the user may do in the account. */
  readonly role: Role;
  /** The ids of the user's own keys, if the page shows nothing of others. */
  readonly ownKeys?: readonly string[];
  /** Of a member. */
  readonly cap?: Membership['cap'];
  /** All accounts of the user. */
  readonly accounts: readonly Account[];
  /** The time zone of the account's days, months and times, whichever of its users looks at them. */
  readonly zone: string;
}

export async function openVisit(request: Request, services: ConsoleServices): Promise<Visit> {
  const secure = services.publicUrl().startsWith('https:');
  const url = new URL(request.raw.req.url ?? '/', 'http://page');
  const token = readCookie(request, 'session', secure);
  const signedIn = token === undefined ? undefined : await services.sessions.find(token);
  const guard = readCookie(request, 'form', secure);
  const formCookie = signedIn || guard !== undefined ? undefined : makeToken();
  const chosen = url.searchParams.get('lang') ?? readCookie(request, 'lang', secure) ?? signedIn?.user.language;
  const language = chooseLanguage(chosen ?? undefined, request.raw.req.headers['accept-language']);
  return {
    request,
    services,
    path: request.path,
    query: url.searchParams,
    language,
    format: getFormat(language, signedIn?.user.timeZone ?? DEFAULT_ZONE),
    csrf: csrfToken(signedIn ? (token ?? '') : (guard ?? formCookie ?? '')),
    formCookie,
    secure,
    address: findClientAddress(request),
    device: readCookie(request, 'device', secure),
    agent: String(request.raw.req.headers['user-agent'] ?? ''),
    signedIn,
  };
}

interface OpenForm {
  readonly form: Form;
  /** Releases the memory counted for its images. */
  close(): void;
}

/** Reads the submitted form; throws a fault if it is not one of ours. */
export async function openForm(visit: Visit, images?: ImageRules): Promise<OpenForm> {
  const { request, services, secure, signedIn } = visit;
  const call = services.calls.open(request);
  const share = services.memoryQuota.reserve(signedIn?.user.id ?? `address:${toClientNetwork(visit.address)}`);
  try {
    const form = await readForm(request, { signal: call.signal, share, images });
    checkCsrf(form, readCookie(request, signedIn ? 'session' : 'form', secure) ?? '');
    if (form.files.length === 0) share.releaseAll();
    return { form, close: () => share.releaseAll() };
  } catch (error) {
    share.releaseAll();
    throw error;
  } finally {
    call.close();
  }
}

/**
 * The account named in the query, or the user's first; undefined for a user without any. Accounts of others count as
 * unknown. A page that only another account of the user has leads there.
 */
export async function openAccount(
  visit: UserVisit,
  route: string,
): Promise<OwnerVisit | { readonly to: string } | undefined> {
  const { signedIn, services, query, language } = visit;
  const { users, keys } = services.store;
  const memberships = await listMemberships(visit);
  const accounts = await readAccounts(visit, memberships);
  if (accounts.length === 0) return undefined;
  const accountId = query.get('account');
  const account = accountId === null ? accounts[0] : accounts.find(({ id }) => id === accountId);
  const membership = memberships.find((each) => each.account === account?.id);
  if (!account || !membership) throw fault('not_found');
  const { role, cap } = membership;
  const other = accountId === null && !findSight(route, role) && findOther(memberships, route);
  if (other) return { to: `${visit.path}?${new URLSearchParams([...query, ['account', other.account]])}` };
  const isOwn = requireSight(route, role) === 'own';
  const [zone, rows] = await Promise.all([
    readZone(users, account.id, signedIn.user),
    isOwn ? keys.list(account.id) : undefined,
  ]);
  const ownKeys = rows?.filter(({ createdBy }) => createdBy === signedIn.user.id).map(({ id }) => id);
  const own = { account, role, ...(cap && { cap }), ...(ownKeys && { ownKeys }) };
  return { ...visit, ...own, accounts, zone, format: getFormat(language, zone) };
}

export async function listOwnAccounts(visit: UserVisit): Promise<readonly Account[]> {
  return readAccounts(visit, await listMemberships(visit));
}

/** Those as an owner first. */
async function listMemberships({ services, signedIn }: UserVisit): Promise<readonly Membership[]> {
  const found = await services.store.users.listUserMemberships(signedIn.user.id);
  return found.toSorted((one, other) => ROLES.indexOf(one.role) - ROLES.indexOf(other.role));
}

function findOther(memberships: readonly Membership[], route: string): Membership | undefined {
  return memberships.find(({ role }) => findSight(route, role));
}

async function readAccounts({ services }: UserVisit, memberships: readonly Membership[]): Promise<readonly Account[]> {
  const found = await Promise.all(memberships.map(({ account }) => services.store.accounts.get(account)));
  return found.filter((account) => account !== undefined);
}

/** Whether the visitor's role includes a page of the account. */
export function mayVisit({ role }: Pick<OwnerVisit, 'role'>, path: AccountPath): boolean {
  return findSight(path, role) !== undefined;
}

/** Whether an operator gave a code recently enough to make changes. */
export function hasRecentCode({ signedIn, services }: UserVisit): boolean {
  return isProven(signedIn.session, services.now());
}

/**
 * A link to a page of the same account, in the same language. It names the account to whoever has several, also the first
 * of them: another role makes another one the first.
 */
export function linkTo(
  { account, accounts = [] }: Visit & Partial<Pick<OwnerVisit, 'account' | 'accounts'>>,
  path: string,
): string {
  if (!account || accounts.length < 2) return path;
  return `${path}${path.includes('?') ? '&' : '?'}account=${encodeURIComponent(account.id)}`;
}
