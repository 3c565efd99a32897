// The verbs of holds for services of the operator that run elsewhere.
import Joi from 'joi';
import { LEASE_SECONDS } from '../ledger/service-holds.ts';
import type { Usage } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { USAGE_UNITS } from '../money/usage-units.ts';
import { readReason } from './arguments.ts';
import { costField, countField, must, paymentField, textField, unitsField, withDefault } from './input.ts';
import { replies } from './reply-schemas.ts';
import { defineVerb, type Verb } from './verb.ts';

interface OfHold {
  readonly hold: string;
}

const LEASE = withDefault(
  countField(`How long it is held from now on, in seconds; ${LEASE_SECONDS.byDefault} by default.`, LEASE_SECONDS.most),
  LEASE_SECONDS.byDefault,
);

const REASON = {
  ...textField('A short name of the service, by which usage is added up.'),
  schema: Joi.string().max(100).description('A short name of the service, by which usage is added up.'),
  hint: 'must be a text of 1 to 100 characters',
  read: readReason,
};

interface HoldInput {
  readonly account: string;
  readonly amount_rub: Micro;
  readonly reason: string;
  readonly lease_seconds: number;
  readonly key?: string;
  readonly user?: string;
}

export const HOLD_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'hold create',
    route: { method: 'POST', path: '/holds', scope: 'holds' },
    audit: 'hold.create',
    summary: 'Hold an amount for a service that runs elsewhere',
    description:
      'Settle it with what the service cost, or release it; a hold that is neither goes back when its lease is over.',
    isRepeatable: true,
    input: {
      account: must(textField('The account that pays.')),
      amount_rub: must(paymentField('The most that the service may cost')),
      reason: must(REASON),
      lease_seconds: LEASE,
      key: textField('A key of the account, whose budget and caps it counts in.'),
      user: textField('With `key`: the end user it is for.'),
    },
    reply: replies.hold,
    run: ({ holdActions }, session, { account, amount_rub, reason, key, user, lease_seconds: lease }: HoldInput) =>
      holdActions.create(session, account, amount_rub, { reason, key, user, lease }),
  }),
  defineVerb({
    words: 'hold show',
    route: { method: 'GET', path: '/holds/{hold}', scope: 'holds' },
    summary: 'Retrieve a hold',
    input: {},
    reply: replies.hold,
    run: ({ holdActions }, session, { hold }: OfHold) => holdActions.show(session, hold),
  }),
  defineVerb({
    words: 'hold renew',
    route: { method: 'POST', path: '/holds/{hold}/renew', scope: 'holds' },
    audit: 'hold.renew',
    summary: 'Extend the lease of a hold',
    isRepeatable: true,
    input: { lease_seconds: LEASE },
    reply: replies.hold,
    run: ({ holdActions }, session, { hold, lease_seconds: lease }: OfHold & { lease_seconds: number }) =>
      holdActions.renew(session, hold, { lease }),
  }),
  defineVerb({
    words: 'hold settle',
    route: { method: 'POST', path: '/holds/{hold}/settle', scope: 'holds' },
    audit: 'hold.settle',
    summary: 'Charge at most what is held, and give the rest back',
    isRepeatable: true,
    input: {
      amount_rub: must(costField('What the service cost')),
      usage: unitsField(USAGE_UNITS, 'What it used, for reports.'),
    },
    reply: replies.hold,
    run: ({ holdActions }, session, { hold, amount_rub, usage }: OfHold & { amount_rub: Micro; usage?: Usage }) =>
      holdActions.settle(session, hold, amount_rub, { usage }),
  }),
  defineVerb({
    words: 'hold release',
    route: { method: 'POST', path: '/holds/{hold}/release', scope: 'holds' },
    audit: 'hold.release',
    summary: 'Give a hold back in full',
    isRepeatable: true,
    input: {},
    reply: replies.hold,
    run: ({ holdActions }, session, { hold }: OfHold) => holdActions.release(session, hold),
  }),
];
