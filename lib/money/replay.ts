// Turns the journal back into operations: for a copy to resend, and for the audit to decide again.
import { type Charge, type Decision, decide, type Entry, type Wallet } from './decide.ts';
import { playOfMark } from './mark.ts';
import type { Micro } from './money.ts';
import { CHARGELESS, type Operation, operationId, type PaybackOp } from './operations.ts';

const CHARGE_KINDS = ['reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const;

/** The kinds of entries that create a charge. */
export const BEGINNINGS: readonly Entry['kind'][] = ['reserve', 'charge'];

/** The ids that a charge's operations can have, by which its entries are found. */
export function operationIdsOf(chargeId: string): readonly string[] {
  return CHARGE_KINDS.map((kind) => operationId({ kind, chargeId } as Operation));
}

/** The id of what an entry is about: the payment, its refund or dispute, the correction or the charge. */
export function subjectOf({ opId }: Pick<Entry, 'opId'>): string {
  return opId.slice(opId.indexOf(':') + 1);
}

/** The id of the charge an entry is about, if any. */
export function chargeOfEntry(entry: Entry): string | undefined {
  return CHARGELESS.includes(entry.kind) ? undefined : subjectOf(entry);
}

/** The operation that made an entry; undefined if it needs its charge and there is none. */
export function operationOf(entry: Entry, charge: Charge | undefined): Operation | undefined {
  const { wallet, at, kind, note } = entry;
  const id = subjectOf(entry);
  switch (kind) {
    case 'topup':
      return { kind, wallet, at, amount: entry.avail, paymentId: id, ...playOfMark(entry) };
    case 'adjust':
      return { kind, wallet, at, amount: entry.avail, reason: note ?? '', adjustId: id, ...playOfMark(entry) };
    case 'pay':
      return { kind, wallet, at, amount: entry.avail, paymentId: id, order: note ?? '', ...playOfMark(entry) };
    case 'payback':
    case 'dispute':
      return { kind, wallet, at, ...backOf(entry.avail), paybackId: id, order: note ?? '', ...suspension(entry) };
    case 'suspend':
    case 'resume':
      return { kind, wallet, at, changeId: id };
    case 'release':
    case 'expire':
    case 'refund':
      return { kind, wallet, at, chargeId: id };
  }
  if (!charge) return undefined;
  if (kind === 'settle') return { kind, wallet, at, chargeId: id, amount: entry.charged, usage: charge.usage };
  const { key, kind: chargeKind, model, prices, usage, owner, lease, period, budgetKey, excess } = charge;
  // It was within the budget when it started.
  const shared = budgetKey !== null && { key: budgetKey };
  const budget = period !== null && { budget: { ...shared, period, most: null } };
  const start = { wallet, at, chargeId: id, key, chargeKind, model, prices, amount: -entry.avail, ...budget };
  // An ended hold no longer has its own.
  return kind === 'charge'
    ? { kind, ...start, ...(usage !== null && { usage }) }
    : { kind, ...start, owner: owner ?? 'copied', lease: lease ?? at, ...(excess !== undefined && { excess }) };
}

/** What was taken back, or given back because a refund was refused. */
function backOf(avail: Micro): Pick<PaybackOp, 'amount' | 'returned'> {
  return avail > 0n ? { amount: 0n, returned: avail } : { amount: -avail };
}

function suspension({ status }: Entry) {
  return { suspend: false, ...(status === 'suspended' && { suspended: true as const }) };
}

/** The operation that makes the very same entry again, with the mark it has. */
export function replayOf(entry: Entry, charge: Charge | undefined): Operation | undefined {
  const op = operationOf(entry, charge);
  return op && { ...op, mark: entry.mark };
}

/** A wallet that can pay for everything. */
const PLENTY = 2n ** 62n;

/** Decides an operation whatever its wallet had; undefined for one that cannot exist, as damaged rows may say. */
export function decideRich(op: Operation, charge: Charge | undefined): Decision | undefined {
  const money = { avail: PLENTY, held: PLENTY, charged: PLENTY, topped: PLENTY, adjusted: 0n };
  const status = op.kind === 'resume' ? 'suspended' : 'active';
  const wallet: Wallet = { id: op.wallet, ...money, seq: 0, status, playMoney: true };
  try {
    return decide({ wallet, charge, prior: undefined }, op);
  } catch {
    return undefined;
  }
}

/** A charge as it was after some of its first entries; undefined if they do not create it. */
export function chargeAfter(entries: readonly Entry[], charge: Charge): Charge | undefined {
  let made: Charge | undefined;
  for (const entry of entries) {
    const op = operationOf(entry, charge);
    made = op && decideRich(op, made)?.charge;
  }
  return made;
}
