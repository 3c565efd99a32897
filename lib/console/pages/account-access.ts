// Who and what has access to an account, for an operator: its keys, its people, and a form that invites an owner.
import { listMembers } from '../../accounts/members.ts';
import type { Account } from '../../store/ports/accounts.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import type { Membership, User } from '../../store/ports/users.ts';
import { codeField } from '../code-field.ts';
import { field, form, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { dropEarlierEnded } from '../latest-keys.ts';
import { formatCap, roleWords } from '../member-words.ts';
import { typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    invite: 'Invite an owner',
    email: 'Email',
    inviteButton: 'Create a link',
    isSuspended: 'suspended',
    keys: 'Keys',
    members: 'People',
    noKeys: 'No keys yet.',
    nobody: 'Nobody has access yet: invite the owner.',
    name: 'Name',
    key: 'Key',
    earlier: 'More revoked and expired keys',
    calls: 'Calls',
  },
  ru: {
    invite: 'Пригласить владельца',
    email: 'Почта',
    inviteButton: 'Создать ссылку',
    isSuspended: 'доступ приостановлен',
    keys: 'Ключи',
    members: 'Участники',
    noKeys: 'Ключей пока нет.',
    nobody: 'Доступа пока нет ни у кого: пригласите владельца.',
    name: 'Название',
    key: 'Ключ',
    earlier: 'Ещё отозванные и истёкшие ключи',
    calls: 'Запросов',
  },
});

export async function accessSections(visit: UserVisit, account: Account): Promise<Html> {
  const words = WORDS[visit.language];
  const { store } = visit.services;
  const [keys, members] = await Promise.all([store.keys.list(account.id), listMembers(store.users, account.id)]);
  const list = members.map(({ member, user }) => user && html`<li>${renderMember(visit, member, user)}</li>`);
  const email = field({ ...typedFields(visit, { change: 'invite' })('email'), label: words.email, type: 'email' });
  return html`<h2>${words.keys}</h2>
${keys.length === 0 ? html`<p>${words.noKeys}</p>` : keyTable(visit, keys)}
<h2>${words.members}</h2>
${members.length === 0 ? html`<p>${words.nobody}</p>` : html`<ul>${list}</ul>`}
<h3>${words.invite}</h3>
${changeForm(visit, account, { name: 'invite', button: words.inviteButton, fields: email })}`;
}

interface ChangeForm {
  readonly name: string;
  readonly button: string;
  readonly fields: Html;
  readonly danger?: boolean;
  readonly confirm?: string | undefined;
}

/** A form of the account's page. */
export function changeForm(visit: UserVisit, account: Account, { name, fields, ...rest }: ChangeForm): Html {
  return form(visit, {
    ...rest,
    action: `/admin/accounts/${account.id}`,
    fields: html`<input type="hidden" name="change" value="${name}">${fields}${codeField(visit, name)}`,
  });
}

function keyTable(visit: UserVisit, keys: readonly KeyRow[]): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const shown = dropEarlierEnded(visit, keys);
  const rows = table(
    words.keys,
    [{ title: words.name }, { title: words.key }, { title: words.calls, number: true }],
    shown.map((key) => [key.name, html`<code>…${key.last4}</code>`, format.number(key.requestsCount)]),
  );
  const earlier = keys.length - shown.length;
  return html`${rows}${earlier > 0 && html`<p class="hint">${words.earlier}: ${format.number(earlier)}</p>`}`;
}

function renderMember(visit: UserVisit, { role, cap }: Membership, { id, email, status }: User): Html {
  const notes = [
    roleWords(visit)[role],
    ...(cap ? [formatCap(visit, cap)] : []),
    ...(status === 'suspended' ? [WORDS[visit.language].isSuspended] : []),
  ];
  return html`<a href="/admin/people/${id}">${email}</a> (${notes.join(', ')})`;
}
