// The port of archives: old calls leave the store for a file, and what their wallets came to stays as an opening.
import type { Charge, Entry } from '../../money/decide.ts';
import type { KeyBudget } from '../../money/key-budget.ts';
import type { Micro } from '../../money/money.ts';
import type { Checkpoint } from './checkpoints.ts';
import type { WrongMarks } from './wrong-marks.ts';

/**
 * The sums of a wallet's entries up to one of them. From then on a balance is the opening plus the entries after it;
 * entries before it are there only if they stay (payments, corrections, videos) or have not left yet.
 */
export interface Opening extends Checkpoint {
  /** How many of these entries belong to no call: none of them ever leaves. */
  readonly lasting: number;
  /** What these entries came to in the latest period of each budget. */
  readonly budgets: readonly Omit<KeyBudget, 'wallet'>[];
  /**
   * The call that was charged last: it stays until a later one is there to say what the wallet had been charged at a
   * given time.
   */
  readonly kept: string | null;
}

/** A call with all its entries, oldest first. */
export interface WholeCall {
  readonly charge: Charge;
  readonly entries: readonly Entry[];
}

/** `writing`: its file is not complete; `leaving`: it is, and its calls are being removed; `done`: they are gone. */
export const ARCHIVE_STATES = ['writing', 'leaving', 'done'] as const;

export interface Archive {
  readonly id: string;
  /** The absolute path that it was written to. */
  readonly file: string;
  /** Calls that ended before this left, ms since the epoch. */
  readonly before: number;
  readonly state: (typeof ARCHIVE_STATES)[number];
  readonly startedAt: number;
  /** Of its content; null while it is being written. */
  readonly sha256: string | null;
  readonly calls: number;
  readonly entries: number;
  /** The sum of its calls, less refunds. */
  readonly charged: Micro;
  /** When its first and its last call began; null if it has none. */
  readonly first: number | null;
  readonly last: number | null;
}

/** The part of a wallet that comes before its opening, for a copy. */
export interface OpeningRows {
  readonly entries: readonly Entry[];
  /** As they were at the opening. */
  readonly charges: readonly Charge[];
}

export interface ArchiveStore {
  /** In the order of their start. */
  list(): Promise<readonly Archive[]>;
  /** Notes a new archive; resolves to the unfinished one instead if there is one. */
  begin(archive: Archive): Promise<Archive>;
  /** Replaces the note of an archive that is not done; puts one that is not there. */
  put(archive: Archive): Promise<void>;
  /** Forgets an archive that is being written. */
  drop(id: string): Promise<void>;
  /** Of `limit` rows with ids above `after`, those whose values were changed behind the store's back. */
  findWrongMarks(
    sort: 'archives' | 'openings',
    page: { readonly after?: string; readonly limit: number },
  ): Promise<WrongMarks>;
  opening(wallet: string): Promise<Opening | undefined>;
  /** Openings of wallets with ids above `after`, in order of id. */
  openings(page: { readonly after: string; readonly limit: number }): Promise<readonly Opening[]>;
  /**
   * Moves the opening of a wallet from the entry `from` (0: it has none) forward, and its checkpoint at least as far,
   * in one transaction. False if it is not at `from`.
   */
  open(opening: Opening, from: number): Promise<boolean>;
  /**
   * Removes calls of a wallet whole, in one transaction: nothing if one differs from its rows or has an entry behind
   * the opening (`StoreError`). Those that are gone already are passed over.
   */
  remove(wallet: string, calls: readonly WholeCall[]): Promise<void>;
  /** For a copy, in a wallet without entries of its own: adds rows before its opening; those already there stay. */
  restoreRows(rows: OpeningRows): Promise<void>;
  /** For a copy, afterwards: the wallet continues from here. */
  restore(opening: Opening): Promise<void>;
}
