// The books of one wallet in memory, with short builders of operations.

import type { BudgetSum } from '../../lib/money/budget.ts';
import {
  type Charge,
  createEmptyWallet,
  type Entry,
  type Operation,
  type OutcomeStatus,
  type Wallet,
} from '../../lib/money/decide.ts';
import { fold } from '../../lib/money/fold.ts';
import type { IdempotencyRecord } from '../../lib/money/idempotency.ts';
import type { Job } from '../../lib/money/job-rules.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';

export const AT = 1000;

/** The usage of a settled call. */
export const USAGE = '{"tokens_input":1,"tokens_output":2}';

export type Kind = Operation['kind'];

export function operation(kind: Kind, id: string, rub: number): Operation {
  const base = { wallet: 'w', at: AT };
  const amount = BigInt(Math.round(rub * 1e6));
  const start = { ...base, chargeId: id, key: 'k', chargeKind: 'text', model: 'm', prices: '{}', amount } as const;
  switch (kind) {
    case 'topup':
      return { kind, ...base, amount, paymentId: id };
    case 'adjust':
      return { kind, ...base, amount, adjustId: id, reason: 'test' };
    case 'reserve':
      return { kind, ...start, owner: 'o', lease: AT + 10 };
    case 'charge':
      return { kind, ...start };
    case 'settle':
      return { kind, ...base, chargeId: id, amount, usage: USAGE };
    case 'pay':
      return { kind, ...base, amount, paymentId: `till:${id}`, order: `pay_${id}` };
    case 'payback':
    case 'dispute':
      return { kind, ...base, amount, paybackId: `till:${id}`, order: `pay_${id}`, suspend: true };
    case 'suspend':
    case 'resume':
      return { kind, ...base, changeId: id };
    case 'grant':
      return { kind, ...base, amount, grantId: id, until: null, reason: 'test' };
    case 'grant_end':
      return { kind, ...base, grantId: id, reason: null };
    default:
      return { kind, ...base, chargeId: id };
  }
}

export interface Books {
  readonly wallets: Map<string, Wallet>;
  readonly charges: Map<string, Charge>;
  readonly entries: Map<string, Entry>;
  readonly jobs: Map<string, Job>;
  readonly payments: Map<string, Payment>;
  readonly budgets: Map<string, BudgetSum>;
  readonly idempotencyRecords: Map<string, IdempotencyRecord>;
  readonly journal: Entry[];
}

export function newBooks(): Books {
  const wallets = new Map([['w', createEmptyWallet('w')]]);
  const rows = { charges: new Map(), entries: new Map(), jobs: new Map(), payments: new Map(), budgets: new Map() };
  return { wallets, ...rows, idempotencyRecords: new Map(), journal: [] };
}

export function run(books: Books, op: Operation): OutcomeStatus | undefined {
  const folded = fold(books, [op]);
  for (const wallet of folded.wallets) books.wallets.set(wallet.id, wallet);
  for (const charge of folded.charges) books.charges.set(charge.id, charge);
  for (const job of folded.jobs) books.jobs.set(job.id, job);
  for (const payment of folded.payments) books.payments.set(payment.id, payment);
  for (const budget of folded.budgets) books.budgets.set(budget.key, budget);
  for (const entry of folded.entries) if (entry.charge === null) books.entries.set(entry.opId, entry);
  books.journal.push(...folded.entries);
  return folded.outcomes[0]?.status;
}

export function balances(books: Books): number[] {
  const { avail, held, charged, topped, adjusted } = books.wallets.get('w') as Wallet;
  return [avail, held, charged, topped, adjusted].map((micro) => Number(micro) / 1e6);
}
