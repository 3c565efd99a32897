// Accepting an invitation to another account: an existing user becomes its owner only by agreeing.
import type { Account } from '../../store/ports/accounts.ts';
import { audit } from '../audit.ts';
import { definitionList, form, message } from '../components.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { hideLinkToken, linkAction, readLinkToken } from '../link-token.ts';
import { type Answer, type Page, page } from '../page.ts';
import type { UserVisit, Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Invitation',
    text: 'You are invited to become an owner of this account: you will see its calls and wallet, and manage its keys.',
    account: 'Account',
    email: 'Your email',
    accept: 'Accept',
    ignore: 'If you do not want this, do nothing: the invitation expires by itself.',
    none: 'This invitation is unknown, used or expired. Ask for a new one.',
    other: 'This invitation was sent to another address. Sign out, and sign in with that address.',
  },
  ru: {
    title: 'Приглашение',
    text: 'Вас приглашают стать владельцем этого аккаунта: видеть его запросы и кошелёк, управлять ключами.',
    account: 'Аккаунт',
    email: 'Ваша почта',
    accept: 'Принять',
    ignore: 'Если приглашение не нужно, ничего не делайте: оно истечёт само.',
    none: 'Приглашение неизвестно, уже использовано или устарело. Попросите новое.',
    other: 'Приглашение отправлено на другой адрес. Выйдите и войдите с адресом, на который оно пришло.',
  },
});

const PATH = '/account/join';

/** The page where an existing user accepts the visited link. */
export function joinPath(visit: Visit): string {
  return linkAction({ ...visit, path: PATH });
}

export const join = page({
  path: PATH,
  who: 'user',
  async get(visit) {
    const account = await findInvitation(visit);
    if (typeof account === 'string') return refused(visit, account);
    return hideLinkToken(visit) ?? invitationPage(visit, account);
  },
  async post(visit): Promise<Answer> {
    const { people } = visit.services;
    const account = await findInvitation(visit);
    if (typeof account === 'string') return refused(visit, account);
    if (!(await people.useLink(readLinkToken(visit)))) return refused(visit, 'none');
    const { user } = visit.signedIn;
    if (!(await people.join(user, account.id))) return refused(visit, 'none');
    await audit(visit, { action: 'owner.accept', target: user.id, account: account.id });
    return { to: `/account?account=${account.id}` };
  },
});

/** The account of the invitation, or why there is none. */
async function findInvitation(visit: UserVisit): Promise<Account | 'none' | 'other'> {
  const { people, store } = visit.services;
  const link = await people.peekLink(readLinkToken(visit));
  if (link?.purpose !== 'invite' || link.account === null) return 'none';
  if (link.email !== visit.signedIn.user.email) return 'other';
  return (await store.accounts.get(link.account)) ?? 'none';
}

function invitationPage(visit: UserVisit, { name }: Account): Page {
  const words = WORDS[visit.language];
  const body = html`<p>${words.text}</p>
${definitionList([
  [words.account, name],
  [words.email, visit.signedIn.user.email],
])}
${form(visit, { action: joinPath(visit), fields: '', button: words.accept })}
<p class="hint">${words.ignore}</p>`;
  return { title: words.title, body };
}

function refused({ language }: UserVisit, why: 'none' | 'other'): Page {
  const words = WORDS[language];
  return { title: words.title, body: message('error', words[why]), status: why === 'none' ? 404 : 403 };
}
