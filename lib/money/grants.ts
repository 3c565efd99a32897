// Money that was given, not paid: what a wallet has left of each grant, in the order in which calls spend it, and the
// parts that grants paid of a call. Rows keep both as JSON; a wallet that never had a grant has neither.
import type { Micro } from './money.ts';

/** What is left of a grant in the balance: not spent, and not held by a running call. */
export interface Grant {
  readonly id: string;
  readonly left: Micro;
  /** When the rest is taken back, ms since the epoch; null: never. */
  readonly until: number | null;
}

/** The grants of a wallet that are not over, in the order in which calls spend them: the one that ends first is first. */
export type GrantBook = readonly Grant[];

/** What a grant pays of a call, or the change of what is left of it. */
export interface GrantPart {
  readonly id: string;
  readonly amount: Micro;
}

/** Each call reads and writes them all. */
export const GRANTS_MAX = 50;

type StoredGrant = readonly [id: string, left: string, until: number | null];

/** Throws for a damaged row: a call must not run on money that nobody can count. */
export function parseGrantBook(json: string | undefined): GrantBook {
  if (json === undefined) return [];
  const stored: readonly StoredGrant[] = JSON.parse(json);
  return stored.map(([id, left, until]) => ({ id, left: BigInt(left), until }));
}

/** Undefined if there are none. */
export function serializeGrantBook(book: GrantBook): string | undefined {
  if (book.length === 0) return undefined;
  return JSON.stringify(book.map(({ id, left, until }): StoredGrant => [id, `${left}`, until]));
}

/** Throws for a damaged row. */
export function parseGrantParts(json: string | undefined): readonly GrantPart[] {
  if (json === undefined) return [];
  const stored: readonly (readonly [string, string])[] = JSON.parse(json);
  return stored.map(([id, amount]) => ({ id, amount: BigInt(amount) }));
}

/** Undefined if there are none. */
export function serializeGrantParts(parts: readonly GrantPart[]): string | undefined {
  return parts.length === 0 ? undefined : JSON.stringify(parts.map(({ id, amount }) => [id, `${amount}`]));
}

export function sumParts(parts: readonly { readonly amount: Micro }[]): Micro {
  return parts.reduce((sum, { amount }) => sum + amount, 0n);
}

interface HasGrants {
  /** JSON of a `GrantBook`. */
  readonly grants?: string;
}

/** The part of the balance that was given. */
export function getGrantedBalance({ grants }: HasGrants): Micro {
  return parseGrantBook(grants).reduce((sum, { left }) => sum + left, 0n);
}

/** The part of the balance that was paid: only this part ever leaves the wallet as money. */
export function getPaidBalance(wallet: HasGrants & { readonly avail: Micro }): Micro {
  return wallet.grants === undefined ? wallet.avail : wallet.avail - getGrantedBalance(wallet);
}

/** When the first of the grants ends; null if none does. */
export function findNextEnd({ grants }: HasGrants): number | null {
  return parseGrantBook(grants)[0]?.until ?? null;
}

/** The grants whose time is over. */
export function listDueGrants({ grants }: HasGrants, now: number): readonly Grant[] {
  return parseGrantBook(grants).filter(({ until }) => until !== null && until <= now);
}

export function addGrant(book: GrantBook, grant: Grant): GrantBook {
  const at = book.findIndex(({ until }) => endsLater(until, grant.until));
  return book.toSpliced(at < 0 ? book.length : at, 0, grant);
}

function endsLater(one: number | null, other: number | null): boolean {
  return other !== null && (one === null || one > other);
}

export function removeGrant(book: GrantBook, id: string): GrantBook {
  return book.filter((grant) => grant.id !== id);
}

interface Taken {
  /** What each grant gave, in order; less than asked if they have less. */
  readonly parts: readonly GrantPart[];
  readonly book: GrantBook;
}

function getLess(one: Micro, other: Micro): Micro {
  return one < other ? one : other;
}

/** Spends from the grants, as far as they reach. */
export function takeFromGrants(book: GrantBook, amount: Micro): Taken {
  let missing = amount;
  const parts: GrantPart[] = [];
  const after = book.map((grant) => {
    const part = getLess(grant.left, missing);
    if (part <= 0n) return grant;
    missing -= part;
    parts.push({ id: grant.id, amount: part });
    return { ...grant, left: grant.left - part };
  });
  return { parts, book: after };
}

/** The first parts up to an amount, and the rest of them. */
export function splitParts(
  parts: readonly GrantPart[],
  amount: Micro,
): readonly [first: GrantPart[], rest: GrantPart[]] {
  const [first, rest]: readonly [GrantPart[], GrantPart[]] = [[], []];
  let wanted = amount;
  for (const { id, amount: part } of parts) {
    const used = getLess(part, wanted);
    wanted -= used;
    if (used > 0n) first.push({ id, amount: used });
    if (part > used) rest.push({ id, amount: part - used });
  }
  return [first, rest];
}

interface Returned {
  /** What went back to grants that are not over. */
  readonly parts: readonly GrantPart[];
  /** What belonged to grants that are: it left the wallet. */
  readonly gone: Micro;
  readonly book: GrantBook;
}

/** The book after an entry of the journal. */
export function applyGrantEntry(book: GrantBook, entry: GrantEntry): GrantBook {
  if (entry.kind === 'grant') {
    return parseGrantBook(entry.grants).reduce(addGrant, book);
  }
  if (entry.kind === 'grant_end') return removeGrant(book, entry.opId.slice('grant_end:'.length));
  return changeGrants(book, parseGrantParts(entry.grants));
}

interface GrantEntry extends HasGrants {
  readonly kind: string;
  readonly opId: string;
}

/** Gives parts back to the grants that they came from. */
export function returnToGrants(book: GrantBook, parts: readonly GrantPart[]): Returned {
  const known = new Set(book.map(({ id }) => id));
  const back = parts.filter(({ id }) => known.has(id));
  return { parts: back, gone: sumParts(parts) - sumParts(back), book: changeGrants(book, back) };
}

/** Adds parts, of either sign, to what is left of their grants. */
function changeGrants(book: GrantBook, parts: readonly GrantPart[]): GrantBook {
  if (parts.length === 0) return book;
  const changes = new Map(parts.map(({ id, amount }) => [id, amount]));
  return book.map((one) => ({ ...one, left: one.left + (changes.get(one.id) ?? 0n) }));
}

/** Adds up the parts of each grant. */
export function mergeParts(one: readonly GrantPart[], other: readonly GrantPart[]): readonly GrantPart[] {
  const sums = new Map(one.map(({ id, amount }) => [id, amount]));
  for (const { id, amount } of other) sums.set(id, (sums.get(id) ?? 0n) + amount);
  return [...sums].map(([id, amount]) => ({ id, amount }));
}

export function negateParts(parts: readonly GrantPart[]): readonly GrantPart[] {
  return parts.map(({ id, amount }) => ({ id, amount: -amount }));
}

/** What the ids of grants for promo codes begin with. */
export const PROMO_GRANT_IDS = 'promo:';

/** And those of grants of a month. */
export const MONTHLY_GRANT_IDS = 'monthly:';

/** Whether the service itself may give a grant with this id: one of an operator would take its place. */
export function isReservedGrantId(id: string): boolean {
  return [PROMO_GRANT_IDS, MONTHLY_GRANT_IDS].some((beginning) => id.startsWith(beginning));
}

/** The id of the grant that an account gets for a promo code: one, however often it asks. */
export function makePromoGrantId({ code, account }: { readonly code: string; readonly account: string }): string {
  return `${PROMO_GRANT_IDS}${code}:${account}`;
}
