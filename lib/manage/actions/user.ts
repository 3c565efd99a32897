// People: lists, suspends, resumes and removes them, takes them off accounts and ends their sessions.

import { OperatorError, UnknownError } from '../../base/operator-error.ts';
import type { Membership, Role, User } from '../../store/ports/users.ts';
import { walkPages } from '../../store/walks.ts';
import { listOwners } from '../../users/owners.ts';
import type { RemovalOutcome, UserRemoval } from '../../users/user-removal.ts';
import { type Answer, formatPairs, formatTable, toTime } from '../answer.ts';
import { createLinkAnswer, recordAction } from '../audited-action.ts';
import { findAccount, findUser, type Session } from '../session.ts';

export const userActions = { list, suspend, resume, remove, removeOwner, reset, listSessions, endSessions };

const ROWS_PER_PAGE = 200;

async function list({ store: { users } }: Session): Promise<Answer> {
  const found: User[] = [];
  for await (const page of walkPages(ROWS_PER_PAGE, users.page, ({ id }) => id)) found.push(...page);
  found.sort((one, other) => one.createdAt - other.createdAt);
  const people: ReturnType<typeof toJson>[] = [];
  for (const user of found) people.push(toJson(user, await users.listUserMemberships(user.id)));
  const rows = people.map(({ email, role, status, authenticator_app: hasApp, created_at: created, accounts }) => [
    email,
    role,
    status,
    hasApp ? 'yes' : 'no',
    created,
    accounts.join(' '),
  ]);
  return {
    json: { users: people },
    text: rows.length === 0 ? 'Nobody.' : formatTable(['email', 'role', 'status', 'app', 'created', 'accounts'], rows),
  };
}

async function suspend(session: Session, who: string): Promise<Answer> {
  return changeStatus(session, who, 'suspend');
}

async function resume(session: Session, who: string): Promise<Answer> {
  return changeStatus(session, who, 'resume');
}

async function changeStatus(session: Session, who: string, change: 'suspend' | 'resume'): Promise<Answer> {
  const user = await findUser(session, who);
  expectDone(user, await (await openUserRemoval(session))[change](user.id));
  await recordAction(session, { action: `user.${change}`, target: user.id, detail: { email: user.email } });
  return describe(session, { ...user, status: change === 'suspend' ? 'suspended' : 'active' });
}

async function remove(session: Session, who: string): Promise<Answer> {
  const user = await findUser(session, who);
  expectDone(user, await (await openUserRemoval(session)).remove(user.id));
  await recordAction(session, { action: 'user.remove', target: user.id, detail: { email: user.email } });
  const { id, email } = user;
  return {
    json: { user_id: id, email, status: 'removed' },
    text: `${email} is removed. The audit log and consents stay; keys of accounts go on working.`,
  };
}

async function removeOwner(session: Session, idOrName: string, who: string): Promise<Answer> {
  const account = await findAccount(session, idOrName);
  const user = await findUser(session, who);
  const owns = (await listOwners(session.store.users, account.id)).some(({ user: id }) => id === user.id);
  const removal = await openUserRemoval(session);
  if (!owns || (await removal.leaveAccount(user, account.id, { isForced: true })) !== 'done')
    throw new UnknownError(`${user.email} is not an owner of the account ${account.id}.`);
  const action = { action: 'owner.remove', target: user.id, account: account.id, detail: { email: user.email } };
  await recordAction(session, action);
  const left = (await listOwners(session.store.users, account.id)).length;
  const lost = 'It was the last owner: nobody can sign in to the account now. Its keys and automatic top-ups go on.';
  return {
    json: { user_id: user.id, account_id: account.id, owners_left: left },
    text: `${user.email} is no owner of the account any more.${left === 0 ? ` ${lost}` : ''}`,
  };
}

async function reset(session: Session, who: string): Promise<Answer> {
  const user = await findUser(session, who);
  if (user.operator) throw new OperatorError(`${user.email} is an operator: use "tollgate operator reset".`);
  if (user.status !== 'active') throw new OperatorError(`${user.email} is suspended.`);
  if (user.password === null) throw new OperatorError(`${user.email} is a guest of the sandbox, without a password.`);
  await recordAction(session, { action: 'user.reset', target: user.id, detail: { email: user.email } });
  return createLinkAnswer(session, { purpose: 'restore', user: user.id, email: user.email });
}

async function listSessions(session: Session, who: string): Promise<Answer> {
  const user = await findUser(session, who);
  const found = await (await openSessions(session)).list(user);
  const json = found.map(({ createdAt, seenAt, address, agent }) => ({
    created_at: toTime(createdAt),
    seen_at: toTime(seenAt),
    address,
    agent,
  }));
  const rows = json.map(({ created_at, seen_at, address, agent }) => [created_at, seen_at, address, agent]);
  const text = rows.length === 0 ? 'None.' : formatTable(['created', 'seen', 'address', 'browser'], rows);
  return { json: { user_id: user.id, sessions: json }, text };
}

async function endSessions(session: Session, who: string): Promise<Answer> {
  const user = await findUser(session, who);
  const sessions = await openSessions(session);
  const ended = (await sessions.list(user)).length;
  await sessions.endAll(user.id);
  await recordAction(session, { action: 'user.sessions', target: user.id, detail: { email: user.email } });
  return { json: { user_id: user.id, ended }, text: `Ended ${ended} of ${user.email}.` };
}

function expectDone({ email }: User, outcome: RemovalOutcome): void {
  if (outcome === 'gone') throw new OperatorError(`${email} has already been removed.`);
  if (outcome === 'last_operator')
    throw new OperatorError(`${email} is the last active operator: make another one first.`);
}

async function openUserRemoval({ store }: Session): Promise<UserRemoval> {
  const { createUserRemoval } = await import('../../users/user-removal.ts');
  return createUserRemoval({ store });
}

async function openSessions({ store }: Session) {
  const { createSessions } = await import('../../users/sessions.ts');
  return createSessions({ store });
}

async function describe({ store }: Session, user: User): Promise<Answer> {
  const json = toJson(user, await store.users.listUserMemberships(user.id));
  const text = formatPairs([
    ['user', json.user_id],
    ['email', json.email],
    ['role', json.role],
    ['status', json.status],
    ['app', json.authenticator_app ? 'yes' : 'no'],
    ['created', json.created_at],
    ['accounts', json.accounts.length === 0 ? 'none' : json.accounts.join(' ')],
  ]);
  return { json, text };
}

function toJson({ id, email, operator, status, totpSecret, createdAt }: User, memberships: readonly Membership[]) {
  return {
    user_id: id,
    email,
    role: operator ? 'operator' : findMainRole(memberships),
    status,
    authenticator_app: totpSecret !== null,
    created_at: toTime(createdAt),
    accounts: memberships.map(({ account }) => account),
  };
}

/** That of an owner, if any; somebody without an account may become one. */
function findMainRole(memberships: readonly Membership[]): Role {
  const [first] = memberships;
  return first && memberships.every(({ role }) => role !== 'owner') ? first.role : 'owner';
}
