// Marks of entries: short checksums of what nothing else in the store repeats, so that the audit sees a value that was
// changed behind the ledger's back. They are no signature: whoever can write to the store can make them, too.
import { crc32 } from 'node:zlib';
import type { Micro } from './money.ts';
import type { Operation } from './operations.ts';

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
}

/** What it covers of a call. */
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
}

/** After the checksum of an entry that brings play money, or that settles it: nothing else in the journal says so. */
const [PLAY, SETTLED] = ['play', 'real'] as const;

const LENGTH = 8;

/**
 * Of a call's beginning: its terms, then who holds it (of a charge: what it paid for, and its job's id); of a
 * settlement: its usage; of an entry without a call: all it says, and what it does to play money. Each with its time.
 */
export function markOf(op: Operation, entry: EntryFacts, charge: CallFacts | undefined): string {
  switch (op.kind) {
    case 'reserve':
      return checksum(termsOf(entry, charge)) + checksum([op.owner, op.lease]);
    case 'charge':
      return checksum(termsOf(entry, charge)) + checksum([op.usage ?? null]) + (op.job?.job.id ?? '');
    case 'settle':
      // As it is kept: of a call that was repeated it says so.
      return checksum([entry.at, `${entry.chargedAfter}`, charge?.usage]);
    default: {
      const { opId, wallet, kind, at, avail, topped, adjusted, overshoot, chargedAfter, note, status } = entry;
      const sums = [avail, topped, adjusted, overshoot, chargedAfter].map(String);
      const play = playOf(op);
      return checksum([opId, wallet, kind, at, ...sums, note, status, play]) + play;
    }
  }
}

function playOf(op: Operation): string {
  if ('isPlay' in op && op.isPlay) return PLAY;
  return op.kind === 'adjust' && op.settlesPlay ? SETTLED : '';
}

/** What an entry does to play money: it brings some, or settles what is there. */
export function playOfMark({ mark }: { readonly mark: string | null }): {
  readonly isPlay?: true;
  readonly settlesPlay?: true;
} {
  const more = mark?.slice(LENGTH);
  if (more === PLAY) return { isPlay: true };
  return more === SETTLED ? { settlesPlay: true } : {};
}

function termsOf({ at, chargedAfter }: EntryFacts, charge: CallFacts | undefined): readonly unknown[] {
  const when = [at, `${chargedAfter}`];
  if (!charge) return when;
  const { key, kind, model, prices, period, budgetKey, excess } = charge;
  return [...when, key, kind, model, prices, period, budgetKey, excess === undefined ? null : `${excess}`];
}

/** The id of the job that a charge was made with; undefined if there was none or the entry has no mark. */
export function jobOfMark({
  kind,
  mark,
}: Pick<EntryFacts, 'kind'> & { readonly mark: string | null }): string | undefined {
  return kind === 'charge' && mark !== null && mark.length > 2 * LENGTH ? mark.slice(2 * LENGTH) : undefined;
}

/** Whether an entry has the mark that it should have; `wanted` is made again from the rows beside it. */
export function hasMark(
  { kind, mark }: Pick<EntryFacts, 'kind'> & { readonly mark: string | null },
  wanted: string,
  charge: CallFacts | undefined,
): boolean {
  if (mark === null) return true;
  if (mark.length !== wanted.length && kind !== 'charge') return false;
  // An ended hold no longer says who had it, and a charge does not know its job.
  const length = kind === 'charge' ? 2 * LENGTH : kind === 'reserve' && charge?.state !== 'held' ? LENGTH : undefined;
  return mark.slice(0, length) === wanted.slice(0, length);
}

export function checksum(values: readonly unknown[]): string {
  return crc32(JSON.stringify(values)).toString(16).padStart(LENGTH, '0');
}
