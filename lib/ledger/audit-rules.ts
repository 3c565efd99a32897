// What the audit asks of single rows: that they are of the right shape, and that the rules would write them again.
import { AssertionError } from 'node:assert';
import {
  CHARGE_KINDS,
  CHARGE_STATES,
  type Charge,
  type Decision,
  decide,
  type Entry,
  type Operation,
  type Wallet,
} from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { ENTRY_KINDS } from '../money/operations.ts';
import { operationOf } from '../money/replay.ts';

/** Records what is wrong with an account, and by how much. */
export type Found = (wallet: string, problem: string, drift?: Micro) => void;

const ENTRIES: ReadonlySet<unknown> = new Set(ENTRY_KINDS);
const KINDS: ReadonlySet<unknown> = new Set(CHARGE_KINDS);
const STATES: ReadonlySet<unknown> = new Set(CHARGE_STATES);
const STATUSES: ReadonlySet<unknown> = new Set<Wallet['status']>(['active', 'suspended']);

const isText = (value: unknown) => typeof value === 'string';
const isMoney = (value: unknown) => typeof value === 'bigint';
const isWhole = (value: unknown) => Number.isSafeInteger(value);
const isTextOrNull = (value: unknown) => value === null || isText(value);
const isWholeOrNull = (value: unknown) => value === null || isWhole(value);

/** A document database accepts values of any type from whoever bypasses us. */
export function isEntry(row: Entry): boolean {
  const { opId, wallet, seq, kind, charge, at, note } = row;
  const { avail, held, charged, topped, adjusted, overshoot, chargedAfter } = row;
  const money = [avail, held, charged, topped, adjusted, overshoot, chargedAfter];
  const texts = isText(opId) && isText(wallet) && isTextOrNull(charge) && isTextOrNull(note);
  return texts && isWhole(seq) && isWhole(at) && ENTRIES.has(kind) && money.every(isMoney);
}

export function isCharge(row: Charge): boolean {
  const { id, wallet, key, kind, state, reserved, charged, model, prices } = row;
  const { usage, owner, lease, createdAt, endedAt, period, budgetKey } = row;
  const times = isWhole(createdAt) && [lease, endedAt, period].every(isWholeOrNull);
  const names = KINDS.has(kind) && STATES.has(state) && [usage, owner, budgetKey].every(isTextOrNull);
  return [id, wallet, key, model, prices].every(isText) && [reserved, charged].every(isMoney) && times && names;
}

export function isWallet({ avail, held, charged, topped, adjusted, seq, status }: Wallet): boolean {
  return [avail, held, charged, topped, adjusted].every(isMoney) && isWhole(seq) && STATUSES.has(status);
}

export interface AuditDifference {
  readonly text: string;
  readonly drift: Micro;
}

/** Amounts that are not what they should be, by name. */
export function differences(
  pairs: Readonly<Record<string, { readonly found: Micro; readonly wanted: Micro }>>,
): readonly AuditDifference[] {
  return Object.entries(pairs)
    .filter(([, { found, wanted }]) => found !== wanted)
    .map(([name, { found, wanted }]) => ({
      text: `${name}: ${found} instead of ${wanted}`,
      drift: found > wanted ? found - wanted : wanted - found,
    }));
}

export interface Again {
  readonly problems: readonly string[];
  /** The charge as it is after the entry. */
  readonly charge: Charge | undefined;
}

/** Not part of it: they are sums over the entries before. */
const SUMS: ReadonlySet<string> = new Set(['seq', 'chargedAfter'] satisfies (keyof Entry)[]);
/** Of a wallet that can pay for everything. */
const PLENTY = 2n ** 62n;

/** Decides the operation of an entry once more, with `made` as the charge before it, and compares what is written. */
export function decideAgain(entry: Entry, charge: Charge | undefined, made?: Charge): Again {
  if (!isEntry(entry)) return { problems: [], charge: made };
  const op = operationOf(entry, charge);
  const decision = op && decideRich(op, made);
  if (!decision) return { problems: [`a ${entry.kind} of ${entry.avail} cannot be`], charge: made };
  const { status, entry: wanted } = decision;
  if (!wanted) return { problems: [`a ${entry.kind} here is answered ${status}`], charge: made };
  const names = (Object.keys(wanted) as (keyof Entry)[]).filter((name) => !SUMS.has(name));
  const wrong = names.filter((name) => wanted[name] !== entry[name]);
  const problems = wrong.map((name) => `${name} ${entry[name]} instead of ${wanted[name]}`);
  return { problems, charge: decision.charge };
}

/** Undefined for an operation that nobody may ask for. */
function decideRich(op: Operation, charge: Charge | undefined): Decision | undefined {
  const money = { avail: PLENTY, held: PLENTY, charged: PLENTY, topped: PLENTY, adjusted: 0n };
  const wallet: Wallet = { id: op.wallet, ...money, seq: 0, status: 'active' };
  try {
    return decide({ wallet, charge, prior: undefined }, op);
  } catch (error) {
    if (error instanceof AssertionError) return undefined;
    throw error;
  }
}
