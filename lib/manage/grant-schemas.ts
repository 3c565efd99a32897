// The replies about grants and promo codes in the API document.
import { count, flag, type Json, list, nullable, object, rub, text, time } from '../base/json-schema.ts';

export const MONTHLY_GRANT = nullable(
  object({ amount_rub: rub('What it gets each month'), reason: text('The reason.') }),
);

const PROMO: Readonly<Record<string, Json>> = {
  code: text('The code, in capitals.'),
  amount_rub: rub('What it gives to each account'),
  uses: count('How many accounts may use it.'),
  used: count('How many have used it.'),
  until: nullable(time('It can be used before this time.')),
  days: nullable(count('How many days its grants last.')),
  opens_wallet: flag('Its grants count as the first top-up.'),
  reason: text('Why it was made; owners see it.'),
  created_at: time('When it was made.'),
  ended_at: nullable(time('When it was ended.')),
};

export const grantReplies = {
  grantMonthly: object({
    account_id: text('The account.'),
    monthly_grant: MONTHLY_GRANT,
    grant_id: nullable(text('The grant of this month.')),
    repeated: flag('This month was given before.'),
  }),
  grants: object({
    account_id: text('The account.'),
    grants: list(
      object({
        grant_id: text('The grant.'),
        amount_rub: rub('What was given'),
        left_rub: rub('What is left of it'),
        given_at: time('When it was given.'),
        expires_at: nullable(time('When what is left is taken back.')),
        reason: text('The reason.'),
      }),
    ),
  }),
  promo: object(PROMO),
  promos: object({ codes: list(object(PROMO)) }),
};
