// The verbs of the people of an account, and of the end users of its keys.

import { RESETS } from '../money/key-limits.ts';
import { ROLES } from '../store/ports/users.ts';
import type { MemberOptions } from './actions/member.ts';
import { choiceField, countField, must, orNull, paymentField, textField } from './input.ts';
import { NONE } from './removed.ts';
import { replies } from './reply-schemas.ts';
import { defineVerb, type OfAccount, type Verb } from './verb.ts';

interface OfMember extends OfAccount {
  readonly user: string;
}

const ROLE = choiceField(ROLES, 'What they may do in the account.');
const CAP = paymentField('The most that all keys of a member may spend between two resets');
const RESET = choiceField(RESETS, 'When the cap resets, in the time zone of the account; monthly by default.');

interface MemberInput {
  readonly role?: MemberOptions['role'];
  readonly cap_rub?: MemberOptions['cap'];
  readonly reset?: MemberOptions['reset'];
}

function toMemberOptions({ role, cap_rub: cap, reset }: MemberInput): MemberOptions {
  return { ...(role && { role }), ...(cap !== undefined && { cap }), ...(reset && { reset }) };
}

export const MEMBER_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'member list',
    route: { method: 'GET', path: '/accounts/{account}/members', scope: 'people' },
    summary: 'List the people of an account with their roles, caps and what was spent of them, and invitations',
    input: {},
    reply: replies.members,
    run: ({ memberActions }, session, { account }: OfAccount) => memberActions.list(session, account),
  }),
  defineVerb({
    words: 'member invite',
    route: { method: 'POST', path: '/accounts/{account}/members/invite', scope: 'people' },
    summary: 'Make a one-time link that gives somebody a role in an account',
    description: 'The link is valid for a week. Without a role it is that of a member.',
    input: { email: must(textField('What they sign in with.')), role: ROLE, cap_rub: CAP, reset: RESET },
    reply: replies.link,
    run: ({ memberActions }, session, { account, email, ...input }: OfAccount & MemberInput & { email: string }) =>
      memberActions.invite(session, account, email, toMemberOptions(input)),
  }),
  defineVerb({
    words: 'member set',
    route: { method: 'POST', path: '/accounts/{account}/members/{user}', scope: 'people' },
    summary: 'Change the role or the cap of somebody in an account',
    description: 'The other stays. A member who becomes an accountant loses their keys.',
    isRepeatable: true,
    input: { role: ROLE, cap_rub: orNull(CAP, NONE), reset: RESET },
    reply: replies.memberSet,
    run: ({ memberActions }, session, { account, user, ...input }: OfMember & MemberInput) =>
      memberActions.set(session, account, user, toMemberOptions(input)),
  }),
  defineVerb({
    words: 'member remove',
    route: { method: 'POST', path: '/accounts/{account}/members/{user}/remove', scope: 'people' },
    summary: 'Take an account from somebody, but not from its last owner',
    description: 'The keys of a member are revoked.',
    input: {},
    reply: replies.memberRemoved,
    run: ({ memberActions }, session, { account, user }: OfMember) => memberActions.remove(session, account, user),
  }),
  defineVerb({
    words: 'key users',
    route: { method: 'GET', path: '/keys/{key}/users', own: '/keys/{key}/users', scope: 'keys' },
    summary: 'List what the end users of a key have spent of their budgets',
    description: 'Names are stored as digests, in whose order they are listed; `name` finds one.',
    input: {
      name: textField('The name of one end user, as calls send it.'),
      after: textField('The digest after which the list goes on.'),
      limit: countField('At most this many; 100 by default.', 1000),
    },
    reply: replies.keyUsers,
    run: (
      { keyUserActions },
      session,
      { key, ...query }: { key: string; name?: string; after?: string; limit?: number },
    ) => keyUserActions.list(session, key, query),
  }),
];
