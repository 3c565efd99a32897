// The caps of a call as the ledger takes them, and their refusals.
import { type Fault, fault } from '../base/faults.ts';
import { type CapTerms, RUN_MS } from '../money/budget.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { formatMoment, periodAt } from '../money/period.ts';
import { type CallPrice, describeReserve } from './refusals.ts';

interface Cap {
  /** The id of its sum. */
  readonly id: string;
  /** For refusals. */
  readonly name: string;
  readonly limit: Micro;
}

/** The budget of an end user of a key. */
interface UserCap extends Cap, Pick<KeyLimits, 'reset' | 'zone'> {
  readonly kind: 'user';
}

/** A budget that the calls of one run share for 24 hours from the first. */
interface RunCap extends Cap {
  readonly kind: 'run';
}

export type CallCap = UserCap | RunCap;

export function toCapTerms(cap: CallCap, at: number): CapTerms {
  const { id, limit } = cap;
  if (cap.kind === 'run') return { id, limit, period: at - RUN_MS, opens: at };
  return { id, limit, period: periodAt(at, cap).start };
}

/** The 402 fault of a call that one of its caps does not cover. */
export function capFault(cap: CallCap, { kind, amount, at }: CallPrice & { readonly at: number }): Fault {
  const { name, limit } = cap;
  const asked = { field: name, priceRub: formatRub(amount), ...describeReserve(kind), budgetRub: formatRub(limit) };
  if (cap.kind === 'run') return fault('run_budget', asked);
  const { end } = periodAt(at, cap);
  return fault('user_budget', {
    ...asked,
    ...(end !== null && { reset: cap.reset, resetsAt: formatMoment(end, cap.zone) }),
  });
}

/** Throws the 402 fault of a call that may cost more than its client allows. */
export function refuseAboveMaxCost(maxCost: Micro | undefined, { kind, amount }: CallPrice): void {
  if (maxCost === undefined || amount <= maxCost) return;
  const asked = { priceRub: formatRub(amount), ...describeReserve(kind) };
  throw fault('call_budget', { field: 'max_cost_rub', ...asked, budgetRub: formatRub(maxCost) });
}
