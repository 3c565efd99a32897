// Marks of entries: short checksums of values that the store holds only once, so that the audit notices when one was
// changed outside the ledger. A mark is not a signature: anyone who can write to the store can compute it.

import type { CapPeriod } from './budget.ts';
import { CHECKSUM_LENGTH, checksum } from './checksum.ts';
import type { Micro } from './money.ts';
import { type HoldOp, type Operation, SERVICE_OWNER } from './operations.ts';

/** What the mark of an entry covers. */
interface EntryFacts {
  readonly opId: string;
  readonly wallet: string;
  readonly kind: Operation['kind'];
  readonly at: number;
  readonly avail: Micro;
  readonly topped: Micro;
  readonly adjusted: Micro;
  readonly overshoot: Micro;
  readonly chargedAfter: Micro;
  readonly note: string | null;
  readonly status: string | null;
  readonly granted?: Micro;
  readonly grants?: string;
}

/** What the mark of an entry covers of its charge. */
interface CallFacts {
  readonly key: string;
  readonly kind: string;
  readonly model: string;
  readonly prices: string;
  readonly state: string;
  readonly period: number | null;
  readonly budgetKey: string | null;
  readonly usage: string | null;
  readonly excess?: Micro;
  readonly caps?: readonly CapPeriod[];
}

/**
 * Suffixes of marks: the entry adds play money, settles it, is a balance that moved in, or a grant that opens the wallet.
 * The journal records this nowhere else.
 */
const PLAY = 'play';
const SETTLED = 'real';
const MOVED_IN = 'moved';
const OPENS = 'opens';

/**
 * A hold is marked with its terms, its owner and a lease that cannot be renewed; a charge with its terms, usage and job
 * id; a settlement with its usage; an entry without a charge with all its values and its effect on the flags of the
 * wallet. Every mark covers the time.
 */
export function computeMark(op: Operation, entry: EntryFacts, charge: CallFacts | undefined): string {
  switch (op.kind) {
    case 'reserve':
      return checksum(listMarkedTerms(entry, charge)) + checksum([op.owner, isRenewable(op) ? null : op.lease]);
    case 'charge':
      return checksum(listMarkedTerms(entry, charge)) + checksum([op.usage ?? null]) + (op.job?.job.id ?? '');
    case 'settle':
      // The stored usage, which includes `repeated_as` if the client repeated the call.
      return checksum([entry.at, `${entry.chargedAfter}`, charge?.usage]);
    default: {
      const { opId, wallet, kind, at, avail, topped, adjusted, overshoot, chargedAfter, note, status } = entry;
      const sums = [avail, topped, adjusted, overshoot, chargedAfter].map(String);
      const flags = flagSuffix(op);
      const { granted, grants } = entry;
      const given = granted === undefined && grants === undefined ? [] : [`${granted}`, grants];
      return checksum([opId, wallet, kind, at, ...sums, note, status, flags, ...given]) + flags;
    }
  }
}

/** Whether the lease may have become another one since the hold was made. */
function isRenewable({ owner }: HoldOp): boolean {
  return owner === SERVICE_OWNER;
}

function flagSuffix(op: Operation): string {
  if ('isPlay' in op && op.isPlay) return PLAY;
  if (op.kind === 'adjust' && op.movesIn) return MOVED_IN;
  if (op.kind === 'grant' && op.opens) return OPENS;
  return op.kind === 'adjust' && op.settlesPlay ? SETTLED : '';
}

/** Whether an entry adds play money or settles it, is a balance that moved in, or a grant that opens the wallet. */
export function readFlagsFromMark({ mark }: { readonly mark: string | null }): {
  readonly isPlay?: true;
  readonly settlesPlay?: true;
  readonly movesIn?: true;
  readonly opens?: true;
} {
  const suffix = mark?.slice(CHECKSUM_LENGTH);
  if (suffix === PLAY) return { isPlay: true };
  if (suffix === MOVED_IN) return { movesIn: true };
  if (suffix === OPENS) return { opens: true };
  return suffix === SETTLED ? { settlesPlay: true } : {};
}

function listMarkedTerms({ at, chargedAfter }: EntryFacts, charge: CallFacts | undefined): readonly unknown[] {
  const when = [at, `${chargedAfter}`];
  if (!charge) return when;
  const { key, kind, model, prices, period, budgetKey, excess, caps = [] } = charge;
  const counted = caps.flatMap((cap) => [cap.id, cap.period]);
  return [...when, key, kind, model, prices, period, budgetKey, excess === undefined ? null : `${excess}`, ...counted];
}

/** The id of the job that a charge was made with; undefined if there was none or the entry has no mark. */
export function readJobIdFromMark({
  kind,
  mark,
}: Pick<EntryFacts, 'kind'> & { readonly mark: string | null }): string | undefined {
  return kind === 'charge' && mark !== null && mark.length > 2 * CHECKSUM_LENGTH
    ? mark.slice(2 * CHECKSUM_LENGTH)
    : undefined;
}

/** Whether an entry has the right mark; `wanted` is computed again from the other rows. */
export function hasMark(
  { kind, mark }: Pick<EntryFacts, 'kind'> & { readonly mark: string | null },
  wanted: string,
  charge: CallFacts | undefined,
): boolean {
  if (mark === null) return true;
  if (mark.length !== wanted.length && kind !== 'charge') return false;
  // An ended hold has lost its owner, and a charge row does not know its job, so only the first part can be compared.
  const length =
    kind === 'charge'
      ? 2 * CHECKSUM_LENGTH
      : kind === 'reserve' && charge?.state !== 'held'
        ? CHECKSUM_LENGTH
        : undefined;
  return mark.slice(0, length) === wanted.slice(0, length);
}
