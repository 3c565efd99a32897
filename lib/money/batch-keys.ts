// The rows that a batch of operations needs: what a store loads before `fold`.

import { type Charge, getChargeId, getJobChange, getOperationId, getPaymentChange, type Operation } from './decide.ts';
import { getJobId } from './job-rules.ts';
import { CHARGE_STARTING_KINDS } from './operations.ts';

/** The ids of the rows a batch needs. */
interface BatchKeys {
  readonly wallets: Set<string>;
  readonly charges: Set<string>;
  readonly entries: Set<string>;
  readonly jobs: Set<string>;
  readonly payments: Set<string>;
}

export function collectBatchKeys(operations: readonly Operation[]): BatchKeys {
  const rows = { wallets: new Set<string>(), charges: new Set<string>(), entries: new Set<string>() };
  const keys: BatchKeys = { ...rows, jobs: new Set(), payments: new Set() };
  for (const op of operations) {
    keys.wallets.add(op.wallet);
    const chargeId = getChargeId(op);
    if (chargeId === undefined) keys.entries.add(getOperationId(op));
    else keys.charges.add(chargeId);
    const change = getJobChange(op);
    if (change) keys.jobs.add(getJobId(change));
    const payment = getPaymentChange(op);
    if (payment) keys.payments.add(payment.id);
  }
  return keys;
}

/** The ids of keys whose budget sums a batch needs; `charges` are those loaded. */
export function collectBudgetKeys(
  operations: readonly Operation[],
  charges: Pick<ReadonlyMap<string, Charge>, 'get'>,
): Set<string> {
  const keys = new Set<string>();
  for (const op of operations) {
    const charge = charges.get(getChargeId(op) ?? '');
    const key = findBudgetKey(op, charge);
    if (key !== undefined) keys.add(key);
    for (const { id } of listCaps(op, charge)) keys.add(id);
  }
  return keys;
}

/** The wallets in which a batch starts calls: the running calls of a wallet limit what it may spend. */
export function collectExposedWallets(operations: readonly Operation[]): Set<string> {
  return new Set(operations.filter(({ kind }) => CHARGE_STARTING_KINDS.includes(kind)).map(({ wallet }) => wallet));
}

/** The ids of the idempotency records that a batch needs; nearly always none. */
export function collectIdempotencyIds(operations: readonly Operation[]): Set<string> {
  const ids = new Set<string>();
  for (const op of operations) {
    const id = getIdempotencyId(op);
    if (id !== undefined) ids.add(id);
  }
  return ids;
}

export function getIdempotencyId(op: Operation): string | undefined {
  if ('idempotency' in op) return op.idempotency?.id;
  return 'idempotencyId' in op ? op.idempotencyId : undefined;
}

/** The id of the budget sum that an operation, or the call that it ends, counts in. */
export function findBudgetKey(op: Operation, charge: Charge | undefined): string | undefined {
  if ('budget' in op && op.budget) return op.budget.key ?? op.key;
  return charge && charge.period !== null ? (charge.budgetKey ?? charge.key) : undefined;
}

/** The further budgets that an operation, or the call that it ends, counts in. */
function listCaps(op: Operation, charge: Charge | undefined): readonly { readonly id: string }[] {
  return ('caps' in op ? op.caps : charge?.caps) ?? [];
}
