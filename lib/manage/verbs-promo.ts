// The verbs of promo codes.
import type { Micro } from '../money/money.ts';
import { countField, flagField, must, paymentField, textField, timeField } from './input.ts';
import { replies } from './reply-schemas.ts';
import { defineVerb, type Verb } from './verb.ts';

interface PromoInput {
  readonly amount_rub: Micro;
  readonly uses: number;
  readonly reason: string;
  readonly code?: string;
  readonly until?: number;
  readonly days?: number;
  readonly opens_wallet?: boolean;
}

export const PROMO_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'promo create',
    route: { method: 'POST', path: '/promo', scope: 'topup' },
    summary: 'Make a promo code, which gives a grant to each account that uses it, once',
    input: {
      amount_rub: must(paymentField('What it gives to each account')),
      uses: must(countField('How many accounts may use it.')),
      reason: must(textField('The reason; owners see it.')),
      code: textField('4 to 40 letters, digits and hyphens; absent: a random one.'),
      until: timeField('It can be used before this time'),
      days: countField('How many days its grants last; absent: for good.', 3650),
      opens_wallet: flagField('Its grants count as the first top-up.'),
    },
    reply: replies.promo,
    run: ({ promoActions }, session, { amount_rub, opens_wallet, ...input }: PromoInput) =>
      promoActions.create(session, amount_rub, {
        ...input,
        ...(opens_wallet !== undefined && { opensWallet: opens_wallet }),
      }),
  }),
  defineVerb({
    words: 'promo list',
    // Whoever reads a code can use it.
    route: { method: 'GET', path: '/promo', scope: 'topup' },
    summary: 'List all promo codes, and how often they were used',
    input: {},
    reply: replies.promos,
    run: ({ promoActions }, session) => promoActions.list(session),
  }),
  defineVerb({
    words: 'promo end',
    route: { method: 'POST', path: '/promo/{code}/end', scope: 'topup' },
    summary: 'End a promo code: nobody can use it any more',
    description: 'Its grants stay.',
    isRepeatable: true,
    input: {},
    reply: replies.promo,
    run: ({ promoActions }, session, { code }: { code: string }) => promoActions.end(session, code),
  }),
];
