// The people of an account for its owners: roles, caps and what was spent of them, invitations.
import { listMembers, type Member } from '../../accounts/members.ts';
import { memberSumId } from '../../ledger/caps.ts';
import { getSpent, indexSums } from '../../money/budget.ts';
import { findPeriod } from '../../money/period.ts';
import type { Link, MembershipOffer } from '../../store/ports/sessions.ts';
import { allowHourly, countAttempt, uncountAttempt } from '../../users/attempts.ts';
import { readEmail } from '../../users/people.ts';
import { audit } from '../audit.ts';
import { field, form, message, table } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { findWord } from '../language.ts';
import { memberFields, readOffer, toOfferDetail } from '../member-fields.ts';
import { formatCap, roleWords } from '../member-words.ts';
import { type Answer, type Page, page } from '../page.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { sendLink } from './link-request.ts';
import { WORDS } from './people-words.ts';

export const PEOPLE_PATH = '/account/people';
/** Invitations of an account in an hour: each may send an email to a stranger. */
const INVITATIONS_MAX = 20;
/** Of these, emails to one address. */
const EMAILS_MAX = 3;
/** Emails to one address by all accounts, of which one person may have many. */
const ALL_EMAILS_MAX = 10;

interface PageState {
  readonly sent?: Form;
  readonly problem?: string;
  readonly badEmail?: string;
  /** The error of role and cap. */
  readonly badOffer?: string;
  /** A new link, shown once, where there is no mail. */
  readonly link?: string;
  /** Whom an invitation was emailed to. */
  readonly mailedTo?: string;
}

export const people = page({
  path: PEOPLE_PATH,
  who: 'account',
  get: (visit) => peoplePage(visit, {}),
  async post(visit, sent) {
    const words = WORDS[visit.language];
    const email = readEmail(sent.text('email'));
    const offer = readOffer(sent, visit.language);
    if (email === undefined) return refused(visit, { sent, badEmail: words.badEmail });
    if (!offer) return refused(visit, { sent, badOffer: words.badCap });
    const { users } = visit.services.store;
    const known = await users.find(email);
    const members = await users.listAccountMembers(visit.account.id);
    if (members.some(({ user }) => user === known?.id)) return refused(visit, { sent, badEmail: words.isMember });
    return invite(visit, email, offer);
  },
});

export const invitation = page({
  path: '/account/people/invitation',
  who: 'account',
  formOn: PEOPLE_PATH,
  async post(visit, sent) {
    const words = WORDS[visit.language];
    const email = sent.text('email');
    const found = (await listInvitations(visit)).find((link) => link.email === email);
    if (!found) return refused(visit, { problem: words.noInvitation });
    if (sent.text('change') === 'again') return invite(visit, email, found.offer ?? { role: 'owner' });
    await visit.services.store.sessions.removeLinks({ purpose: 'invite', account: visit.account.id, email });
    await audit(visit, { action: 'member.withdraw', target: email });
    return { to: linkTo(visit, `${PEOPLE_PATH}?done=revoked`) };
  },
});

/** Earlier links of the same person to the account become invalid. */
async function invite(visit: OwnerVisit, email: string, offer: MembershipOffer): Promise<Answer> {
  const { services, account } = visit;
  const countIn = (whose: string, max: number) => allowHourly(`letters:member:${whose}`, max, services.now());
  const emails = services.mailer ? [countIn(`${account.id}:${email}`, EMAILS_MAX), countIn(email, ALL_EMAILS_MAX)] : [];
  const counted = [countIn(account.id, INVITATIONS_MAX), ...emails];
  if ((await countAttempt(services.store.sessions, counted, services.now())) > 0)
    return { ...(await peoplePage(visit, { problem: WORDS[visit.language].tooMany })), status: 429 };
  await audit(visit, { action: 'member.invite', target: email, detail: toOfferDetail(offer) });
  const token = await services.people.makeLink({ purpose: 'invite', account: account.id, email, offer });
  try {
    const isMailed = await sendLink(visit, { kind: 'invite', email, token, purpose: 'invite' });
    // Whoever has the link sets the password of a new person: with mail, only the invited get it.
    return await peoplePage(
      visit,
      isMailed ? { mailedTo: email } : { link: `${services.publicUrl()}/setup?token=${token}` },
    );
  } catch (err) {
    services.log.error({ err }, 'could not send an email');
    await uncountAttempt(services.store.sessions, emails);
    return { ...(await peoplePage(visit, { problem: WORDS[visit.language].notSent(email) })), status: 503 };
  }
}

async function refused(visit: OwnerVisit, state: PageState): Promise<Page> {
  return { ...(await peoplePage(visit, state)), status: 400 };
}

async function listInvitations({ services, account }: OwnerVisit): Promise<readonly Link[]> {
  const links = await services.store.sessions.listInvitations(account.id);
  return links.filter(({ expiresAt }) => expiresAt > services.now());
}

async function peoplePage(visit: OwnerVisit, state: PageState): Promise<Page> {
  const words = WORDS[visit.language];
  const { users } = visit.services.store;
  const rows = await listMembers(users, visit.account.id);
  const invitations = await listInvitations(visit);
  const done = findWord(words.done, visit.query.get('done'));
  const fields = html`${field({ name: 'email', label: words.email, type: 'email', value: state.sent?.text('email'), inputmode: 'email', error: state.badEmail, autofocus: state.badEmail !== undefined })}
${memberFields(visit, { sent: state.sent, offer: { role: 'member' }, problem: state.badOffer })}`;
  const body = html`${done !== undefined && message('done', done)}
${state.problem !== undefined && message('error', state.problem)}
${state.link !== undefined && message('done', html`${words.link}<br><code class="key" data-copy>${state.link}</code>`)}
${state.mailedTo !== undefined && message('done', words.mailed(state.mailedTo))}
<p>${words.text}</p>
${await memberTable(visit, rows)}
${invitations.length > 0 && html`<h2>${words.invitations}</h2>${invitationTable(visit, invitations)}`}
<h2>${words.invite}</h2>
${form(visit, { action: linkTo(visit, PEOPLE_PATH), fields, button: words.inviteButton })}`;
  return { title: words.title, body };
}

async function memberTable(visit: OwnerVisit, rows: readonly Member[]): Promise<Html> {
  const words = WORDS[visit.language];
  const { services, format, signedIn } = visit;
  const roles = roleWords(visit);
  const sums = indexSums(await services.store.ledger.budgets(rows.map(({ member }) => memberSumId(member))));
  const columns = [words.email, words.role, words.capHead].map((title) => ({ title }));
  const cells = rows.map(({ member, user }) => {
    const { cap } = member;
    const sum = sums.get(memberSumId(member));
    const spent = cap && getSpent(sum, findPeriod(services.now(), cap).start);
    const notes = [
      ...(member.user === signedIn.user.id ? [words.you] : []),
      ...(user?.status === 'suspended' ? [words.isSuspended] : []),
    ];
    return [
      html`<a href="${linkTo(visit, `${PEOPLE_PATH}/${member.user}`)}">${user?.email ?? member.user}</a>${notes.length > 0 && ` (${notes.join(', ')})`}`,
      roles[member.role],
      cap ? formatCap(visit, cap) : words.none,
      spent === undefined ? words.none : format.rub(spent),
    ];
  });
  return table(words.title, [...columns, { title: words.spent, number: true }], cells);
}

function invitationTable(visit: OwnerVisit, links: readonly Link[]): Html {
  const words = WORDS[visit.language];
  const roles = roleWords(visit);
  const columns = [words.email, words.role, words.capHead, words.expires, words.actions].map((title) => ({ title }));
  const act = (email: string, change: 'again' | 'revoke') =>
    form(visit, {
      action: linkTo(visit, `${PEOPLE_PATH}/invitation`),
      fields: html`<input type="hidden" name="email" value="${email}"><input type="hidden" name="change" value="${change}">`,
      button: change === 'again' && visit.services.mailer ? words.mailAgain : words[change],
      danger: change === 'revoke',
    });
  const cells = links.map(({ email, expiresAt, offer = { role: 'owner' as const } }) => [
    email ?? '',
    roles[offer.role],
    'cap' in offer && offer.cap ? formatCap(visit, offer.cap) : words.none,
    visit.format.time(expiresAt),
    html`<div class="buttons">${act(email ?? '', 'again')}${act(email ?? '', 'revoke')}</div>`,
  ]);
  return table(words.invitations, columns, cells);
}
