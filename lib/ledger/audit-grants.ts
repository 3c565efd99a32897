// The audit of the grants of one wallet: adds up what each entry takes from them or gives back, and checks that calls spend
// them before paid money, the one that ends first before the others.
import type { Entry } from '../money/decide.ts';
import {
  applyGrantEntry,
  type GrantBook,
  negateParts,
  parseGrantBook,
  serializeGrantBook,
  serializeGrantParts,
  takeFromGrants,
} from '../money/grants.ts';
import type { Micro } from '../money/money.ts';
import { CHARGE_STARTING_KINDS } from '../money/operations.ts';

interface GrantCheck {
  /** The grants of an opening replace those of the entries before it. */
  openAt(grants: string | undefined): void;
  /** Adds the next entry; returns its problems. */
  add(entry: Entry): readonly string[];
  /** What they have left together. */
  sum(): Micro;
  /** As in the wallet. */
  grants(): string | undefined;
}

const NO_GRANTS = parseGrantBook(undefined);

/** Starts from the grants of a checkpoint, if there is one. */
export function createGrantCheck(before: string | undefined): GrantCheck {
  let book = readBook(before);
  let sum = sumBook(book);

  function add(entry: Entry): readonly string[] {
    const { kind, avail, grants } = entry;
    if (book === NO_GRANTS && grants === undefined) return [];
    const problems: string[] = [];
    if (CHARGE_STARTING_KINDS.includes(kind)) {
      const wanted = serializeGrantParts(negateParts(takeFromGrants(book, -avail).parts));
      if (wanted !== grants) problems.push(`grants ${grants ?? 'none'} instead of ${wanted ?? 'none'}`);
    }
    try {
      book = applyGrantEntry(book, entry);
    } catch {
      problems.push(`its grants ${grants} cannot be read`);
    }
    sum = sumBook(book);
    const below = book.find(({ left }) => left < 0n);
    if (below) problems.push(`a ${kind} that leaves ${below.left} of the grant ${below.id}`);
    return problems;
  }

  return {
    openAt(grants) {
      book = readBook(grants);
      sum = sumBook(book);
    },
    add,
    sum: () => sum,
    grants: () => serializeGrantBook(book),
  };
}

function sumBook(book: GrantBook): Micro {
  return book.reduce((total, { left }) => total + left, 0n);
}

/** A damaged row counts as none, which the comparison with the wallet reports. */
function readBook(grants: string | undefined): GrantBook {
  if (grants === undefined) return NO_GRANTS;
  try {
    return parseGrantBook(grants);
  } catch {
    return NO_GRANTS;
  }
}
