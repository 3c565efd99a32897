// The rules of the audit for single rows: a row has the right shape, and deciding its operation again gives the same row.
import { CHARGE_KINDS, CHARGE_STATES, type Charge, type Entry, type Wallet } from '../money/decide.ts';
import { computeMark, hasMark, readFlagsFromMark } from '../money/mark.ts';
import { absMicro, type Micro } from '../money/money.ts';
import { ENTRY_KINDS } from '../money/operations.ts';
import { decideEntryAgain, rebuildOperation } from '../money/replay.ts';

/** Reports a problem of an account, and the amount by which its money differs. */
export type ReportProblem = (wallet: string, problem: string, drift?: Micro) => void;

const ENTRIES: ReadonlySet<unknown> = new Set(ENTRY_KINDS);
const KINDS: ReadonlySet<unknown> = new Set(CHARGE_KINDS);
const STATES: ReadonlySet<unknown> = new Set(CHARGE_STATES);
const STATUSES: ReadonlySet<unknown> = new Set<Wallet['status']>(['active', 'suspended']);

const isText = (value: unknown) => typeof value === 'string';
const isMoney = (value: unknown) => typeof value === 'bigint';
const isWhole = (value: unknown) => Number.isSafeInteger(value);
const isTextOrNull = (value: unknown) => value === null || isText(value);
const isWholeOrNull = (value: unknown) => value === null || isWhole(value);

/** A document database accepts values of any type from other writers. */
export function isEntry(row: Entry): boolean {
  const { opId, wallet, seq, kind, charge, at, note, status, mark } = row;
  const { avail, held, charged, topped, adjusted, overshoot, chargedAfter } = row;
  const { granted = 0n, grants = '' } = row;
  const money = [avail, held, charged, topped, adjusted, granted, overshoot, chargedAfter];
  const texts = isText(opId) && isText(wallet) && [charge, note, mark].every(isTextOrNull) && isText(grants);
  if (status !== null && !STATUSES.has(status)) return false;
  return texts && isWhole(seq) && isWhole(at) && ENTRIES.has(kind) && money.every(isMoney);
}

export function isCharge(row: Charge): boolean {
  const { id, wallet, key, kind, state, reserved, charged, model, prices } = row;
  const { usage, owner, lease, createdAt, endedAt, period, budgetKey, excess = 0n, caps = [], grants = '' } = row;
  const times = isWhole(createdAt) && [lease, endedAt, period].every(isWholeOrNull);
  const names = KINDS.has(kind) && STATES.has(state) && [usage, owner, budgetKey].every(isTextOrNull) && isText(grants);
  return (
    [id, wallet, key, model, prices].every(isText) &&
    [reserved, charged, excess].every(isMoney) &&
    times &&
    names &&
    areCaps(caps)
  );
}

function areCaps(caps: Charge['caps'] | unknown): boolean {
  return Array.isArray(caps) && caps.every((cap) => isText(cap?.id) && isWhole(cap?.period));
}

export function isWallet({ avail, held, charged, topped, adjusted, granted = 0n, seq, status }: Wallet): boolean {
  return [avail, held, charged, topped, adjusted, granted].every(isMoney) && isWhole(seq) && STATUSES.has(status);
}

export interface AuditDifference {
  readonly text: string;
  readonly drift: Micro;
}

/** Lists the amounts that differ from the expected ones, by name. */
export function listDifferences(
  pairs: Readonly<Record<string, { readonly found: Micro; readonly wanted: Micro }>>,
): readonly AuditDifference[] {
  return Object.entries(pairs)
    .filter(([, { found, wanted }]) => found !== wanted)
    .map(([name, { found, wanted }]) => ({
      text: `${name}: ${found} instead of ${wanted}`,
      drift: absMicro(found - wanted),
    }));
}

const MARK_PROBLEMS: { readonly [Kind in Entry['kind']]?: string } = {
  reserve: 'its mark says another time, key, kind, model, price, budget or holder',
  charge: 'its mark says another time, key, kind, model, price, budget or usage',
  settle: 'its mark says another usage or time',
};
const OTHER_MARK_PROBLEM = 'its mark says another id, time, amount, note or status';

interface Redecision {
  readonly problems: readonly string[];
  /** The charge after the entry. */
  readonly charge: Charge | undefined;
}

/** Columns that a single entry does not determine: running sums, and the mark. */
const RUNNING_COLUMNS: ReadonlySet<string> = new Set(['seq', 'chargedAfter', 'mark'] satisfies (keyof Entry)[]);

/** Whether the overshoot of an entry is what the balance before it does not cover. */
export function mayLeaveDebt(entry: Entry): boolean {
  const { kind } = entry;
  return kind === 'payback' || kind === 'dispute' || (kind === 'adjust' && readFlagsFromMark(entry).movesIn === true);
}

/** An overshoot that depends on the balance before it is checked in order, by the audit of the wallet. */
function isRunning(name: keyof Entry, entry: Entry): boolean {
  return RUNNING_COLUMNS.has(name) || (name === 'overshoot' && mayLeaveDebt(entry));
}

/** Decides the operation of an entry again, with `made` as the charge before it, and compares the result. */
export function decideAgain(entry: Entry, charge: Charge | undefined, made?: Charge): Redecision {
  if (!isEntry(entry)) return { problems: [], charge: made };
  const op = rebuildReadableOperation(entry, charge);
  const decision = op && decideEntryAgain(entry, op, made);
  if (!decision) return { problems: [`a ${entry.kind} of ${entry.avail} is impossible`], charge: made };
  const { status, entry: wanted } = decision;
  if (!wanted) return { problems: [`a ${entry.kind} here would be refused with ${status}`], charge: made };
  const names = (Object.keys({ ...entry, ...wanted }) as (keyof Entry)[]).filter((name) => !isRunning(name, entry));
  const wrong = names.filter((name) => wanted[name] !== entry[name]);
  const problems = wrong.map((name) => `${name} ${entry[name]} instead of ${wanted[name]}`);
  const { chargedAfter, overshoot } = entry;
  const again = computeMark(op, { ...wanted, chargedAfter, overshoot }, decision.charge);
  if (problems.length === 0 && !hasMark(entry, again, charge))
    problems.push(MARK_PROBLEMS[entry.kind] ?? OTHER_MARK_PROBLEM);
  return { problems, charge: decision.charge };
}

/** Undefined for an entry whose grants cannot be read. */
function rebuildReadableOperation(entry: Entry, charge: Charge | undefined) {
  try {
    return rebuildOperation(entry, charge);
  } catch {
    return undefined;
  }
}

/** True for a damaged row, false for a store that does not answer. */
export function isUnreadableRow(error: unknown): error is Error {
  return error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError;
}
