// Gives grants to accounts, lists and revokes them, for commands and pages.
import { bookOperation } from '../ledger/booking.ts';
import type { GrantOp, Outcome } from '../money/decide.ts';
import { parseGrantBook } from '../money/grants.ts';
import type { Micro } from '../money/money.ts';
import type { Store } from '../store/store.ts';

type LedgerPart = Pick<Store, 'ledger'>;

export type NewGrant = Omit<GrantOp, 'kind'>;

export function giveGrant(store: LedgerPart, grant: NewGrant): Promise<Outcome> {
  return bookOperation(store, { kind: 'grant', ...grant });
}

/**
 * Takes back what is left of it; `taken` is the same for a repeat. What running calls hold of it stays theirs until they
 * end.
 */
export async function revokeGrant(
  store: LedgerPart,
  { wallet, grantId, reason, at }: { wallet: string; grantId: string; reason: string; at: number },
): Promise<Outcome & { readonly taken: Micro }> {
  const outcome = await bookOperation(store, { kind: 'grant_end', wallet, grantId, reason, at });
  const isOver = outcome.status === 'done' || outcome.status === 'exists';
  const entry = isOver ? await store.ledger.entry(`grant_end:${grantId}`) : undefined;
  return { ...outcome, taken: -(entry?.granted ?? 0n) };
}

/** A grant that is not over. */
export interface ListedGrant {
  readonly id: string;
  readonly amount: Micro;
  /** Neither spent nor held by a running call. */
  readonly left: Micro;
  readonly until: number | null;
  readonly reason: string;
  readonly at: number;
}

/** In the order in which calls spend them. Those that are over are entries of the ledger. */
export async function listGrants({ ledger }: LedgerPart, wallet: { readonly grants?: string }): Promise<ListedGrant[]> {
  const grants = parseGrantBook(wallet.grants);
  const entries = await Promise.all(grants.map(({ id }) => ledger.entry(`grant:${id}`)));
  return grants.map(({ id, left, until }, at) => {
    const entry = entries[at];
    return { id, amount: entry?.avail ?? left, left, until, reason: entry?.note ?? '', at: entry?.at ?? 0 };
  });
}
