// The port of archives: old calls are moved from the store to a file, and an opening keeps the sums of their wallets.
import type { Attempt } from '../../money/attempt.ts';
import type { BudgetSum } from '../../money/budget.ts';
import type { Charge, Entry } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import type { Checkpoint } from './checkpoints.ts';
import type { WrongMarks } from './wrong-marks.ts';

/**
 * The sums of the entries of a wallet up to one of them. The balance is the opening plus the entries after it; earlier
 * entries are in the store only if they stay there (payments, corrections, videos) or have not been removed yet.
 */
export interface Opening extends Checkpoint {
  /** The number of these entries that belong to no call; they always stay in the store. */
  readonly lasting: number;
  /** The sums of these entries in the latest period of each budget. */
  readonly budgets: readonly Omit<BudgetSum, 'wallet'>[];
  /**
   * The call whose charge or refund was written last. It stays in the store until there is a later one, so that the amount
   * charged at a given time can be looked up.
   */
  readonly kept: string | null;
}

/** A call with all its entries, oldest first, and its attempts in order. */
export interface WholeCall {
  readonly charge: Charge;
  readonly entries: readonly Entry[];
  readonly attempts: readonly Attempt[];
}

/** `writing`: the file is not complete; `leaving`: it is complete, and the calls are being removed; `done`: all removed. */
export const ARCHIVE_STATES = ['writing', 'leaving', 'done'] as const;

export interface Archive {
  readonly id: string;
  /** The absolute path that the archive was written to. */
  readonly file: string;
  /** Calls that ended before this time are archived, ms since the epoch. */
  readonly before: number;
  readonly state: (typeof ARCHIVE_STATES)[number];
  readonly startedAt: number;
  /** The hash of the content; null while the file is written. */
  readonly sha256: string | null;
  readonly calls: number;
  readonly entries: number;
  /** The sum of the charges of its calls, less refunds. */
  readonly charged: Micro;
  /** When its first and its last call started; null if it has none. */
  readonly first: number | null;
  readonly last: number | null;
}

/** The part of a wallet that comes before its opening, for a copy. */
export interface OpeningRows {
  readonly entries: readonly Entry[];
  /** The charges as of the opening. */
  readonly charges: readonly Charge[];
}

export interface ArchiveStore {
  /** All archives, in the order of their start. */
  list(): Promise<readonly Archive[]>;
  /** Records a new archive; if there is an unfinished one, resolves to that instead. */
  begin(archive: Archive): Promise<Archive>;
  /** Replaces the row of an archive that is not done, or inserts a new row. */
  put(archive: Archive): Promise<void>;
  /** Deletes an archive that is being written. */
  drop(id: string): Promise<void>;
  /** Checks `limit` rows with ids above `after`, and finds those whose values were changed outside the store. */
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
   * Removes whole calls of a wallet in one transaction, or none if one differs from its rows or has an entry after the
   * opening (`StoreError`). Calls that are removed already are skipped.
   */
  remove(wallet: string, calls: readonly WholeCall[]): Promise<void>;
  /** For a copy, in a wallet without entries: adds rows from before its opening; existing rows stay. */
  restoreRows(rows: OpeningRows): Promise<void>;
  /** For a copy, after `restoreRows`: the wallet continues from the opening. */
  restore(opening: Opening): Promise<void>;
}
