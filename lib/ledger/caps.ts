// The caps of a call as the ledger takes them, and their refusals.
import { createHash } from 'node:crypto';
import { type Fault, fault } from '../base/faults.ts';
import {
  accountCallsId,
  type CapTerms,
  getBudgetKeyId,
  keyCallsId,
  RUN_MS,
  type SharesBudget,
} from '../money/budget.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { formatMoment, periodAt } from '../money/period.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
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

/** As many calls run already; the reason why a hold was refused, which ends when another call does. */
export class CallsFull extends Error {
  /** The id of the count. */
  readonly id: string;

  constructor({ id, limit }: CallsCap) {
    super(`${limit} calls of ${id} run already`);
    this.id = id;
  }
}

interface CallLimit {
  readonly cap: CallsCap;
  /** How long a call waits until another one has ended; 0: not at all. */
  readonly waitSeconds: number;
}

/** Whose calls at once may be limited. */
export type CallLimited = Pick<KeyHolder, 'id' | 'budgetKey' | 'account' | 'limits' | 'accountRequests'>;

/** The ids of the counts of the calls that run now; a replacement key counts in that of the key that it replaced. */
export function getCallCounts(caller: CallLimited): { readonly key: string; readonly account: string } {
  return { key: keyCallsId(getBudgetKeyId(caller)), account: accountCallsId(caller.account) };
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

export function toCapTerms(cap: CallCap, at: number): CapTerms {
  const { id, limit } = cap;
  if (cap.kind === 'calls') return { id, limit, period: 0 };
  if (cap.kind === 'run') return { id, limit, period: at - RUN_MS, opens: at };
  return { id, limit, period: periodAt(at, cap).start };
}

/** Why a call is refused that one of its caps does not cover: a 402 fault, or `CallsFull`. */
export function capFault(cap: CallCap, { kind, amount, at }: CallPrice & { readonly at: number }): Fault | CallsFull {
  if (cap.kind === 'calls') return new CallsFull(cap);
  const asked = { priceRub: formatRub(amount), ...describeReserve(kind), budgetRub: formatRub(cap.limit) };
  if (cap.kind === 'run') return fault('run_budget', { field: cap.name, ...asked });
  const { end } = periodAt(at, cap);
  const period = end !== null && { reset: cap.reset, resetsAt: formatMoment(end, cap.zone) };
  if (cap.kind === 'member') return fault('member_budget', { ...asked, ...period });
  return fault('user_budget', { field: cap.name, ...asked, ...period });
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

/** Throws the 402 fault of a call that may cost more than its client allows. */
export function refuseAboveMaxCost(maxCost: Micro | undefined, { kind, amount }: CallPrice): void {
  if (maxCost === undefined || amount <= maxCost) return;
  const asked = { priceRub: formatRub(amount), ...describeReserve(kind) };
  throw fault('call_budget', { field: 'max_cost_rub', ...asked, budgetRub: formatRub(maxCost) });
}
