// Rebuilds operations from journal entries: a copy sends them again, and the audit decides them again.
import { type Charge, type Decision, decide, type Entry, type Wallet } from './decide.ts';
import { parseGrantBook, parseGrantParts, serializeGrantBook } from './grants.ts';
import { readFlagsFromMark } from './mark.ts';
import type { Micro } from './money.ts';
import { CHARGELESS, type GrantOp, getOperationId, type Operation, type PaybackOp } from './operations.ts';

const CHARGE_OPERATION_KINDS = ['reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const;

/** All operation ids that a charge can have; its entries are found by them. */
export function listChargeOperationIds(chargeId: string): readonly string[] {
  return CHARGE_OPERATION_KINDS.map((kind) => getOperationId({ kind, chargeId } as Operation));
}

/** The id of the payment, refund, dispute, correction or charge that an entry belongs to. */
function getEntrySubjectId({ opId }: Pick<Entry, 'opId'>): string {
  return opId.slice(opId.indexOf(':') + 1);
}

/** The id of the charge that an entry belongs to; undefined if its kind has no charge. */
export function getEntryChargeId(entry: Entry): string | undefined {
  return CHARGELESS.includes(entry.kind) ? undefined : getEntrySubjectId(entry);
}

/** The operation that made an entry; undefined if the entry needs a charge and there is none. */
export function rebuildOperation(entry: Entry, charge: Charge | undefined): Operation | undefined {
  const { wallet, at, kind, note } = entry;
  const id = getEntrySubjectId(entry);
  switch (kind) {
    case 'topup':
      return { kind, wallet, at, amount: entry.avail, paymentId: id, ...readFlagsFromMark(entry) };
    case 'adjust':
      return { kind, wallet, at, amount: entry.avail, reason: note ?? '', adjustId: id, ...readFlagsFromMark(entry) };
    case 'pay':
      return { kind, wallet, at, amount: entry.avail, paymentId: id, order: note ?? '', ...readFlagsFromMark(entry) };
    case 'payback':
    case 'dispute':
      return {
        kind,
        wallet,
        at,
        ...takenOrReturned(entry.avail),
        paybackId: id,
        order: note ?? '',
        ...pickSuspension(entry),
      };
    case 'suspend':
    case 'resume':
      return { kind, wallet, at, changeId: id };
    case 'grant':
      return { kind, wallet, at, amount: entry.avail, grantId: id, reason: note ?? '', ...readGrantTerms(entry) };
    case 'grant_end':
      return { kind, wallet, at, grantId: id, reason: note };
    case 'release':
    case 'expire':
    case 'refund':
      return { kind, wallet, at, chargeId: id };
  }
  if (!charge) return undefined;
  if (kind === 'settle') return { kind, wallet, at, chargeId: id, amount: entry.charged, usage: charge.usage };
  const { key, kind: chargeKind, model, prices, usage, owner, lease, period, budgetKey, excess } = charge;
  const caps = charge.caps && { caps: charge.caps.map((cap) => ({ ...cap, limit: null })) };
  // No limit: the call was within its budget when it started.
  const shared = budgetKey !== null && { key: budgetKey };
  const budget = period !== null && { budget: { ...shared, period, limit: null } };
  const start = { wallet, at, chargeId: id, key, chargeKind, model, prices, amount: -entry.avail, ...budget, ...caps };
  // An ended hold has lost its owner and lease.
  return kind === 'charge'
    ? { kind, ...start, ...(usage !== null && { usage }) }
    : { kind, ...start, owner: owner ?? 'copied', lease: lease ?? at, ...(excess !== undefined && { excess }) };
}

function readGrantTerms(entry: Entry): Pick<GrantOp, 'until' | 'opens'> {
  const [grant] = parseGrantBook(entry.grants);
  return { until: grant?.until ?? null, ...readFlagsFromMark(entry) };
}

/** A positive change is money returned because a refund was refused. */
function takenOrReturned(avail: Micro): Pick<PaybackOp, 'amount' | 'returned'> {
  return avail > 0n ? { amount: 0n, returned: avail } : { amount: -avail };
}

function pickSuspension({ status }: Entry) {
  return { suspend: false, ...(status === 'suspended' && { suspended: true as const }) };
}

/** The operation that makes an identical entry, including its mark. */
export function rebuildMarkedOperation(entry: Entry, charge: Charge | undefined): Operation | undefined {
  const op = rebuildOperation(entry, charge);
  return op && { ...op, mark: entry.mark };
}

/** A balance that no operation exhausts. */
const UNLIMITED = 2n ** 62n;

/**
 * The grants of a wallet before an entry, as far as the entry tells: those that it changes, with just as much left as it
 * took.
 */
function rebuildGrants({ kind, opId, grants }: Entry): string | undefined {
  if (kind === 'grant') return undefined;
  const parts = parseGrantParts(grants);
  const changed = parts.map(({ id, amount }) => ({ id, left: amount < 0n ? -amount : 0n, until: null }));
  const ended =
    kind === 'grant_end' && parts.length === 0 ? [{ id: getEntrySubjectId({ opId }), left: 0n, until: null }] : [];
  return serializeGrantBook([...changed, ...ended]);
}

/** Decides the operation of an entry on a wallet that covers anything; undefined if impossible, as from a damaged row. */
export function decideEntryAgain(entry: Entry, op: Operation, charge: Charge | undefined): Decision | undefined {
  try {
    return decideWithoutLimits(op, charge, rebuildGrants(entry));
  } catch {
    return undefined;
  }
}

/** Decides an operation on a wallet that covers anything; undefined for an impossible one. */
function decideWithoutLimits(op: Operation, charge: Charge | undefined, grants?: string): Decision | undefined {
  const money = { avail: UNLIMITED, held: UNLIMITED, charged: UNLIMITED, topped: UNLIMITED, adjusted: 0n };
  const status = op.kind === 'resume' ? 'suspended' : 'active';
  const given = grants !== undefined && { grants, granted: UNLIMITED };
  const wallet: Wallet = { id: op.wallet, ...money, seq: 0, status, playMoney: true, ...given };
  try {
    return decide({ wallet, charge, prior: undefined }, op);
  } catch {
    return undefined;
  }
}

/** The charge as its first entries leave it; undefined if they do not create it. */
export function replayCharge(entries: readonly Entry[], charge: Charge): Charge | undefined {
  let made: Charge | undefined;
  for (const entry of entries) {
    const op = rebuildOperation(entry, charge);
    made = op && decideEntryAgain(entry, op, made)?.charge;
  }
  return made;
}
