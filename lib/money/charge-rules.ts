// The rules of the money of a call: its start, its settlement, and what is given back.
import assert from 'node:assert/strict';
import { type CapTerms, findLeft, isCallCount, isOverBudget, resolvePeriod } from './budget.ts';
import { applyChange, type CapState, type Decision, type StateBefore } from './decision.ts';
import { giveGrantsBack, settleGrants, spendGrants } from './grant-rules.ts';
import type { IdempotencyRecord } from './idempotency.ts';
import { type Micro, maxMicro } from './money.ts';
import type { ChargeOp, HoldOp, RefundOp, ReturnOp, SettleOp } from './operations.ts';
import { type Charge, type ChargeState, needsFirstPayment, type Wallet } from './wallet.ts';

export function decideStart(wallet: Wallet, known: StateBefore, op: HoldOp | ChargeOp): Decision {
  const { charge: existing, budget, takenKey, exposed = 0n, exposedInBudget = 0n } = known;
  assert(op.amount > 0n);
  if (existing) return compareWithExisting(wallet, existing, op);
  if (takenKey) return { status: takenKey.body === op.idempotency?.body ? 'repeated' : 'key_misused', wallet };
  if (wallet.status === 'suspended') return { status: 'suspended', wallet };
  if (op.real && wallet.playMoney) return { status: 'play_money', wallet };
  // A correction is not a payment: to let someone call without paying, give a grant that opens the wallet.
  if (needsFirstPayment(wallet)) return { status: 'never_topped', wallet };
  // The excess of this call does not count, so that a single call needs no more than its hold.
  if (wallet.avail < op.amount + (op.owed ?? 0n) + exposed)
    return { status: 'insufficient', wallet, ...(exposed > 0n && { exposed }) };
  if (op.budget && isOverBudget(budget, op.budget, op.amount + exposedInBudget))
    return { status: 'key_budget', wallet, ...withLeft(findLeft(budget, op.budget, exposedInBudget)) };
  for (const [index, cap] of (op.caps ?? []).entries()) {
    const state = known.caps?.[index] ?? { sum: undefined, exposed: 0n };
    if (!isOverCap(cap, state, op.amount)) continue;
    const left = isCallCount(cap.id) ? undefined : findLeft(state.sum, cap, state.exposed);
    return { status: 'cap', wallet, cap: cap.id, ...withLeft(left) };
  }
  const periods = op.caps?.map((cap, index) => resolvePeriod(known.caps?.[index]?.sum, cap));
  const start = createCharge(op, op.budget ? resolvePeriod(budget, op.budget) : null, periods);
  const { grants, given } = spendGrants(wallet, op.amount);
  const charge = grants === undefined ? start : { ...start, grants };
  const moved = op.kind === 'reserve' ? { held: op.amount } : { charged: op.amount };
  return applyChange(wallet, charge, op, { avail: -op.amount, ...moved, ...(given && { given }) });
}

function withLeft(left: Micro | undefined): Pick<Decision, 'left'> {
  return left === undefined ? {} : { left };
}

function isOverCap(cap: CapTerms, { sum, exposed }: CapState, amount: Micro): boolean {
  return isOverBudget(sum, cap, isCallCount(cap.id) ? 1n : amount + exposed);
}

/** The charge right after the operation that creates it; the periods are those of its caps, in their order. */
function createCharge(op: HoldOp | ChargeOp, period: number | null, periods?: readonly number[]): Charge {
  const holds = op.kind === 'reserve';
  return {
    id: op.chargeId,
    wallet: op.wallet,
    key: op.key,
    kind: op.chargeKind,
    state: holds ? 'held' : 'settled',
    reserved: op.amount,
    charged: holds ? 0n : op.amount,
    model: op.model,
    prices: op.prices,
    usage: (op.kind === 'charge' ? op.usage : undefined) ?? null,
    owner: holds ? op.owner : null,
    lease: holds ? op.lease : null,
    createdAt: op.at,
    endedAt: holds ? null : op.at,
    period,
    budgetKey: op.budget?.key ?? null,
    ...(op.kind === 'reserve' && op.excess !== undefined && { excess: op.excess }),
    ...(op.caps && { caps: op.caps.map(({ id }, index) => ({ id, period: periods?.[index] ?? 0 })) }),
  };
}

/** A second call with a used id must not run on the money of the first one. */
function compareWithExisting(wallet: Wallet, charge: Charge, op: HoldOp | ChargeOp): Decision {
  const { kind, key, model, prices, reserved } = charge;
  const sameCall = kind === op.chargeKind && key === op.key && model === op.model && prices === op.prices;
  return sameCall && reserved === op.amount ? { status: 'exists', wallet, charge } : { status: 'id_taken', wallet };
}

export function decideSettlement(wallet: Wallet, { charge, takenKey }: StateBefore, op: SettleOp): Decision {
  assert(op.amount >= 0n);
  if (!charge) return { status: 'no_charge', wallet };
  const isOpen = charge.state === 'held' || (charge.state === 'expired' && !op.onlyHeld);
  if (!isOpen) return { status: 'exists', wallet, charge };
  const isRepeated = charge.state === 'expired' && takenKey !== undefined;
  const { amount, usage } = isRepeated ? { amount: 0n, usage: markUsageRepeated(op, takenKey) } : op;
  const held = charge.state === 'held' ? charge.reserved : 0n;
  const share = settleGrants(wallet, charge, { held, amount });
  const settled = withGrants({ ...endCharge(charge, 'settled', op.at), charged: amount, usage }, share.grants);
  const difference = held - amount;
  const overshoot = maxMicro(-difference, 0n);
  const moved = { avail: difference - share.gone, held: -held, charged: amount, granted: -share.gone, overshoot };
  return applyChange(wallet, settled, op, { ...moved, ...(share.given && { given: share.given }) });
}

/** Keeps the usage and adds `repeated_as`: the charge that has paid for the same request. */
function markUsageRepeated({ usage }: SettleOp, { charge }: IdempotencyRecord): string {
  return JSON.stringify({ ...(usage !== null && JSON.parse(usage)), repeated_as: charge });
}

export function decideReturn(wallet: Wallet, charge: Charge | undefined, op: ReturnOp | RefundOp): Decision {
  if (!charge) return { status: 'no_charge', wallet };
  if (op.kind === 'refund') {
    if (charge.state === 'held') return { status: 'not_settled', wallet, charge };
    if (charge.state !== 'settled') return { status: 'exists', wallet, charge };
    const refunded = endCharge(charge, 'refunded', op.at);
    const { gone, given } = giveGrantsBack(wallet, charge);
    const moved = { avail: charge.charged - gone, charged: -charge.charged, granted: -gone };
    return applyChange(wallet, refunded, op, { ...moved, ...(given && { given }) });
  }
  const isRenewed = op.lease !== undefined && op.lease !== charge.lease;
  if (charge.state !== 'held' || isRenewed) return { status: 'exists', wallet, charge };
  const returned = withGrants(endCharge(charge, op.kind === 'release' ? 'released' : 'expired', op.at), undefined);
  const { gone, given } = giveGrantsBack(wallet, charge);
  const moved = { avail: charge.reserved - gone, held: -charge.reserved, granted: -gone };
  return applyChange(wallet, returned, op, { ...moved, ...(given && { given }) });
}

function endCharge(charge: Charge, state: ChargeState, at: number): Charge {
  return { ...charge, state, owner: null, lease: null, endedAt: at };
}

/** The charge with other parts that grants pay. */
function withGrants(charge: Charge, grants: string | undefined): Charge {
  if (charge.grants === grants) return charge;
  const { grants: _, ...rest } = charge;
  return grants === undefined ? rest : { ...rest, grants };
}
