// Keys of the management API: an operator's with their scopes, and an owner's for one account. Made (shown once), listed,
// revoked.
import {
  isActiveManagementKey,
  MANAGEMENT_KEYS_MAX,
  NEW_MANAGEMENT_KEYS_MAX,
  type NewManagementKey,
  OPERATOR_SCOPES,
} from '../../accounts/management-keys.ts';
import { fault } from '../../base/faults.ts';
import { readNetworks } from '../../base/network.ts';
import { isOneLine } from '../../base/one-line.ts';
import { OperatorError, UnknownError } from '../../base/operator-error.ts';
import { findMoment } from '../../money/period.ts';
import type { ManagementKey } from '../../store/ports/management.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { checkbox, field, form, message, table } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { type Page, page, type Redirect } from '../page.ts';
import { linkTo, type OwnerVisit, type UserVisit } from '../visit.ts';
import { SCOPE_WORDS, WORDS } from './management-key-words.ts';

const OPERATOR_PATH = '/admin/management-keys';
const OWNER_PATH = '/account/keys/management';

/** Whose keys a page is about: those of operators, or of the account of an owner. */
interface Whose {
  readonly visit: UserVisit & Partial<Pick<OwnerVisit, 'account' | 'accounts' | 'zone'>>;
  readonly account: string | null;
  readonly path: string;
  /** Of the days in the form. */
  readonly zone: string;
}

const ofOperators = (visit: UserVisit): Whose => ({
  visit,
  account: null,
  path: OPERATOR_PATH,
  zone: visit.signedIn.user.timeZone,
});
const ofOwners = (visit: OwnerVisit): Whose => ({
  visit,
  account: visit.account.id,
  path: OWNER_PATH,
  zone: visit.zone,
});

export const adminManagementKeys = page({
  path: OPERATOR_PATH,
  who: 'operator',
  get: (visit) => keysPage(ofOperators(visit)),
  post: (visit, sent) => makeKey(ofOperators(visit), sent),
});

export const adminManagementKey = page({
  path: `${OPERATOR_PATH}/{id}`,
  who: 'operator',
  get: (visit) => revokePage(ofOperators(visit)),
  post: (visit) => revokeKey(ofOperators(visit)),
});

export const managementKeys = page({
  path: OWNER_PATH,
  who: 'account',
  get: (visit) => keysPage(ofOwners(visit)),
  post: (visit, sent) => makeKey(ofOwners(visit), sent),
});

export const managementKey = page({
  path: `${OWNER_PATH}/{id}`,
  who: 'account',
  get: (visit) => revokePage(ofOwners(visit)),
  post: (visit) => revokeKey(ofOwners(visit)),
});

interface Problem {
  readonly field: 'name' | 'scopes' | 'expires' | 'addresses' | 'form';
  readonly text: string;
}

interface PageState {
  readonly made?: string;
  readonly sent?: Form;
  readonly problem?: Problem;
}

async function makeKey(whose: Whose, sent: Form): Promise<Page> {
  const { visit, account } = whose;
  const wanted = readKey(whose, sent);
  if ('field' in wanted) return { ...(await keysPage(whose, { sent, problem: wanted })), status: 400 };
  try {
    const { id, key } = await visit.services.managementKeys.create(wanted);
    if (!(await mayStillManage(visit, account))) {
      await visit.services.managementKeys.revoke(id);
      throw fault('role_not_allowed');
    }
    const { name, scopes = ['account'] } = wanted;
    const entry = { action: 'management_key.create', target: id, detail: { name, scopes } };
    await audit(visit, { ...entry, ...(account !== null && { account }) });
    return await keysPage(whose, { made: key });
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const problem = {
      field: 'form',
      text: WORDS[visit.language].full(MANAGEMENT_KEYS_MAX, NEW_MANAGEMENT_KEYS_MAX),
    } as const;
    return { ...(await keysPage(whose, { sent, problem })), status: 400 };
  }
}

/** Keys end with the role of who made them, also one that was made at the very moment it was taken. */
async function mayStillManage({ services, signedIn }: UserVisit, account: string | null): Promise<boolean> {
  const { users } = services.store;
  const user = await users.get(signedIn.user.id);
  if (user?.status !== 'active') return false;
  if (account === null) return user.operator;
  const memberships = await users.listUserMemberships(user.id);
  return memberships.some((each) => each.account === account && each.role === 'owner');
}

function readKey({ visit, account, zone }: Whose, sent: Form): NewManagementKey | Problem {
  const words = WORDS[visit.language];
  const name = sent.text('name');
  const scopes = OPERATOR_SCOPES.filter((scope) => sent.has(`scope-${scope}`));
  const day = sent.text('expires');
  const wall = day === '' ? null : Date.parse(`${day}T00:00:00Z`);
  const expiresAt = wall === null || Number.isNaN(wall) ? wall : findMoment(wall, zone);
  const named = sent
    .text('addresses')
    .split(',')
    .map((address) => address.trim());
  const addresses = named.filter((address) => address !== '');
  if (name === '' || name.length > 100 || !isOneLine(name)) return { field: 'name', text: words.badName };
  if (account === null && scopes.length === 0) return { field: 'scopes', text: words.noScope };
  if (Number.isNaN(expiresAt) || (expiresAt !== null && expiresAt <= visit.services.now()))
    return { field: 'expires', text: words.badDay };
  if (addresses.length > 100 || !readNetworks(addresses)) return { field: 'addresses', text: words.badAddresses };
  return {
    name,
    ...(account === null && { scopes }),
    account,
    expiresAt,
    addresses: addresses.length === 0 ? null : addresses,
    createdBy: visit.signedIn.user.id,
  };
}

async function keysPage(whose: Whose, { made, sent, problem }: PageState = {}): Promise<Page> {
  const { visit, account, path } = whose;
  const words = WORDS[visit.language];
  const keys = await visit.services.managementKeys.list(account);
  const typed = (name: string) => sent?.text(name);
  const wrong = (name: Problem['field']) => ({ error: problem?.field === name ? problem.text : undefined });
  const fields = html`${field({ name: 'name', label: words.name, value: typed('name'), hint: words.nameHint, ...wrong('name') })}
${account === null && scopeFields(visit, { sent, ...wrong('scopes') })}
${field({ name: 'expires', label: words.expires, type: 'date', value: typed('expires'), hint: words.expiresHint, optional: true, ...wrong('expires') })}
${field({ name: 'addresses', label: words.addresses, value: typed('addresses'), hint: words.addressesHint, optional: true, ...wrong('addresses') })}
${account === null && codeField(visit)}`;
  const body = html`${visit.query.get('done') === 'revoked' && message('done', words.done)}
${problem?.field === 'form' && message('error', problem.text)}
${made !== undefined && message('done', html`${words.made}<br><code class="key" data-copy>${made}</code>`)}
<p>${account === null ? words.about : words.aboutOwn}</p>
${keys.length === 0 ? html`<p>${words.none}</p>` : keyTable(whose, keys)}
<h2>${words.make}</h2>
${form(visit, { action: linkTo(visit, path), fields, button: words.makeButton })}
${account !== null && html`<p><a href="${linkTo(visit, '/account/keys')}">${words.backToKeys}</a></p>`}`;
  return { title: account === null ? words.title : words.titleOwn, body };
}

interface ScopeState {
  readonly sent: Form | undefined;
  readonly error: string | undefined;
}

function scopeFields(visit: UserVisit, { sent, error }: ScopeState): Html {
  const words = WORDS[visit.language];
  const names = SCOPE_WORDS[visit.language];
  return html`<fieldset><legend>${words.scopes}</legend>
${OPERATOR_SCOPES.map((scope) => checkbox({ name: `scope-${scope}`, label: `${names[scope]} (${scope})`, checked: sent?.has(`scope-${scope}`) ?? false }))}
${error !== undefined && html`<span class="error">${error}</span>`}</fieldset>`;
}

function keyTable({ visit, account, path }: Whose, keys: readonly ManagementKey[]): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const isOperator = account === null;
  const titles = [
    ...[words.name, words.key, ...(isOperator ? [words.scopes] : []), words.addresses],
    ...[words.created, words.expires, words.used, words.state],
  ];
  const rows = keys.map((key) => [
    key.name,
    html`<code>…${key.last4}</code>`,
    ...(isOperator ? [key.scopes.join(', ')] : []),
    key.addresses?.join(', ') ?? words.anywhere,
    format.date(key.createdAt),
    key.expiresAt === null ? words.never : format.time(key.expiresAt),
    key.lastUsedAt === null ? words.unused : format.time(key.lastUsedAt),
    isActiveManagementKey(key, visit.services.now())
      ? html`<a href="${linkTo(visit, `${path}/${key.id}`)}">${words.revoke}</a>`
      : key.revokedAt === null
        ? words.expired
        : words.revoked,
  ]);
  return table(
    words.caption,
    titles.map((title) => ({ title })),
    rows,
  );
}

/** The key that the path names. What belongs to others, or has ended, counts as unknown. */
async function findKey({ visit, account }: Whose): Promise<ManagementKey> {
  const found = await visit.services.managementKeys.get(String(visit.request.params.id)).catch((error: unknown) => {
    if (error instanceof UnknownError) throw fault('not_found');
    throw error;
  });
  if (found.account !== account || found.revokedAt !== null) throw fault('not_found');
  return found;
}

async function revokePage(whose: Whose): Promise<Page> {
  const { visit, account, path } = whose;
  const words = WORDS[visit.language];
  const key = await findKey(whose);
  const action = linkTo(visit, `${path}/${key.id}`);
  const fields = html`<p>${words.revokeText}</p>${account === null && codeField(visit)}`;
  const body = html`${form(visit, { action, fields, button: words.revoke, danger: true })}
<p><a href="${linkTo(visit, path)}">${words.back}</a></p>`;
  return { title: words.revokeTitle(key.name), body };
}

async function revokeKey(whose: Whose): Promise<Redirect> {
  const { visit, account, path } = whose;
  const { id, name } = await findKey(whose);
  await visit.services.managementKeys.revoke(id);
  const entry = { action: 'management_key.revoke', target: id, detail: { name } };
  await audit(visit, { ...entry, ...(account !== null && { account }) });
  return { to: linkTo(visit, `${path}?done=revoked`) };
}
