// The statement of a wallet for a span of time: what it had, what came and went, what calls cost, and what it has. The
// parts add up exactly, because each is a difference of the same running sums.
import type { Entry, Wallet } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import type { LedgerStore } from '../store/ports/ledger.ts';

export interface Statement {
  /** The balance with what running calls hold. */
  readonly opening: Micro;
  readonly closing: Micro;
  /** The part of `closing` that running calls hold, if the span is not over. */
  readonly held: Micro | undefined;
  /** What moved otherwise than by calls, in order of time. */
  readonly movements: readonly Movement[];
  /** The sum of those that are more than fit into a list. */
  readonly furtherMovements: Micro;
  /** What calls were charged, less refunds; by the time of the charge, not of the call. */
  readonly charged: Micro;
}

export interface Movement {
  readonly at: number;
  readonly kind: Entry['kind'];
  /** Negative for what went out. */
  readonly amount: Micro;
  readonly note: string | null;
}

const MOVEMENTS_MAX = 1000;
const TRIES = 5;

interface Span {
  readonly from: number;
  readonly to: number;
  readonly now: number;
}

/** Undefined if there is no such wallet, or if payments came in between each of the reads. */
export async function readStatement(
  ledger: Pick<LedgerStore, 'wallet' | 'movements' | 'movedSince' | 'chargedAt'>,
  id: string,
  { from, to, now }: Span,
): Promise<Statement | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await ledger.wallet(id);
    if (!before) return undefined;
    const [rows, since, after, chargedBefore, chargedThen] = await Promise.all([
      ledger.movements(id, { from, to, limit: MOVEMENTS_MAX }),
      ledger.movedSince(id, from),
      ledger.movedSince(id, to),
      ledger.chargedAt(id, from - 1),
      ledger.chargedAt(id, to - 1),
    ]);
    const wallet = await ledger.wallet(id);
    if (!wallet || sumMoved(wallet) !== sumMoved(before)) continue;
    const isOpen = to > now;
    // A call may have ended since; what the wallet says belongs together.
    const charged = (isOpen ? wallet.charged : chargedThen) - chargedBefore;
    const movements = rows.map(toMovement);
    const moved = since - after;
    const closing = sumMoved(wallet) - after - chargedBefore - charged;
    const listed = movements.reduce((sum, { amount }) => sum + amount, 0n);
    return {
      opening: closing - moved + charged,
      closing,
      held: isOpen ? wallet.held : undefined,
      movements,
      furtherMovements: moved - listed,
      charged,
    };
  }
  return undefined;
}

/** What came and went otherwise than by calls. */
export function sumMoved({ topped, adjusted, granted = 0n }: Pick<Wallet, 'topped' | 'adjusted' | 'granted'>): Micro {
  return topped + adjusted + granted;
}

function toMovement(entry: Entry): Movement {
  const { at, kind, note } = entry;
  return { at, kind, amount: sumMoved(entry), note };
}
