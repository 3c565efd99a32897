// Accepting an invitation to another account: an existing user joins it only by agreeing.
import { readInvitation } from '../../accounts/members.ts';
import type { Account } from '../../store/ports/accounts.ts';
import type { Link } from '../../store/ports/sessions.ts';
import { audit } from '../audit.ts';
import { definitionList, form, message } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { hideLinkToken, linkAction, readLinkToken } from '../link-token.ts';
import { formatCap } from '../member-words.ts';
import { type Answer, type Page, page } from '../page.ts';
import type { UserVisit, Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Invitation',
    texts: {
      owner:
        'You are invited to become an owner of this account: you will see its calls and wallet, and manage its keys.',
      member:
        'You are invited to become a member of this account: you will create keys of your own and see your own calls.',
      accountant:
        'You are invited to become an accountant of this account: you will see its wallet, receipts and usage totals, and make payments.',
    },
    cap: 'Your cap',
    account: 'Account',
    email: 'Your email',
    accept: 'Accept',
    ignore: 'If you do not want this, do nothing: the invitation expires by itself.',
    none: 'This invitation is unknown, used or expired. Ask for a new one.',
    other: 'This invitation was sent to another address. Sign out, and sign in with that address.',
  },
  ru: {
    title: 'Приглашение',
    texts: {
      owner: 'Вас приглашают стать владельцем этого аккаунта: видеть его запросы и кошелёк, управлять ключами.',
      member: 'Вас приглашают стать участником этого аккаунта: создавать свои ключи и видеть свои запросы.',
      accountant:
        'Вас приглашают стать бухгалтером этого аккаунта: видеть кошелёк, справки об оплате и общие суммы расходов, вносить платежи.',
    },
    cap: 'Ваш лимит',
    account: 'Аккаунт',
    email: 'Ваша почта',
    accept: 'Принять',
    ignore: 'Если приглашение не нужно, ничего не делайте: оно само перестанет действовать.',
    none: 'Приглашение не найдено, уже использовано или устарело. Попросите новое.',
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
    const invitation = await findInvitation(visit);
    if (typeof invitation === 'string') return refused(visit, invitation);
    return hideLinkToken(visit) ?? invitationPage(visit, invitation);
  },
  async post(visit): Promise<Answer> {
    const { people, store } = visit.services;
    const invitation = await findInvitation(visit);
    if (typeof invitation === 'string') return refused(visit, invitation);
    if (!(await people.useLink(readLinkToken(visit)))) return refused(visit, 'none');
    const { user } = visit.signedIn;
    const { account, link } = invitation;
    const membership = await readInvitation(store.users, link, account.id);
    if (!(await people.join(user, membership))) return refused(visit, 'none');
    const detail = membership.role === 'owner' ? {} : { role: membership.role };
    await audit(visit, { action: 'owner.accept', target: user.id, account: account.id, detail });
    return { to: `/account?account=${account.id}` };
  },
});

interface Invitation {
  readonly account: Account;
  readonly link: Pick<Link, 'offer'>;
}

/** The invitation, or why there is none. */
async function findInvitation(visit: UserVisit): Promise<Invitation | 'none' | 'other'> {
  const { people, store } = visit.services;
  const link = await people.peekLink(readLinkToken(visit));
  if (link?.purpose !== 'invite' || link.account === null) return 'none';
  if (link.email !== visit.signedIn.user.email) return 'other';
  const account = await store.accounts.get(link.account);
  return account ? { account, link } : 'none';
}

/** What an invitation offers to this address. */
export function describeInvitation(visit: Visit, { account, link }: Invitation, email: string): Html {
  const words = WORDS[visit.language];
  const { role, cap } = link.offer ?? { role: 'owner' };
  return html`<p>${words.texts[role]}</p>
${definitionList([
  [words.account, account.name],
  [words.email, email],
  ...(cap ? [[words.cap, formatCap(visit, cap)] as const] : []),
])}`;
}

function invitationPage(visit: UserVisit, invitation: Invitation): Page {
  const words = WORDS[visit.language];
  const body = html`${describeInvitation(visit, invitation, visit.signedIn.user.email)}
${form(visit, { action: joinPath(visit), fields: '', button: words.accept })}
<p class="hint">${words.ignore}</p>`;
  return { title: words.title, body };
}

function refused({ language }: UserVisit, why: 'none' | 'other'): Page {
  const words = WORDS[language];
  return { title: words.title, body: message('error', words[why]), status: why === 'none' ? 404 : 403 };
}
