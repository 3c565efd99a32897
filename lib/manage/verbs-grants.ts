// The verbs of grants.

import type { Micro } from '../money/money.ts';
import { flagField, idField, must, orNull, paymentField, textField, timeField } from './input.ts';
import { NONE } from './removed.ts';
import { replies } from './reply-schemas.ts';
import { defineVerb, type OfAccount, type Verb } from './verb.ts';

interface GiveInput extends OfAccount {
  readonly amount_rub: Micro;
  readonly grant_id: string;
  readonly reason: string;
  readonly expires?: number;
  readonly opens_wallet?: boolean;
}

interface MonthlyInput extends OfAccount {
  readonly amount_rub: Micro | typeof NONE;
  readonly reason?: string;
}

export const GRANT_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'grant give',
    route: { method: 'POST', path: '/accounts/{account}/grants', scope: 'topup' },
    summary: 'Give money that calls spend first and that is not paid back',
    description: 'The id is unique across all accounts: giving it again changes nothing.',
    isRepeatable: true,
    input: {
      amount_rub: must(paymentField('The amount')),
      grant_id: must(idField('Your own id of the grant.')),
      reason: must(textField('The reason; the owner sees it.')),
      expires: timeField('When what is left of it is taken back'),
      opens_wallet: flagField('Whether it counts as the first top-up.'),
    },
    reply: replies.grantGiven,
    run: ({ grantActions }, session, { account, amount_rub, grant_id: id, reason, expires, opens_wallet }: GiveInput) =>
      grantActions.give(session, account, amount_rub, { id, reason, expires, opensWallet: opens_wallet }),
  }),
  defineVerb({
    words: 'grant monthly',
    route: { method: 'POST', path: '/accounts/{account}/grants/monthly', scope: 'topup' },
    summary: 'Give an account an amount each month, which expires with the month',
    description:
      'In the time zone of the account. The whole amount is given at once; another amount counts from the next month on.',
    isRepeatable: true,
    input: {
      amount_rub: must(orNull(paymentField('The amount of a month'), NONE)),
      reason: textField('The reason; the owner sees it.'),
    },
    reply: replies.grantMonthly,
    run: ({ grantActions }, session, { account, amount_rub, reason }: MonthlyInput) =>
      grantActions.setMonthly(session, account, amount_rub, { reason }),
  }),
  defineVerb({
    words: 'grant list',
    route: { method: 'GET', path: '/accounts/{account}/grants', own: '/grants', scope: 'usage' },
    summary: 'List the grants of an account that are not over',
    description: 'In the order in which calls spend them.',
    input: {},
    reply: replies.grants,
    run: ({ grantActions }, session, { account }: OfAccount) => grantActions.list(session, account),
  }),
  defineVerb({
    words: 'grant revoke',
    route: { method: 'POST', path: '/accounts/{account}/grants/{grant}/revoke', scope: 'topup' },
    summary: 'Take back what is left of a grant',
    description: 'What running calls hold of it stays theirs until they end.',
    isRepeatable: true,
    input: { reason: must(textField('The reason; it stays in the ledger.')) },
    reply: replies.grantRevoked,
    run: ({ grantActions }, session, { account, grant, reason }: OfAccount & { grant: string; reason: string }) =>
      grantActions.revoke(session, account, grant, { reason }),
  }),
];
