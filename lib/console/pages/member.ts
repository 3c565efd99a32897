// One member of an account: role and cap, removal, and handing over the account; and leaving it oneself.
import { setMember } from '../../accounts/members.ts';
import { fault } from '../../base/faults.ts';
import type { Membership, User } from '../../store/ports/users.ts';
import { createUserRemoval } from '../../users/user-removal.ts';
import { audit } from '../audit.ts';
import { definitionList, field, form, message } from '../components.ts';
import { type ConfirmProblems, confirm, confirmFields } from '../confirm.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { isActive } from '../latest-keys.ts';
import { memberFields, readOffer, showOffer, toOfferDetail } from '../member-fields.ts';
import { roleWords } from '../member-words.ts';
import { type Answer, type Page, page } from '../page.ts';
import { refusalMessage, typedFields } from '../refused-form.ts';
import { reopenForm, shownField } from '../shown-values.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { PEOPLE_PATH } from './people.ts';
import { WORDS } from './people-words.ts';

interface Member {
  readonly membership: Membership;
  readonly user: User;
}

/** A member of this account; anybody else is a 404. */
async function findMember({ services, account, request }: OwnerVisit): Promise<Member> {
  const { users } = services.store;
  const id = String(request.params.id);
  const membership = (await users.listAccountMembers(account.id)).find((each) => each.user === id);
  const user = membership && (await users.get(id));
  if (!user) throw fault('not_found');
  return { membership, user };
}

export const member = page({
  path: '/account/people/{id}',
  who: 'account',
  get: async (visit) => memberPage(visit, await findMember(visit)),
  async post(visit, sent) {
    const words = WORDS[visit.language];
    const found = await findMember(visit);
    const offer = readOffer(reopenForm(sent, showOffer(visit, found.membership)), visit.language);
    if (!offer) return { ...memberPage(visit, found, { sent, badOffer: words.badCap }), status: 400 };
    const { services, account } = visit;
    const terms = { account: account.id, user: found.user.id, ...offer };
    const changed = await setMember(services.store.users, terms, services.now());
    if (changed === 'none') throw fault('not_found');
    if (changed === 'last_owner')
      return { ...memberPage(visit, found, { sent, problem: words.lastOwner }), status: 400 };
    const detail = { email: found.user.email, ...toOfferDetail(offer) };
    await audit(visit, { action: 'member.change', target: found.user.id, detail });
    // An owner who has given up the role does not see the list any more.
    const isOut = found.user.id === visit.signedIn.user.id && offer.role !== 'owner';
    return { to: linkTo(visit, isOut ? '/account' : `${PEOPLE_PATH}?done=saved`) };
  },
});

interface PageState {
  readonly sent?: Form;
  readonly problem?: string;
  /** The error of role and cap. */
  readonly badOffer?: string;
}

function memberPage(visit: OwnerVisit, { membership, user }: Member, state: PageState = {}): Page {
  const words = WORDS[visit.language];
  const path = linkToMember(visit, user);
  const isSelf = user.id === visit.signedIn.user.id;
  const links = [
    !isSelf &&
      membership.role !== 'owner' &&
      user.status === 'active' &&
      html`<a href="${path('/hand-over')}">${words.handOver}</a> · `,
    isSelf
      ? html`<a href="${linkTo(visit, '/account/leave')}">${words.leave}</a> · `
      : html`<a href="${path('/remove')}">${words.remove}</a> · `,
  ];
  const fields = memberFields(visit, { sent: state.sent, offer: membership, problem: state.badOffer });
  const body = html`${state.problem !== undefined && message('error', state.problem)}
${form(visit, { action: path(''), fields: html`${shownField(showOffer(visit, membership), state.sent)}${fields}`, button: words.save })}
<p>${links}<a href="${linkTo(visit, PEOPLE_PATH)}">${words.back}</a></p>`;
  return { title: user.email, body };
}

function linkToMember(visit: OwnerVisit, { id }: User) {
  return (more: string) => linkTo(visit, `${PEOPLE_PATH}/${encodeURIComponent(id)}${more}`);
}

/** The names of the keys that end with a membership. */
async function listEndingKeys(visit: OwnerVisit, { role, user }: Membership): Promise<readonly string[]> {
  if (role !== 'member') return [];
  const keys = await visit.services.store.keys.list(visit.account.id);
  return keys.filter((key) => key.createdBy === user && isActive(visit, key)).map(({ name }) => name);
}

export const removeMember = page({
  path: '/account/people/{id}/remove',
  who: 'account',
  get: async (visit) => removalPage(visit, await findMember(visit)),
  async post(visit) {
    const found = await findMember(visit);
    const { account, services, language } = visit;
    const left = await createUserRemoval(services).leaveAccount(found.user, account.id);
    if (left === 'last_owner') return { ...(await removalPage(visit, found, WORDS[language].lastOwner)), status: 400 };
    const { email } = found.user;
    await audit(visit, { action: 'member.remove', target: found.user.id, detail: { email } });
    return { to: linkTo(visit, `${PEOPLE_PATH}?done=removed`) };
  },
});

async function removalPage(visit: OwnerVisit, { membership, user }: Member, problem?: string): Promise<Page> {
  const words = WORDS[visit.language];
  const keys = await listEndingKeys(visit, membership);
  const others = membership.role === 'owner' ? words.removeOwner : words.removeOther;
  const text = keys.length > 0 ? words.removeKeys(keys.join(', ')) : others;
  const body = html`${problem !== undefined && message('error', problem)}
<p>${text}</p>
${form(visit, { action: linkToMember(visit, user)('/remove'), fields: '', button: words.remove, danger: true })}
<p><a href="${linkTo(visit, PEOPLE_PATH)}">${words.back}</a></p>`;
  return { title: words.removeTitle(user.email), body };
}

export const handOver = page({
  path: '/account/people/{id}/hand-over',
  who: 'account',
  get: async (visit) => handOverPage(visit, await findMember(visit)),
  async post(visit, sent): Promise<Answer> {
    const { user, membership } = await findMember(visit);
    const { account, services, signedIn } = visit;
    const self = signedIn.user;
    if (user.id === self.id || user.status !== 'active') throw fault('not_found');
    const confirmed = self.password === null ? { user: self } : await confirm(visit, sent);
    if ('problems' in confirmed)
      return { ...(await handOverPage(visit, { user, membership }, confirmed.problems)), status: confirmed.status };
    const change = { account: account.id, from: self.id, to: user.id, at: services.now() };
    if ((await services.store.users.handOver(change)) !== 'done') throw fault('not_found');
    await audit(visit, { action: 'member.hand_over', target: user.id, detail: { email: user.email } });
    return { to: linkTo(visit, '/account?done=handed') };
  },
});

async function handOverPage(visit: OwnerVisit, { user }: Member, problems?: ConfirmProblems): Promise<Page> {
  const words = WORDS[visit.language];
  const isGuest = visit.signedIn.user.password === null;
  const fields = isGuest ? '' : confirmFields(visit, 'hand-over', problems);
  const body = html`<p>${words.handOverText(user.email)}</p>${await cardNote(visit)}
${form(visit, { action: linkToMember(visit, user)('/hand-over'), fields, button: words.handOver, danger: true })}
<p><a href="${linkTo(visit, PEOPLE_PATH)}">${words.back}</a></p>`;
  return { title: words.handOverTitle(user.email), body };
}

/** A card stays with the account, whoever saved it. */
async function cardNote({ services, account, language }: OwnerVisit): Promise<Html | undefined> {
  const auto = await services.store.payments.autoTopup(account.id);
  return auto?.enabled ? html`<p>${WORDS[language].cardStays}</p>` : undefined;
}

export const leave = page({
  path: '/account/leave',
  who: 'account',
  get: (visit) => leavePage(visit),
  async post(visit, sent): Promise<Answer> {
    const { account, accounts, services, signedIn, language } = visit;
    const words = WORDS[language];
    const refuse = async (text: string, field?: string) => ({
      ...(await leavePage({ ...visit, refused: { sent, text, field } })),
      status: 400,
    });
    if (sent.text('name') !== account.name) return refuse(words.leaveWrong, 'name');
    const left = await createUserRemoval(services).leaveAccount(signedIn.user, account.id);
    if (left === 'last_owner') return refuse(words.lastOwner);
    await audit(visit, { action: 'member.leave', target: signedIn.user.id });
    if (accounts.length > 1 || signedIn.user.operator) return { to: '/account' };
    return { title: words.leave, body: message('done', words.left) };
  },
});

async function leavePage(visit: OwnerVisit): Promise<Page> {
  const words = WORDS[visit.language];
  const { account, role, signedIn } = visit;
  const keys = await listEndingKeys(visit, { account: account.id, user: signedIn.user.id, role });
  const name = field({
    ...typedFields(visit, {})('name'),
    label: words.leaveName,
    hint: words.leaveHint(account.name),
  });
  const body = html`${refusalMessage(visit)}
${definitionList([[words.role, roleWords(visit)[role]]])}
<p>${keys.length > 0 ? words.leaveKeys(keys.join(', ')) : role === 'owner' ? words.leaveOwner : words.leaveOther}</p>${role === 'owner' && (await cardNote(visit))}
${form(visit, { action: linkTo(visit, '/account/leave'), fields: name, button: words.leave, danger: true })}
<p><a href="${linkTo(visit, '/account/settings')}">${words.backToSettings}</a></p>`;
  return { title: words.leave, body };
}
