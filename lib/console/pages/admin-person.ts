// One user for an operator: accounts and sessions; suspend, remove, end sessions, create a recovery link.

import { fault } from '../../base/faults.ts';
import type { Account } from '../../store/ports/accounts.ts';
import type { FormerUser, Role, User } from '../../store/ports/users.ts';
import { listOwners } from '../../users/owners.ts';
import { toStoredEmail } from '../../users/people.ts';
import { createUserRemoval, type RemovalOutcome } from '../../users/user-removal.ts';
import { audit } from '../audit.ts';
import { describeBrowser } from '../browser-name.ts';
import { codeField } from '../code-field.ts';
import { definitionList, field, form, message, table } from '../components.ts';
import type { Form, Refused } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { findWord } from '../language.ts';
import { roleWords } from '../member-words.ts';
import { type Answer, type Page, page } from '../page.ts';
import { refusalMessage, typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { personWords } from './admin-person-words.ts';

interface PageState {
  readonly link?: string;
}

export const adminPerson = page({
  path: '/admin/people/{id}',
  who: 'operator',
  get: (visit) => openPerson(visit),
  async post(visit, sent) {
    const person = await visit.services.store.users.get(readPersonId(visit));
    if (!person) throw fault('not_found');
    switch (sent.text('change')) {
      case 'suspend':
      case 'resume':
        return setStatus(visit, person, sent);
      case 'remove':
        return remove(visit, person, sent);
      case 'sessions':
        return endSessions(visit, person);
      case 'leave':
        return removeOwner(visit, person, sent);
      case 'restore':
        return restore(visit, person);
      default:
        throw fault('stale_form');
    }
  },
});

function readPersonId({ request }: UserVisit): string {
  return String(request.params.id);
}

function linkToPerson({ id }: Pick<User, 'id'>): string {
  return `/admin/people/${id}`;
}

async function openPerson(visit: UserVisit): Promise<Page> {
  const { users } = visit.services.store;
  const person = await users.get(readPersonId(visit));
  if (person) return personPage(visit, person, {});
  const former = await users.former(readPersonId(visit));
  if (!former) throw fault('not_found');
  return formerPage(visit, former);
}

async function setStatus(visit: UserVisit, person: User, sent: Form): Promise<Answer> {
  const change = sent.text('change') === 'suspend' ? 'suspend' : 'resume';
  const removal = createUserRemoval(visit.services);
  const outcome = await removal[change](person.id);
  if (outcome !== 'done') return refuseOutcome(visit, person, { outcome, sent });
  await audit(visit, { action: `user.${change}`, target: person.id, detail: { email: person.email } });
  return { to: `${linkToPerson(person)}?done=done` };
}

/** Confirmed by typing the address: only a new invitation brings the user back. */
async function remove(visit: UserVisit, person: User, sent: Form): Promise<Answer> {
  if (toStoredEmail(sent.text('email')) !== person.email)
    return refused(visit, person, { sent, text: personWords(visit.language).badEmail, field: 'email' });
  const outcome = await createUserRemoval(visit.services).remove(person.id);
  if (outcome !== 'done') return refuseOutcome(visit, person, { outcome, sent });
  await audit(visit, { action: 'user.remove', target: person.id, detail: { email: person.email } });
  return { to: `${linkToPerson(person)}?done=done` };
}

async function endSessions(visit: UserVisit, person: User): Promise<Answer> {
  await visit.services.sessions.endAll(person.id);
  await audit(visit, { action: 'user.sessions', target: person.id, detail: { email: person.email } });
  return { to: `${linkToPerson(person)}?done=done` };
}

async function removeOwner(visit: UserVisit, person: User, sent: Form): Promise<Answer> {
  const account = sent.text('account');
  const left = await createUserRemoval(visit.services).leaveAccount(person, account, { isForced: true });
  if (left !== 'done') return refused(visit, person, { sent, text: personWords(visit.language).noOwner });
  await audit(visit, { action: 'owner.remove', target: person.id, account, detail: { email: person.email } });
  return { to: `${linkToPerson(person)}?done=done` };
}

/**
 * Creates a recovery link for an owner. Operators are reset on the command line only, so that whoever sits at one
 * operator's screen cannot take over another operator.
 */
async function restore(visit: UserVisit, person: User): Promise<Answer> {
  const { people, publicUrl } = visit.services;
  if (!canRestore(person)) throw fault('stale_form');
  const token = await people.makeLink({ purpose: 'restore', user: person.id, email: person.email });
  await audit(visit, { action: 'user.reset', target: person.id, detail: { email: person.email } });
  return personPage(visit, person, { link: `${publicUrl()}/setup?token=${token}` });
}

function canRestore({ operator, status, password }: User): boolean {
  return !operator && status === 'active' && password !== null;
}

function refuseOutcome(
  visit: UserVisit,
  person: User,
  { outcome, sent }: { readonly outcome: Exclude<RemovalOutcome, 'done'>; readonly sent: Form },
): Promise<Page> {
  if (outcome === 'gone') throw fault('not_found');
  return refused(visit, person, { sent, text: personWords(visit.language).lastOperator });
}

async function refused(visit: UserVisit, person: User, refusal: Refused): Promise<Page> {
  return { ...(await personPage({ ...visit, refused: refusal }, person, {})), status: 400 };
}

async function personPage(visit: UserVisit, person: User, { link }: PageState): Promise<Page> {
  const words = personWords(visit.language);
  const { format, query } = visit;
  const rows = [
    [words.id, html`<code>${person.id}</code>`],
    [words.role, person.operator ? words.operator : words.owner],
    [words.status, words[person.status]],
    [words.app, person.totpSecret === null ? words.no : words.yes],
    [words.created, format.date(person.createdAt)],
  ] as const;
  const body = html`${refusalMessage(visit)}
${link !== undefined && message('done', html`${words.link(person.email)}<br><code class="key" data-copy>${link}</code>`)}
${query.get('done') === 'done' && visit.refused === undefined && link === undefined && message('done', words.done)}
${definitionList(rows)}
<h2>${words.accounts}</h2>
${await accounts(visit, person)}
<h2>${words.sessions}</h2>
${await sessions(visit, person)}
${canRestore(person) && html`<h2>${words.restoreTitle}</h2><p>${words.restoreText}${visit.services.mailer && ` ${words.restoreTold}`}</p>${change(visit, person, { name: 'restore', button: words.restore })}`}
${renderEndForms(visit, person)}`;
  return { title: person.email, body };
}

interface Change {
  readonly name: string;
  readonly button: string;
  readonly fields?: Html;
  /** The question that a script asks before sending; the button is then marked as dangerous. */
  readonly confirm?: string;
}

function change(visit: UserVisit, person: User, { name, button, fields, confirm }: Change): Html {
  return form(visit, {
    action: linkToPerson(person),
    button,
    confirm,
    danger: confirm !== undefined,
    fields: html`<input type="hidden" name="change" value="${name}">${fields}${codeField(visit, name)}`,
  });
}

async function accounts(visit: UserVisit, person: User): Promise<Html> {
  const words = personWords(visit.language);
  const { store } = visit.services;
  const memberships = await store.users.listUserMemberships(person.id);
  const rows = await Promise.all(
    memberships.map(async ({ account, role }) => ({
      account: await store.accounts.get(account),
      role,
      isLast: (await listOwners(store.users, account)).every(({ user }) => user === person.id),
    })),
  );
  if (rows.length === 0) return html`<p>${words.noAccounts}</p>`;
  return html`<ul>${rows.map(({ account, ...membership }) => account && html`<li>${renderLeaveForm(visit, person, { account, ...membership })}</li>`)}</ul>`;
}

interface OwnMembership {
  readonly account: Account;
  readonly role: Role;
  /** The person is its only owner. */
  readonly isLast: boolean;
}

function renderLeaveForm(visit: UserVisit, person: User, { account, role, isLast }: OwnMembership): Html {
  const { id, name } = account;
  const words = personWords(visit.language);
  const fields = html`<input type="hidden" name="account" value="${id}"><input type="hidden" name="change" value="leave">${codeField(visit, id)}`;
  const confirm = isLast ? `${words.leave(name)}? ${words.lastOwner}` : `${words.leave(name)}?`;
  const button = { action: linkToPerson(person), fields, button: words.leave(name), danger: true, confirm };
  return html`<a href="/admin/accounts/${id}">${name}</a> (${roleWords(visit)[role]})${isLast && html` <strong>${words.lastOwner}</strong>`}${form(visit, button)}`;
}

async function sessions(visit: UserVisit, person: User): Promise<Html> {
  const words = personWords(visit.language);
  const { services, format } = visit;
  const list = await services.sessions.list(person);
  if (list.length === 0) return html`<p>${words.noSessions}</p>`;
  const columns = [words.began, words.seen, words.address, words.browser].map((title) => ({ title }));
  const rows = list.map(({ createdAt, seenAt, address, agent }) => [
    format.time(createdAt),
    format.time(seenAt),
    address,
    html`<span title="${agent}">${describeBrowser(visit.language, agent)}</span>`,
  ]);
  return html`${table(words.sessions, columns, rows)}${change(visit, person, { name: 'sessions', button: words.end })}`;
}

function renderEndForms(visit: UserVisit, person: User): Html {
  const words = personWords(visit.language);
  const isActive = person.status === 'active';
  const suspend = { name: 'suspend', button: words.suspend, confirm: `${words.suspend}? ${words.suspendText}` };
  const address = field({
    ...typedFields(visit, { change: 'remove' })('email'),
    id: 'remove-email',
    label: words.typeEmail,
    type: 'email',
  });
  return html`<h2>${isActive ? words.suspend : words.resume}</h2>
<p>${isActive ? words.suspendText : words.resumeText}</p>
${change(visit, person, isActive ? suspend : { name: 'resume', button: words.resume })}
<h2>${words.remove}</h2>
<p>${words.removeText}</p>
${change(visit, person, { name: 'remove', button: words.remove, fields: address, confirm: `${words.remove}? ${words.removeText}` })}`;
}

function formerPage({ language, format, query }: UserVisit, { id, email, createdAt, removedAt }: FormerUser): Page {
  const words = personWords(language);
  const doneText = findWord({ done: words.done }, query.get('done'));
  const rows = [
    [words.id, html`<code>${id}</code>`],
    [words.status, words.removed],
    [words.created, format.date(createdAt)],
    [words.removedAt, format.time(removedAt)],
  ] as const;
  const body = html`${doneText !== undefined && message('done', doneText)}${definitionList(rows)}<p>${words.formerText}</p>`;
  return { title: email, body };
}
