// The budget and the caps of a call as the ledger takes them, and their refusals.
import { createHash } from 'node:crypto';
import { type Fault, fault } from '../base/faults.ts';
import {
  type BudgetSum,
  type BudgetTerms,
  type CapTerms,
  findLeft,
  getAccountCallsId,
  getBudgetKeyId,
  getKeyCallsId,
  isOverBudget,
  RUN_MS,
  type SharesBudget,
} from '../money/budget.ts';
import type { HoldOp } from '../money/decide.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { findPeriod, formatMoment } from '../money/period.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import { type CallPrice, describeReserve } from './refusals.ts';

/** The budget of a key, and the key's name for refusals. */
export interface CallBudget extends Pick<KeyLimits, 'reset' | 'zone'> {
  readonly name: string;
  /** The key whose sum the call counts in; absent: its own key. */
  readonly sumKey?: string;
  readonly limit: Micro;
}

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

/** The cap of the member who owns the key. */
interface MemberCap extends Omit<Cap, 'name'>, Pick<KeyLimits, 'reset' | 'zone'> {
  readonly kind: 'member';
}

/** A budget that the calls of one run share for 24 hours from the first. */
interface RunCap extends Cap {
  readonly kind: 'run';
}

/** How many calls of a key, or of an account, may run at once. */
interface CallsCap extends Omit<Cap, 'name'> {
  readonly kind: 'calls';
}

export type CallCap = MemberCap | UserCap | RunCap | CallsCap;

/** What the budgets of a call limit, and by when. */
export interface BudgetedCall extends CallPrice {
  readonly at: number;
  readonly budget?: CallBudget;
  readonly caps?: readonly CallCap[];
}

/** As many calls run already; the reason why a hold was refused, which ends when another call does. */
export class CallsFull extends Error {
  /** The id of the count. */
  readonly id: string;

  constructor({ id, limit }: CallsCap) {
    super(`${limit} calls of ${id} run already`);
    this.id = id;
  }
}

export interface CallLimit {
  readonly cap: CallsCap;
  /** How long a call waits until another one has ended; 0: not at all. */
  readonly waitSeconds: number;
}

/** Whose calls at once may be limited. */
export type CallLimited = Pick<KeyHolder, 'id' | 'budgetKey' | 'account' | 'limits' | 'accountRequests'>;

/** The ids of the counts of the calls that run now; a replacement key counts in that of the key that it replaced. */
export function getCallCounts(caller: CallLimited): { readonly key: string; readonly account: string } {
  return { key: getKeyCallsId(getBudgetKeyId(caller)), account: getAccountCallsId(caller.account) };
}

/** The limits on calls at once of a key and of its account. */
export function listCallLimits(caller: CallLimited): readonly CallLimit[] {
  const counts = getCallCounts(caller);
  const ofBoth = [
    { id: counts.key, ...caller.limits.requests },
    { id: counts.account, ...caller.accountRequests },
  ];
  return ofBoth.flatMap(({ id: count, atOnce, waitSeconds = 0 }) =>
    atOnce === undefined ? [] : [{ cap: { kind: 'calls', id: count, limit: BigInt(atOnce) }, waitSeconds }],
  );
}

export function toTerms({ budget, caps, at }: Omit<BudgetedCall, keyof CallPrice>): Pick<HoldOp, 'budget' | 'caps'> {
  return { budget: toBudgetTerms(budget, at), ...(caps && { caps: caps.map((cap) => toCapTerms(cap, at)) }) };
}

function toBudgetTerms(budget: CallBudget | undefined, at: number): BudgetTerms | undefined {
  return budget && { key: budget.sumKey, period: findPeriod(at, budget).start, limit: budget.limit };
}

function toCapTerms(cap: CallCap, at: number): CapTerms {
  const { id, limit } = cap;
  if (cap.kind === 'calls') return { id, limit, period: 0 };
  if (cap.kind === 'run') return { id, limit, period: at - RUN_MS, opens: at };
  return { id, limit, period: findPeriod(at, cap).start };
}

/** Throws the 402 fault of a key whose budget does not cover a call. */
export function refuseOverBudget(sum: BudgetSum | undefined, call: BudgetedCall): void {
  const terms = toBudgetTerms(call.budget, call.at);
  if (terms && isOverBudget(sum, terms, call.amount)) throw budgetFault(call, findLeft(sum, terms, 0n));
}

/** `left`: what a call may still cost, if that is known. */
export function budgetFault({ at, budget, ...price }: BudgetedCall, left?: Micro): Fault {
  if (!budget) return fault('internal', {}, new Error('a call without a budget was refused for its budget'));
  return fault('key_budget', {
    field: budget.name,
    ...describe(price, budget.limit, left),
    ...describeReset(budget, at),
  });
}

/** Why a call is refused that one of its caps does not cover: a 402 fault, or `CallsFull`. */
export function capFault(cap: CallCap, { at, ...price }: BudgetedCall, left?: Micro): Fault | CallsFull {
  if (cap.kind === 'calls') return new CallsFull(cap);
  const said = describe(price, cap.limit, left);
  if (cap.kind === 'run') return fault('run_budget', { field: cap.name, ...said });
  if (cap.kind === 'member') return fault('member_budget', { ...said, ...describeReset(cap, at) });
  return fault('user_budget', { field: cap.name, ...said, ...describeReset(cap, at) });
}

/** Throws the 402 fault of a call that may cost more than its client allows. */
export function refuseAboveMaxCost(maxCost: Micro | undefined, price: CallPrice): void {
  if (maxCost === undefined || price.amount <= maxCost) return;
  throw fault('call_budget', { field: 'max_cost_rub', ...describe(price, maxCost) });
}

function describe({ kind, amount }: CallPrice, limit: Micro, left?: Micro) {
  const leftRub = left !== undefined && { leftRub: formatRub(left) };
  return { priceRub: formatRub(amount), ...describeReserve(kind), budgetRub: formatRub(limit), ...leftRub };
}

/** Nothing for a budget that is never reset. */
function describeReset(budget: Pick<KeyLimits, 'reset' | 'zone'>, at: number) {
  const { end } = findPeriod(at, budget);
  return end !== null && { reset: budget.reset, resetsAt: formatMoment(end, budget.zone) };
}

/** The id of the sum of all calls of a member of an account. */
export function memberSumId({ account, user }: { readonly account: string; readonly user: string }): string {
  return `member:${account}:${user}`;
}

/** What the ids of the sums of a key's end users begin with, and a text that sorts after all of them. */
export function endUserSumIds(key: SharesBudget & { readonly id: string }): { first: string; after: string } {
  const id = `user:${getBudgetKeyId(key)}`;
  return { first: `${id}:`, after: `${id};` };
}

/** The id of the sum of an end user of a key, with a digest of the name: names of people are not stored. */
export function endUserSumId(key: SharesBudget & { readonly id: string }, name: string): string {
  return `${endUserSumIds(key).first}${digestName(name)}`;
}

export function digestName(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 22);
}
