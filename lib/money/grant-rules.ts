// The rules of money that was given: grants and their ends, and what grants pay of calls.
import assert from 'node:assert/strict';
import { applyChange, type Decision } from './decision.ts';
import {
  addGrant,
  GRANTS_MAX,
  type GrantBook,
  type GrantPart,
  mergeParts,
  negateParts,
  parseGrantBook,
  parseGrantParts,
  removeGrant,
  returnToGrants,
  serializeGrantBook,
  serializeGrantParts,
  splitParts,
  takeFromGrants,
} from './grants.ts';
import { readFlagsFromMark } from './mark.ts';
import type { Micro } from './money.ts';
import type { GrantEndOp, GrantOp } from './operations.ts';
import type { Charge, Entry, Wallet } from './wallet.ts';

export function decideGrant(wallet: Wallet, prior: Entry | undefined, op: GrantOp): Decision {
  assert(op.amount > 0n);
  const grant = { id: op.grantId, left: op.amount, until: op.until };
  const entry = serializeGrantBook([grant]);
  if (prior) return { status: isSameGrant(prior, op, entry) ? 'exists' : 'id_taken', wallet };
  const book = parseGrantBook(wallet.grants);
  if (book.length >= GRANTS_MAX) return { status: 'too_many_grants', wallet };
  const given = { book: addGrant(book, grant), entry };
  const after: Wallet = op.opens ? { ...wallet, opened: true } : wallet;
  return applyChange(after, undefined, op, { avail: op.amount, granted: op.amount, note: op.reason, given });
}

function isSameGrant(prior: Entry, { wallet, opens }: GrantOp, grants: string | undefined): boolean {
  return prior.wallet === wallet && prior.grants === grants && readFlagsFromMark(prior).opens === opens;
}

export function decideGrantEnd(wallet: Wallet, prior: Entry | undefined, op: GrantEndOp): Decision {
  if (prior) return { status: prior.wallet === op.wallet ? 'exists' : 'id_taken', wallet };
  const book = parseGrantBook(wallet.grants);
  const grant = book.find(({ id }) => id === op.grantId);
  if (!grant) return { status: 'no_grant', wallet };
  const { id, left } = grant;
  const entry = serializeGrantParts(left > 0n ? [{ id, amount: -left }] : []);
  const given = { book: removeGrant(book, id), entry };
  return applyChange(wallet, undefined, op, { avail: -left, granted: -left, note: op.reason, given });
}

/** What grants pay, the grants of the wallet, and the change of them; all absent if no grant is concerned. */
interface GrantShare {
  /** The parts of the charge, as stored with it. */
  readonly grants?: string;
  /** For `applyChange`. */
  readonly given?: { readonly book: GrantBook; readonly entry: string | undefined };
  /** What belonged to grants that are over, and leaves the wallet. */
  readonly gone: Micro;
}

const NO_SHARE: GrantShare = { gone: 0n };

/** A call starts: grants pay before paid money. */
export function spendGrants(wallet: Wallet, amount: Micro): GrantShare {
  if (wallet.grants === undefined) return NO_SHARE;
  const { parts, book } = takeFromGrants(parseGrantBook(wallet.grants), amount);
  if (parts.length === 0) return NO_SHARE;
  return toShare(parts, { book, change: negateParts(parts), gone: 0n });
}

/** A call costs `amount`: grants pay as much of it as they can, also of the part above the hold. */
export function settleGrants(
  wallet: Wallet,
  charge: Charge,
  { held, amount }: { held: Micro; amount: Micro },
): GrantShare {
  if (wallet.grants === undefined && charge.grants === undefined) return NO_SHARE;
  const book = parseGrantBook(wallet.grants);
  const parts = charge.state === 'held' ? parseGrantParts(charge.grants) : [];
  if (amount <= held) {
    const [used, rest] = splitParts(parts, amount);
    const back = returnToGrants(book, rest);
    return toShare(used, { book: back.book, change: back.parts, gone: back.gone });
  }
  const more = takeFromGrants(book, amount - held);
  return toShare(mergeParts(parts, more.parts), { book: more.book, change: negateParts(more.parts), gone: 0n });
}

/** A call gives back all that it held or was charged: each grant gets its part back, unless it is over. */
export function giveGrantsBack(wallet: Wallet, { grants }: Charge): Omit<GrantShare, 'grants'> {
  if (grants === undefined) return NO_SHARE;
  const { book, parts, gone } = returnToGrants(parseGrantBook(wallet.grants), parseGrantParts(grants));
  return toShare([], { book, change: parts, gone });
}

function toShare(
  parts: readonly GrantPart[],
  { book, change, gone }: { book: GrantBook; change: readonly GrantPart[]; gone: Micro },
): GrantShare {
  const grants = serializeGrantParts(parts);
  const entry = serializeGrantParts(change);
  return { gone, ...(grants !== undefined && { grants }), ...(entry !== undefined && { given: { book, entry } }) };
}
