// The verbs of wallets, payments, calls, reports, the ledger and the catalog.
import { USAGE_GROUPS, type UsageGroup } from '../ledger/usage.ts';
import { CHARGE_KINDS, CHARGE_STATES } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { PAYMENT_PHASES, type PaymentPhase } from '../money/payment-rules.ts';
import { COST_GROUPS, type CostGroup } from '../store/ports/attempts.ts';
import type { ChargeFilter } from '../store/ports/ledger.ts';
import {
  amountField,
  choiceField,
  countField,
  flagField,
  type InputFields,
  idField,
  must,
  paymentField,
  textField,
  timeField,
  withDefault,
} from './input.ts';
import { OPERATOR_FIELDS } from './operator-fields.ts';
import { replies } from './reply-schemas.ts';
import { defineVerb, type OfAccount, type Verb } from './verb.ts';

interface OfPayment {
  readonly payment: string;
}

const REASON = must(textField('The reason; it stays in the ledger.'));
const ROWS_MAX = 1000;
const ROWS = withDefault(countField('At most this many; 50 by default.', ROWS_MAX), 50);

const CHARGE_FILTER: InputFields = {
  from: timeField('Calls that started at this time or later'),
  to: timeField('Calls that started before this time'),
  key: textField('Calls made with this key.'),
  model: textField('Calls billed as this model.'),
  kind: choiceField(CHARGE_KINDS, 'Calls of this kind.'),
  state: choiceField(CHARGE_STATES, 'Calls in this state.'),
};

const WALLET_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'wallet show',
    route: { method: 'GET', path: '/accounts/{account}/wallet', own: '/wallet', scope: 'usage' },
    summary: 'Retrieve a wallet',
    input: {},
    reply: replies.wallet,
    run: ({ walletActions }, session, { account }: OfAccount) => walletActions.show(session, account),
  }),
  defineVerb({
    words: 'wallet topup',
    route: { method: 'POST', path: '/accounts/{account}/wallet/topup', scope: 'topup' },
    audit: 'wallet.topup',
    summary: 'Book a payment',
    description:
      'The payment id is unique across all wallets: booking it again changes nothing. The first payment of a wallet is at least 1000 RUB.',
    isRepeatable: true,
    input: {
      amount_rub: must(paymentField('The amount paid')),
      payment_id: must(idField('The id of the payment at the bank or shop.')),
    },
    reply: replies.walletChanged,
    run: ({ walletActions }, session, input: OfAccount & { amount_rub: Micro; payment_id: string }) =>
      walletActions.topup(session, input.account, input.amount_rub, { paymentId: input.payment_id }),
  }),
  defineVerb({
    words: 'wallet adjust',
    route: { method: 'POST', path: '/accounts/{account}/wallet/adjust', scope: 'topup' },
    audit: 'wallet.adjust',
    summary: 'Correct a balance, up or down, with an entry of its own',
    description: 'Never takes it below zero. A correction is not a payment: a wallet still needs its first top-up.',
    isRepeatable: true,
    input: {
      amount_rub: must(amountField('The change')),
      reason: REASON,
      adjust_id: idField('Your own id of the correction, unique across all wallets.'),
    },
    reply: replies.walletAdjusted,
    run: ({ walletActions }, session, input: OfAccount & { amount_rub: Micro; reason: string; adjust_id?: string }) =>
      walletActions.adjust(session, input.account, input.amount_rub, {
        reason: input.reason,
        adjustId: input.adjust_id ?? session.caller?.operation,
      }),
  }),
  defineVerb({
    words: 'wallet play-money',
    route: { method: 'POST', path: '/accounts/{account}/wallet/play-money', scope: 'topup' },
    audit: 'wallet.play_money',
    summary: 'Decide on the money of test payments in a wallet',
    input: {
      how: must(
        choiceField(
          ['convert', 'write_off'],
          '`convert`: it stays, as if it had been paid; `write_off`: it is taken away.',
        ),
      ),
      reason: REASON,
    },
    reply: replies.playMoney,
    run: (
      { walletActions },
      session,
      { account, how, reason }: OfAccount & { how: 'convert' | 'write_off'; reason: string },
    ) =>
      walletActions.playMoney(session, account, { convert: how === 'convert', writeOff: how === 'write_off', reason }),
  }),
];

const PAYMENT_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'payment list',
    route: { method: 'GET', path: '/payments', scope: 'topup' },
    summary: 'List payments, newest first',
    input: {
      account: textField('Only of this account.'),
      phase: choiceField(PAYMENT_PHASES, 'Only in this phase.'),
      limit: ROWS,
      before: textField('Only payments older than this one.'),
    },
    reply: replies.payments,
    run: (
      { paymentActions },
      session,
      input: { account?: string; phase?: PaymentPhase; limit: number; before?: string },
    ) => paymentActions.list(session, input),
  }),
  defineVerb({
    words: 'payment show',
    route: { method: 'GET', path: '/payments/{payment}', scope: 'topup' },
    summary: 'Retrieve a payment',
    input: {},
    reply: replies.payment,
    run: ({ paymentActions }, session, { payment }: OfPayment) => paymentActions.show(session, payment),
  }),
  defineVerb({
    words: 'payment refund',
    route: { method: 'POST', path: '/payments/{payment}/refund', scope: 'topup' },
    audit: 'payment.refund',
    summary: 'Request a refund from the provider',
    description: 'It leaves the balance at once, and is given back if the provider refuses.',
    isRepeatable: true,
    input: {
      amount_rub: must(paymentField('The amount to give back', 2)),
      reason: REASON,
      refund_id: idField('Your own id of the refund.'),
    },
    reply: replies.payment,
    run: ({ paymentActions }, session, input: OfPayment & { amount_rub: Micro; reason: string; refund_id?: string }) =>
      paymentActions.refund(session, input.payment, input.amount_rub, {
        reason: input.reason,
        refundId: input.refund_id ?? session.caller?.operation,
      }),
  }),
  defineVerb({
    words: 'payment decide',
    route: { method: 'POST', path: '/payments/{payment}/decide', scope: 'topup' },
    audit: 'payment.decide',
    summary: 'Decide, once, on a payment that does not match its order',
    isRepeatable: true,
    input: {
      credit_rub: paymentField('How much to credit (absent with `reject`)', 2),
      reject: flagField('Credits nothing; give the money back at the provider.'),
      reason: REASON,
    },
    reply: replies.payment,
    run: ({ paymentActions }, session, input: OfPayment & { credit_rub?: Micro; reject?: boolean; reason: string }) =>
      paymentActions.decide(session, input.payment, {
        credit: input.credit_rub,
        reject: input.reject,
        reason: input.reason,
      }),
  }),
  defineVerb({
    words: 'payment dispute',
    route: { method: 'POST', path: '/payments/{payment}/dispute', scope: 'topup' },
    audit: 'payment.dispute',
    summary: "Record that a payer's bank reclaims a payment, or how the dispute ended",
    isRepeatable: true,
    input: {
      open: idField("Opens a dispute: the bank's reference for it."),
      amount_rub: paymentField('With `open`: how much of it (by default all that is left)'),
      ended: choiceField(['won', 'lost'], '`won`: the money stays; `lost`: all of it leaves the balance.'),
      suspend: flagField('With `lost`: whether to suspend the account if the wallet has less.'),
    },
    reply: replies.payment,
    run: ({ paymentActions }, session, input: OfPayment & DisputeInput) =>
      paymentActions.dispute(session, input.payment, {
        open: input.open,
        amount: input.amount_rub,
        won: input.ended === 'won',
        lost: input.ended === 'lost',
        suspend: input.suspend,
      }),
  }),
];

interface DisputeInput {
  readonly open?: string;
  readonly amount_rub?: Micro;
  readonly ended?: 'won' | 'lost';
  readonly suspend?: boolean;
}

const REPORT_VERBS: readonly Verb[] = [
  defineVerb({
    words: 'charge list',
    route: { method: 'GET', path: '/accounts/{account}/charges', own: '/calls', scope: 'usage' },
    summary: 'List the calls of an account, newest first',
    input: { ...CHARGE_FILTER, limit: ROWS, before: textField('Only calls older than this one.') },
    reply: replies.charges,
    hidden: OPERATOR_FIELDS,
    run: ({ chargeActions }, session, { account, ...page }: OfAccount & ChargeFilter & { limit: number }) =>
      chargeActions.list(session, account, page),
  }),
  defineVerb({
    words: 'charge show',
    route: { method: 'GET', path: '/charges/{request}', own: '/calls/{request}', scope: 'usage' },
    summary: 'Retrieve the charge of a call with its entries',
    description: 'By the `x-request-id` of the reply, or the id of a video.',
    input: {},
    reply: replies.call,
    hidden: OPERATOR_FIELDS,
    run: ({ chargeActions }, session, { request, account }: { request: string; account?: string }) =>
      chargeActions.show(session, request, { account }),
  }),
  defineVerb({
    words: 'usage',
    route: { method: 'GET', path: '/accounts/{account}/usage', own: '/usage', scope: 'usage' },
    summary: 'Add up the calls of an account',
    description: 'A call counts at the time it started, in UTC, with its cost after refunds.',
    input: { by: withDefault(choiceField(USAGE_GROUPS, 'A row for each; `day` by default.'), 'day'), ...CHARGE_FILTER },
    reply: replies.usage,
    run: ({ usageActions }, session, { account, ...query }: OfAccount & ChargeFilter & { by: UsageGroup }) =>
      usageActions.report(session, account, query),
  }),
  defineVerb({
    words: 'cost report',
    route: { method: 'GET', path: '/costs', scope: 'usage' },
    summary: 'Add up what calls were charged and what they cost',
    description: 'By the time of their attempts at upstreams.',
    input: {
      by: withDefault(choiceField(COST_GROUPS, 'A row for each; `day` by default.'), 'day'),
      from: timeField('Attempts at this time or later'),
      to: timeField('Attempts before this time'),
    },
    reply: replies.costs,
    run: ({ costActions }, session, query: { by: CostGroup; from?: number; to?: number }) =>
      costActions.report(session, query),
  }),
  defineVerb({
    words: 'ledger list',
    route: { method: 'GET', path: '/accounts/{account}/entries', scope: 'usage' },
    summary: 'List the entries of a wallet, newest first',
    input: { limit: ROWS, before: countField('Only entries numbered below this.', Number.MAX_SAFE_INTEGER) },
    reply: replies.entries,
    run: ({ ledgerActions }, session, { account, ...page }: OfAccount & { limit: number; before?: number }) =>
      ledgerActions.list(session, account, page),
  }),
  defineVerb({
    words: 'ledger verify',
    route: { method: 'GET', path: '/ledger/verify', scope: 'usage' },
    isSlow: true,
    summary: 'Check every wallet and every call against its entries',
    description: 'May take minutes on a large store.',
    input: {},
    reply: replies.ledger,
    run: ({ ledgerActions }, session) => ledgerActions.verify(session),
  }),
  defineVerb({
    words: 'catalog check',
    route: { method: 'GET', path: '/catalog/check', scope: 'catalog:read' },
    isSlow: true,
    summary: 'Read the catalog as a start would',
    input: {},
    reply: replies.catalog,
    run: ({ catalogActions }, session) => catalogActions.check(session.config),
  }),
  defineVerb({
    words: 'catalog rates',
    route: { method: 'GET', path: '/catalog/rates', scope: 'catalog:read' },
    summary: 'List the exchange rates that gateways of this store have used',
    input: {},
    reply: replies.rates,
    run: ({ catalogActions }, session) => catalogActions.listRates(session),
  }),
];

export const MONEY_VERBS: readonly Verb[] = [...WALLET_VERBS, ...PAYMENT_VERBS, ...REPORT_VERBS];
