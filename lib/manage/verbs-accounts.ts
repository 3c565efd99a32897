// The verbs of accounts, their keys, and their people.

import { AT_ONCE_MAX, PER_MINUTE_MAX, WAIT_SECONDS_MAX } from '../accounts/limits.ts';
import { RESETS } from '../money/key-limits.ts';
import type { LimitOptions } from './actions/key-limits.ts';
import type { RequestLimitOptions } from './actions/request-limits.ts';
import {
  choiceField,
  countField,
  type InputFields,
  listField,
  must,
  orNull,
  paymentField,
  textField,
  timeField,
} from './input.ts';
import { NONE, REMOVED } from './removed.ts';
import { replies } from './reply-schemas.ts';
import { defineVerb, type OfAccount, type Verb } from './verb.ts';

interface OfKey {
  readonly key: string;
}
interface OfPerson {
  readonly user: string;
}

const REQUEST_LIMITS: InputFields = {
  per_minute: countField('Requests a minute.', PER_MINUTE_MAX),
  at_once: countField('Calls at once, over all gateways.', AT_ONCE_MAX),
  wait_seconds: countField(
    'How long further calls wait for their turn; needs a limit of calls at once.',
    WAIT_SECONDS_MAX,
  ),
  addresses: listField('Where requests may come from: addresses and networks, such as 10.0.0.0/8.'),
};

const KEY_LIMITS = {
  budget_rub: paymentField('The most it may spend between two resets'),
  reset: choiceField(RESETS, 'When its budget resets, in the time zone of the account.'),
  expires: timeField('When it expires'),
  models: listField('The models it may be used for.'),
  user_budget_rub: paymentField('The most that each end user, whom the calls name, may spend between two resets'),
  user_reset: choiceField(RESETS, 'When the budgets of end users reset.'),
} satisfies InputFields;

const REMOVABLE_REQUEST_LIMITS = removable(REQUEST_LIMITS, NONE);
const REMOVABLE_KEY_LIMITS: InputFields = {
  ...KEY_LIMITS,
  ...removable({ budget_rub: KEY_LIMITS.budget_rub, expires: KEY_LIMITS.expires, models: KEY_LIMITS.models }, REMOVED),
  ...removable({ user_budget_rub: KEY_LIMITS.user_budget_rub }, REMOVED),
};

function removable(fields: InputFields, removed: unknown): InputFields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, orNull(field, removed)]));
}

interface RequestLimitInput {
  readonly per_minute?: RequestLimitOptions['perMinute'];
  readonly at_once?: RequestLimitOptions['atOnce'];
  readonly wait_seconds?: RequestLimitOptions['wait'];
  readonly addresses?: RequestLimitOptions['addresses'];
}

interface KeyLimitInput extends RequestLimitInput {
  readonly budget_rub?: LimitOptions['budget'];
  readonly reset?: LimitOptions['reset'];
  readonly expires?: LimitOptions['expires'];
  readonly models?: LimitOptions['models'];
  readonly user_budget_rub?: LimitOptions['userBudget'];
  readonly user_reset?: LimitOptions['userReset'];
}

function toRequestLimits({ per_minute, at_once, wait_seconds, addresses }: RequestLimitInput): RequestLimitOptions {
  return { perMinute: per_minute, atOnce: at_once, wait: wait_seconds, addresses };
}

function toKeyLimits(input: KeyLimitInput): LimitOptions {
  const { budget_rub: budget, reset, expires, models, user_budget_rub: userBudget, user_reset: userReset } = input;
  return { ...toRequestLimits(input), budget, reset, expires, models, userBudget, userReset };
}

const ACCOUNT_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'account create',
    route: { method: 'POST', path: '/accounts', scope: 'accounts' },
    audit: 'account.create',
    summary: 'Create an account with an empty wallet',
    input: { name: must(textField('A name for people to read.')) },
    reply: replies.accountCreated,
    run: ({ accountActions }, session, input: { name: string }) => accountActions.create(session, input),
  }),
  defineVerb({
    words: 'account list',
    route: { method: 'GET', path: '/accounts', scope: 'accounts' },
    summary: 'List accounts, oldest first',
    input: {},
    reply: replies.accounts,
    run: ({ accountActions }, session) => accountActions.list(session),
  }),
  defineVerb({
    words: 'account show',
    route: { method: 'GET', path: '/accounts/{account}', scope: 'accounts' },
    summary: 'Retrieve an account',
    input: {},
    reply: replies.account,
    run: ({ accountActions }, session, { account }: OfAccount) => accountActions.show(session, account),
  }),
  defineVerb({
    words: 'account limit',
    route: { method: 'POST', path: '/accounts/{account}/limits', scope: 'accounts' },
    audit: 'account.limit',
    summary: 'Limit the requests of all keys of an account together',
    description: 'Other limits stay.',
    isRepeatable: true,
    input: REMOVABLE_REQUEST_LIMITS,
    reply: replies.account,
    run: ({ accountActions }, session, { account, ...limits }: OfAccount & RequestLimitInput) =>
      accountActions.limit(session, account, toRequestLimits(limits)),
  }),
  defineVerb({
    words: 'account price-list',
    route: { method: 'POST', path: '/accounts/{account}/price-list', scope: 'accounts' },
    summary: 'Give an account the prices of a list of the catalog',
    isRepeatable: true,
    input: { price_list: must(textField('A list in `priceLists` of the catalog, or `none` for list prices.')) },
    reply: replies.account,
    run: ({ accountActions }, session, { account, price_list }: OfAccount & { price_list: string }) =>
      accountActions.setPriceList(session, account, price_list),
  }),
  defineVerb({
    words: 'account suspend',
    route: { method: 'POST', path: '/accounts/{account}/suspend', scope: 'accounts' },
    audit: 'account.suspend',
    summary: 'Suspend an account',
    description: 'Within a second its keys get 403. Calls under way finish and are settled.',
    isRepeatable: true,
    input: {},
    reply: replies.account,
    run: ({ accountActions }, session, { account }: OfAccount) => accountActions.suspend(session, account),
  }),
  defineVerb({
    words: 'account resume',
    route: { method: 'POST', path: '/accounts/{account}/resume', scope: 'accounts' },
    audit: 'account.resume',
    summary: 'End the suspension of an account',
    isRepeatable: true,
    input: {},
    reply: replies.account,
    run: ({ accountActions }, session, { account }: OfAccount) => accountActions.resume(session, account),
  }),
];

const KEY_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'key issue',
    route: { method: 'POST', path: '/accounts/{account}/keys', own: '/keys', scope: 'keys' },
    audit: 'key.issue',
    summary: 'Issue an API key',
    description:
      'The reply is the only place that shows the key. An account has at most 10 active keys, and gets at most 200 new ones within 24 hours.',
    input: { name: must(textField('A name for people to read.')), ...KEY_LIMITS, ...REQUEST_LIMITS },
    reply: replies.keyIssued,
    run: ({ keyActions }, session, { account, name, ...limits }: OfAccount & KeyLimitInput & { name: string }) =>
      keyActions.issue(session, account, { name, ...toKeyLimits(limits) }),
  }),
  defineVerb({
    words: 'key list',
    route: { method: 'GET', path: '/accounts/{account}/keys', own: '/keys', scope: 'keys' },
    summary: 'List the API keys of an account, also revoked ones',
    input: {},
    reply: replies.keys,
    run: ({ keyActions }, session, { account }: OfAccount) => keyActions.list(session, account),
  }),
  defineVerb({
    words: 'key limit',
    route: { method: 'POST', path: '/keys/{key}/limits', own: '/keys/{key}/limits', scope: 'keys' },
    audit: 'key.limit',
    summary: 'Change the limits of an API key',
    description: 'Other limits stay.',
    isRepeatable: true,
    input: { ...REMOVABLE_KEY_LIMITS, ...REMOVABLE_REQUEST_LIMITS },
    reply: replies.keyLimits,
    run: ({ keyActions }, session, { key, ...limits }: OfKey & KeyLimitInput) =>
      keyActions.limit(session, key, toKeyLimits(limits)),
  }),
  defineVerb({
    words: 'key rotate',
    route: { method: 'POST', path: '/keys/{key}/rotate', own: '/keys/{key}/rotate', scope: 'keys' },
    audit: 'key.rotate',
    summary: 'Replace an API key, which keeps working for some hours',
    description: 'The new key has the same name and limits but no expiry; both share one budget.',
    input: { hours: countField('How long the old key keeps working; 24 by default.', 720) },
    reply: replies.keyRotated,
    run: ({ keyActions }, session, { key, hours = 24 }: OfKey & { hours?: number }) =>
      keyActions.rotate(session, key, { hours }),
  }),
  defineVerb({
    words: 'key revoke',
    route: { method: 'POST', path: '/keys/{key}/revoke', own: '/keys/{key}/revoke', scope: 'keys' },
    audit: 'key.revoke',
    summary: 'Revoke an API key for good',
    isRepeatable: true,
    input: {},
    reply: replies.keyRevoked,
    run: ({ keyActions }, session, { key }: OfKey) => keyActions.revoke(session, key),
  }),
];

const NOT_OPERATORS = 'Only the command line and the pages change operators.';

const PEOPLE_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'user list',
    route: { method: 'GET', path: '/users', scope: 'people' },
    summary: 'List everybody who may sign in, oldest first',
    input: {},
    reply: replies.people,
    run: ({ userActions }, session) => userActions.list(session),
  }),
  defineVerb({
    words: 'user invite',
    route: { method: 'POST', path: '/accounts/{account}/invite', scope: 'people' },
    summary: 'Make a one-time link that makes somebody an owner of an account',
    description: 'The link is valid for a week.',
    input: { email: must(textField('What the owner signs in with.')) },
    reply: replies.link,
    run: ({ inviteActions }, session, { account, email }: OfAccount & { email: string }) =>
      inviteActions.invite(session, account, email),
  }),
  defineVerb({
    words: 'user remove-owner',
    route: { method: 'POST', path: '/accounts/{account}/owners/{user}/remove', scope: 'people' },
    summary: 'Take an account from one of its owners, also from the last one',
    input: {},
    reply: replies.ownerRemoved,
    run: ({ userActions }, session, { account, user }: OfAccount & OfPerson) =>
      userActions.removeOwner(session, account, user),
  }),
  defineVerb({
    words: 'user suspend',
    route: { method: 'POST', path: '/users/{user}/suspend', scope: 'people' },
    summary: 'Suspend a person',
    description: `All their sessions and one-time links end at once. ${NOT_OPERATORS}`,
    isRepeatable: true,
    input: {},
    reply: replies.person,
    run: ({ userActions }, session, { user }: OfPerson) => userActions.suspend(session, user),
  }),
  defineVerb({
    words: 'user resume',
    route: { method: 'POST', path: '/users/{user}/resume', scope: 'people' },
    summary: 'End the suspension of a person',
    description: NOT_OPERATORS,
    isRepeatable: true,
    input: {},
    reply: replies.person,
    run: ({ userActions }, session, { user }: OfPerson) => userActions.resume(session, user),
  }),
  defineVerb({
    words: 'user remove',
    route: { method: 'POST', path: '/users/{user}/remove', scope: 'people' },
    summary: 'Remove a person for good',
    description: `With all sessions, links and memberships. ${NOT_OPERATORS}`,
    input: {},
    reply: replies.personRemoved,
    run: ({ userActions }, session, { user }: OfPerson) => userActions.remove(session, user),
  }),
  defineVerb({
    words: 'user reset',
    route: { method: 'POST', path: '/users/{user}/reset', scope: 'people' },
    summary: 'Make a one-time link for an owner to set a new password',
    description: 'The link is valid for an hour; using it removes the authenticator app.',
    input: {},
    reply: replies.link,
    run: ({ userActions }, session, { user }: OfPerson) => userActions.reset(session, user),
  }),
  defineVerb({
    words: 'user sessions list',
    route: { method: 'GET', path: '/users/{user}/sessions', scope: 'people' },
    summary: 'List where a person is signed in, newest first',
    input: {},
    reply: replies.sessions,
    run: ({ userActions }, session, { user }: OfPerson) => userActions.listSessions(session, user),
  }),
  defineVerb({
    words: 'user sessions end',
    route: { method: 'POST', path: '/users/{user}/sessions/end', scope: 'people' },
    summary: 'End all sessions of a person, who may sign in again',
    description: NOT_OPERATORS,
    isRepeatable: true,
    input: {},
    reply: replies.sessionsEnded,
    run: ({ userActions }, session, { user }: OfPerson) => userActions.endSessions(session, user),
  }),
];

export const ACCOUNT_AND_PEOPLE_VERBS: readonly Verb[] = [...ACCOUNT_VERBS, ...KEY_VERBS, ...PEOPLE_VERBS];
