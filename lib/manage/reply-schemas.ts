// The replies of the management API in the API document: what the command line prints with `--json`.
import {
  any,
  choice,
  constant,
  count,
  flag,
  type Json,
  list,
  nullable,
  object,
  ref,
  rub,
  text,
  time,
} from '../base/json-schema.ts';
import { CHARGE_KINDS, CHARGE_STATES } from '../money/decide.ts';
import { PAYMENT_PHASES } from '../money/payment-rules.ts';
import { USAGE_UNITS } from '../money/usage-units.ts';
import { ROLES } from '../store/ports/users.ts';
import { grantReplies, MONTHLY_GRANT } from './grant-schemas.ts';

const REPEATED = flag('It had been done before, and nothing changed.');

const REQUESTS = object({
  per_minute: nullable(count('Requests a minute.')),
  at_once: nullable(count('Calls at once, over all gateways.')),
  wait_seconds: nullable(count('How long further calls wait for their turn.')),
  addresses: nullable(list({ type: 'string' }, { description: 'Where requests may come from.' })),
});

const BUDGET = nullable(
  object({ rub: rub('The budget'), reset: text('When it resets.'), time_zone: text('The time zone of the resets.') }),
);

const KEY_LIMITS: Readonly<Record<string, Json>> = {
  budget: BUDGET,
  expires_at: nullable(time('When it expires.')),
  models: nullable(list({ type: 'string' }, { description: 'The models it may be used for.' })),
  user_budget: BUDGET,
  requests: REQUESTS,
};

const WALLET: Readonly<Record<string, Json>> = {
  account_id: text('The account.'),
  status: choice(['active', 'suspended']),
  currency: constant('RUB'),
  balance_rub: rub('What can be spent'),
  held_rub: rub('What running calls and holds reserve'),
  charged_rub: rub('Charges less refunds'),
  topped_up_total_rub: rub('Payments, less refunds and lost disputes'),
  adjusted_rub: rub('Corrections'),
  granted_rub: rub('What was given'),
  granted_left_rub: rub('What is left of grants'),
  play_money: flag('Present if it holds money of test payments.'),
};
const OPTIONAL_OF_WALLET = ['granted_rub', 'granted_left_rub', 'play_money'];

const CHARGE: Readonly<Record<string, Json>> = {
  request_id: text('The id of the call or the hold.'),
  account_id: text('The account.'),
  key_id: text('The key; of a hold without one, the management key.'),
  kind: choice(CHARGE_KINDS),
  model: text('The model that is billed; of a hold, its reason.'),
  state: choice(CHARGE_STATES),
  reserved_rub: rub('What was held'),
  charged_rub: rub('What was charged'),
  granted_rub: rub('What grants pay of it, or of what is held; absent: nothing'),
  prices_rub: { type: 'object', description: 'The prices of the call.', additionalProperties: { type: 'number' } },
  receipt: any('How the cost follows from the tokens; absent for calls that are not billed by tokens.'),
  price_list: {
    ...object({
      name: text('The price list that set the prices.'),
      version: text('Changes with any price of the list.'),
    }),
    description: 'Absent for calls at list prices, and for owners.',
  },
  list_price: {
    ...object({
      rub: nullable(rub('What the call would have cost at list prices; null if it was not charged')),
      difference_percent: nullable({ type: 'number', description: 'What was charged less that, in percent of it.' }),
    }),
    description: 'Absent for calls at list prices.',
  },
  created_at: time('When it started.'),
  ended_at: nullable(time('When it ended.')),
};
const OPTIONAL_OF_CHARGE = ['granted_rub', 'receipt', 'price_list', 'list_price'];

const UNITS = Object.fromEntries(USAGE_UNITS.map((unit) => [unit, count(`The sum of \`${unit}\`.`)]));

const USAGE_SUM: Readonly<Record<string, Json>> = {
  calls: count('Calls.'),
  charged_rub: rub('What they were charged, after refunds'),
  refunded_rub: rub('What was refunded'),
  ...UNITS,
};

const GROUPS = {
  day: text('With `by=day`.'),
  model: text('With `by=model`.'),
  kind: text('With `by=kind`.'),
};

const COST_SUM: Readonly<Record<string, Json>> = {
  calls: count('Calls.'),
  attempts: count('Attempts at upstreams.'),
  charged_rub: rub('What calls were charged'),
  cost_reported_rub: rub('Cost that the upstreams reported the usage of'),
  cost_estimated_rub: rub('Estimated cost'),
  cost_possible_rub: rub('Cost that a vendor may bill'),
  margin_rub: rub('What was charged less reported and estimated cost'),
  attempts_without_cost: count('Attempts whose cost is unknown.'),
};

const ENTRY_CHANGE = object(
  {
    balance_rub: rub('Change of the balance'),
    held_rub: rub('Change of what is held'),
    charged_rub: rub('Change of what was charged'),
    topped_up_rub: rub('Change of payments'),
    adjusted_rub: rub('Change of corrections'),
    granted_rub: rub('Change of what was given'),
  },
  { optional: ['granted_rub'] },
);

/** What a call used is named beside the rest: counts such as `tokens_input` and `seconds`, and how it was routed. */
function withUsage(schema: Json): Json {
  const description = 'Also has what the call used: `tokens_input`, `tokens_output`, `images`, `seconds` and others.';
  return { ...schema, description, additionalProperties: true };
}

/** Schemas that replies refer to. */
export const REPLY_SCHEMAS: Readonly<Record<string, Json>> = {
  ManagedAccount: object({
    account_id: text('The account.'),
    name: text('A name for people.'),
    status: choice(['active', 'suspended']),
    created_at: time('When it was created.'),
    requests: REQUESTS,
    price_list: nullable(text('The price list; null for list prices.')),
    monthly_grant: MONTHLY_GRANT,
    auto_topup: object({
      enabled: flag('Whether the owner has switched it on.'),
      amount_rub: rub('Amount of an automatic top-up'),
      threshold_rub: rub('The balance that triggers one'),
    }),
  }),
  ManagedKey: object({
    key_id: text('The key.'),
    name: text('A name for people.'),
    last4: text('The last four characters of the key.'),
    status: choice(['active', 'expired', 'revoked']),
    created_at: time('When it was issued.'),
    revoked_at: nullable(time('When it was revoked.')),
    requests_count: count('Requests made with it.'),
    last_used_at: nullable(time('The last request.')),
    ...KEY_LIMITS,
    spent_rub: nullable(rub('Spent of the budget in this period')),
    budget_shared_with: nullable(text('The key whose budget it shares.')),
  }),
  ManagedKeyLimits: object({ key_id: text('The key.'), ...KEY_LIMITS }),
  ManagedWallet: object(WALLET, { optional: OPTIONAL_OF_WALLET }),
  ManagedCharge: withUsage(object(CHARGE, { optional: OPTIONAL_OF_CHARGE })),
  ManagedCall: withUsage(
    object(
      {
        ...CHARGE,
        video: any('The state of the video; absent for other calls.'),
        attempts: list(
          { type: 'object' },
          { description: 'Attempts at upstreams, with what they cost; absent for owners.' },
        ),
        entries: list({ type: 'object' }, { description: 'Its entries in the journal.' }),
        archived: text('The archive it is read from; absent for calls in the store.'),
      },
      { optional: [...OPTIONAL_OF_CHARGE, 'attempts', 'video', 'archived'] },
    ),
  ),
  ManagedPayment: object(
    {
      payment_id: text('The payment.'),
      account_id: text('The account.'),
      provider: text('The payment provider.'),
      phase: choice(PAYMENT_PHASES),
      origin: text('Who ordered it.'),
      provider_payment_id: nullable(text("The provider's id.")),
      reason: nullable(text('Why it is in this phase.')),
      ordered_rub: rub('The amount of the order'),
      credited_rub: rub('What was credited'),
      refunded_rub: rub('What went back'),
      shortfall_rub: rub('What a dispute took that the wallet did not have'),
      created_at: time('When it was ordered.'),
      changed_at: time('When it last changed.'),
      provider_state: any('What the provider said.'),
      refunds: list({ type: 'object' }, { description: 'Its refunds.' }),
      dispute: any('Its dispute; null if there is none.'),
      repeated: REPEATED,
    },
    { optional: ['repeated'] },
  ),
  ManagedPerson: object({
    user_id: text('The person.'),
    email: text('What they sign in with.'),
    role: choice(['operator', ...ROLES]),
    status: choice(['active', 'suspended']),
    authenticator_app: flag('Whether they sign in in two steps.'),
    created_at: time('When they were created.'),
    accounts: list({ type: 'string' }, { description: 'Their accounts.' }),
  }),
};

const OF_MEMBER = { account_id: text('The account.'), user_id: text('The person.') };
const MEMBER_CAP = any('The cap: `rub`, `reset`, perhaps `time_zone`; null for none.');

export const replies = {
  account: ref('ManagedAccount'),
  accountCreated: object({ account_id: text('The new account.') }),
  accounts: object({ accounts: list(ref('ManagedAccount')) }),
  keyIssued: object({ key_id: text('The new key.'), key: text('The key itself, which is shown only once.') }),
  keyRotated: object({
    key_id: text('The new key.'),
    key: text('The key itself, which is shown only once.'),
    replaces: text('The replaced key.'),
    ends_at: time('When the replaced key ends.'),
  }),
  keyLimits: ref('ManagedKeyLimits'),
  keyRevoked: object({ key_id: text('The key.'), status: constant('revoked'), repeated: REPEATED }),
  keys: object({ account_id: text('The account.'), keys: list(ref('ManagedKey')) }),
  wallet: ref('ManagedWallet'),
  walletChanged: object({ ...WALLET, repeated: REPEATED }, { optional: OPTIONAL_OF_WALLET }),
  walletAdjusted: object(
    { ...WALLET, adjust_id: text('The id of the correction.'), repeated: REPEATED },
    { optional: OPTIONAL_OF_WALLET },
  ),
  playMoney: object({ ...WALLET, written_off_rub: rub('What was taken away') }, { optional: OPTIONAL_OF_WALLET }),
  ...grantReplies,
  grantGiven: object({ ...WALLET, grant_id: text('The grant.'), repeated: REPEATED }, { optional: OPTIONAL_OF_WALLET }),
  grantRevoked: object(
    { ...WALLET, grant_id: text('The grant.'), taken_rub: rub('What was taken back'), repeated: REPEATED },
    { optional: OPTIONAL_OF_WALLET },
  ),
  call: ref('ManagedCall'),
  charges: object({
    charges: list(ref('ManagedCharge')),
    next: nullable(text('For `before` of the next page; null if this is the last.')),
  }),
  usage: object({
    account_id: text('The account.'),
    from: nullable(time('The start of the span.')),
    to: nullable(time('The end of the span.')),
    by: text('What a row stands for.'),
    rows: list(
      object(
        { ...GROUPS, key_id: text('With `by=key`: the key.'), key_name: text('Its name.'), ...USAGE_SUM },
        { optional: [...Object.keys(GROUPS), 'key_id', 'key_name'] },
      ),
      { description: 'One for each group, which is under its name.' },
    ),
    total: object(USAGE_SUM),
  }),
  costs: object({
    from: nullable(time('The start of the span.')),
    to: nullable(time('The end of the span.')),
    by: text('What a row stands for.'),
    rows: list(
      object(
        { ...GROUPS, upstream: text('With `by=upstream`.'), account: text('With `by=account`.'), ...COST_SUM },
        { optional: [...Object.keys(GROUPS), 'upstream', 'account'] },
      ),
      { description: 'One for each group, which is under its name.' },
    ),
    total: object(COST_SUM),
  }),
  entries: object(
    {
      account_id: text('The account.'),
      entries: list(
        object({
          seq: count('Its number.'),
          at: time('When it was written.'),
          kind: text('The operation.'),
          request_id: nullable(text('The call.')),
          note: nullable(text('The payment id or the reason.')),
          change: ENTRY_CHANGE,
          overshoot_rub: rub('What a call cost above its hold'),
        }),
      ),
      next_before: nullable(count('For `before` of the next page; null if this is the last.')),
      archived_to: count('Up to this entry, entries of calls are in an archive.'),
    },
    { optional: ['archived_to'] },
  ),
  ledger: object(
    {
      ok: flag('Whether everything adds up.'),
      wallets: count('Wallets checked.'),
      entries: count('Entries checked.'),
      drift_rub: rub('What is missing or too much'),
      problems: list({ type: 'object' }, { description: 'Present if something does not add up.' }),
      problems_more: count('Problems that are not listed.'),
    },
    { optional: ['problems', 'problems_more'] },
  ),
  payment: ref('ManagedPayment'),
  payments: object({
    payments: list(ref('ManagedPayment')),
    next: nullable(text('For `before` of the next page; null if this is the last.')),
  }),
  catalog: object({
    ok: flag('Whether a start would take the catalog.'),
    models: count('Models.'),
    usable: count('Models that can be called.'),
    upstreams: count('Upstreams.'),
    switched_off: list({ type: 'string' }, { description: 'Upstreams that lack a variable.' }),
    price_lists: list(object({ name: text('The list.'), prices: count('Models with another price.') })),
    warnings: list({ type: 'string' }),
  }),
  rates: object({
    rates: list(
      object({
        currency: text('The currency.'),
        rub: text('Roubles for one of it.'),
        from: text('From which day.'),
        used_since: time('When a gateway first used it.'),
      }),
    ),
  }),
  link: object({ url: text('A one-time link, shown only once.') }),
  person: ref('ManagedPerson'),
  people: object({ users: list(ref('ManagedPerson')) }),
  personRemoved: object({ user_id: text('The person.'), email: text('The address.'), status: constant('removed') }),
  ownerRemoved: object({
    user_id: text('The person.'),
    account_id: text('The account.'),
    owners_left: count('Owners that are left.'),
  }),
  members: object({
    account_id: text('The account.'),
    members: list(
      object({
        user_id: text('The person.'),
        email: nullable(text('What they sign in with.')),
        role: choice(ROLES),
        status: choice(['active', 'suspended']),
        cap: MEMBER_CAP,
        spent_rub: nullable(rub('Spent of the cap in this period; null without a cap')),
        active_keys: count('Active keys that they issued.'),
      }),
    ),
    invitations: list(
      object({
        email: text('Who is invited.'),
        role: choice(ROLES),
        cap: MEMBER_CAP,
        expires_at: time('When the invitation expires.'),
      }),
    ),
  }),
  memberSet: object({ ...OF_MEMBER, role: choice(ROLES), cap: MEMBER_CAP }),
  memberRemoved: object({ ...OF_MEMBER, status: constant('removed') }),
  keyUsers: object({
    key_id: text('The key.'),
    cap: any('The budget of each end user: `rub`, `reset`, `time_zone`.'),
    users: list(object({ user: text('The digest of the name.'), spent_rub: rub('Spent in this period') })),
    next: nullable(text('For `after` of the next page; null if this is the last.')),
  }),
  sessions: object({
    user_id: text('The person.'),
    sessions: list(
      object({
        created_at: time('When they signed in.'),
        seen_at: time('When it was last used.'),
        address: text('The address that it was opened from.'),
        agent: text('What the browser calls itself.'),
      }),
    ),
  }),
  sessionsEnded: object({ user_id: text('The person.'), ended: count('Sessions that were ended.') }),
  hold: object({
    hold_id: text('The hold, which is also the id of its charge.'),
    account_id: text('The account.'),
    key_id: text('The key, or the management key if none was named.'),
    reason: text('What it is for.'),
    state: choice(CHARGE_STATES),
    held_rub: rub('What is held'),
    charged_rub: rub('What was charged'),
    balance_rub: rub('What the wallet can spend'),
    lease_until: nullable(time('When it goes back; null once it has ended.')),
    repeated: REPEATED,
  }),
} satisfies Readonly<Record<string, Json>>;
