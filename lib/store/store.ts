// The ports of persistence: what the gateway asks of a store, free of any database. One contract suite runs on each.
import type { Charge, ChargeKind, ChargeState, Entry, Operation, Outcome, Wallet } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import type { JournalStore } from './journal.ts';
import type { JobStore } from './ports/jobs.ts';

/** Every method rejects with `StoreError` when the database does not answer. */
export interface StorePorts {
  readonly ledger: LedgerStore;
  readonly journal: JournalStore;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly limits: LimitStore;
  readonly owners: OwnerStore;
  readonly settings: SettingStore;
  readonly jobs: JobStore;
}

/** A store, opened and migrated. */
export interface Store extends StorePorts {
  /** Resolves when the store answers a read. */
  ping(): Promise<void>;
  /** The ids of the gateways that are alive on this store, by its own clock. */
  gateways(): Promise<readonly string[]>;
  /**
   * Writes a consistent copy of the whole store to a new file while it is in use, under another name until it is
   * whole. Refuses an existing file.
   */
  backup(file: string, onProgress?: OnProgress): Promise<void>;
  close(): Promise<void>;
}

/** How to open a store. */
export interface Opening {
  /** It must be there: none is made. */
  readonly existing?: boolean;
  /** It must be there, and nothing is written to it, not even a newer schema. */
  readonly readOnly?: boolean;
}

/** How far a long walk over a store has come. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  /** What is counted. */
  readonly unit: 'entries' | 'pages';
}

export type OnProgress = (progress: Progress) => void;

/** The store could not do it: unreachable, locked, full. `applied` says whether the write may have happened. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** `no`: certainly not written. `unknown`: perhaps written; the same operations may be sent again. */
  readonly applied: 'no' | 'unknown';
  /** `batch`: the store is well, and the operations or the rows they need are such that it cannot apply them. */
  readonly blames: 'store' | 'batch';
  constructor(message: string, applied: 'no' | 'unknown', cause?: unknown, blames: 'store' | 'batch' = 'store') {
    super(message, { cause });
    this.applied = applied;
    this.blames = blames;
  }
}

/** One operation on its way into a batch. */
export interface Submission {
  readonly op: Operation;
  /**
   * Set by the store before the first attempt that could commit the operation, and taken back only by an attempt that
   * set it and certainly did not commit: what an earlier one may have written stays tried.
   */
  tried: boolean;
  /** Set by the submitter: nobody waits any more. A store drops an abandoned, never tried item before every attempt. */
  abandoned: boolean;
}

export interface LedgerStore {
  /**
   * How operations may share a transaction: all of the store's in one lane, or one lane per wallet. The submitter
   * keeps one batch per lane in flight.
   */
  readonly lane: 'store' | 'wallet';
  /** Most operations in one batch. */
  readonly batchMax: number;
  /**
   * Applies a batch in one durable transaction by `fold`: outcomes in order, after the commit; undefined for dropped
   * items. Operations are idempotent by `operationId`, so a batch whose fate is unknown is sent again, whole or
   * in parts.
   */
  apply(batch: readonly Submission[]): Promise<readonly (Outcome | undefined)[]>;
  wallet(id: string): Promise<Wallet | undefined>;
  charge(id: string): Promise<Charge | undefined>;
  /**
   * Charges of a wallet, newest first: by the time of their beginning or by their entries' order, which differ where
   * clocks do; of one moment in an order that stays.
   */
  charges(wallet: string, page: ChargePage): Promise<readonly Charge[]>;
  /** Entries of a wallet, newest first, `seq` below `before` if given. */
  entries(wallet: string, page: { readonly before?: number; readonly limit: number }): Promise<readonly Entry[]>;
  /** Entries of one charge, oldest first. */
  entriesOfCharge(chargeId: string): Promise<readonly Entry[]>;
  /** `charged` of the wallet as it stood at `at` (ms since the epoch): 0 before the first entry. */
  chargedAt(wallet: string, at: number): Promise<Micro>;
  /** Held charges whose lease is over and whose owner is not alive, in order of `lease` and `id`. */
  orphans(page: OrphanPage): Promise<readonly Charge[]>;
}

export interface ChargePage {
  /** Only those behind this one in the order; none if it is no charge of the wallet. */
  readonly before?: string;
  readonly limit: number;
  readonly filter?: ChargeFilter;
}

/** What is absent is not asked for. */
export interface ChargeFilter {
  /** Created at this time (ms since the epoch) or later. */
  readonly from?: number;
  /** Created before this time. */
  readonly to?: number;
  readonly key?: string;
  readonly model?: string;
  readonly kind?: ChargeKind;
  readonly state?: ChargeState;
}

export interface OrphanPage {
  /** By the store's clock, as `renew` has told it. */
  readonly now: number;
  /** A lease that ends later than two of these from now is over too: it was made by a clock that ran ahead. */
  readonly leaseMs: number;
  /** The last one of the page before. */
  readonly after?: { readonly lease: number; readonly id: string };
  readonly limit: number;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Status of its wallet. */
  readonly status: 'active' | 'suspended';
  readonly createdAt: number;
  readonly autoTopup: AutoTopup;
}

export interface AutoTopup {
  readonly enabled: boolean;
  readonly amount: Micro;
  readonly threshold: Micro;
}

export interface AccountStore {
  /** Makes the account and its empty wallet, which has the same id. */
  create(account: { readonly id: string; readonly name: string; readonly createdAt: number }): Promise<void>;
  get(id: string): Promise<Account | undefined>;
  /** All accounts, oldest first. */
  list(): Promise<readonly Account[]>;
  /** False when there is no such account. */
  setStatus(id: string, status: Account['status']): Promise<boolean>;
  /** False when there is no such account. */
  setAutoTopup(id: string, autoTopup: AutoTopup): Promise<boolean>;
}

export interface KeyRow {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** Last four characters of the key. */
  readonly last4: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly requestsCount: number;
  /** ms since the epoch; null before the first use. */
  readonly lastUsedAt: number | null;
}

/** A key as authentication needs it. */
export interface KeyHolder extends KeyRow {
  readonly accountStatus: Account['status'];
}

export interface KeyUse {
  readonly id: string;
  readonly count: number;
  readonly lastUsedAt: number;
}

/**
 * The name of counts that are sent again, as they were, until the store has confirmed them: it counts them once, also
 * when their first commit only seemed to fail. Without one a repeat counts again.
 */
export interface Batch {
  /** Whoever counts; never used again by another. */
  readonly writer: string;
  /** From 1, one more with every batch; the one before is confirmed. */
  readonly number: number;
}

export interface KeyStore {
  /** Adds an active key unless the account has `activeMax` of them already; decided atomically. */
  add(
    key: Pick<KeyRow, 'id' | 'account' | 'name' | 'hash' | 'last4' | 'createdAt'>,
    activeMax: number,
  ): Promise<'added' | 'too_many' | 'no_account'>;
  /** The key with this hash, revoked or not. */
  find(hash: string): Promise<KeyHolder | undefined>;
  list(account: string): Promise<readonly KeyRow[]>;
  /** `exists`: it was revoked before. */
  revoke(id: string, at: number): Promise<'revoked' | 'exists' | 'no_key'>;
  /** Adds to the counters; `lastUsedAt` never goes back. */
  use(uses: readonly KeyUse[], batch?: Batch): Promise<void>;
}

/** A counting window: it opens with its first hit and ends `windowMs` later. */
export interface LimitWindow {
  readonly bucket: string;
  readonly endsAt: number;
  readonly count: number;
}

export interface LimitStore {
  /**
   * Counts one hit, opening a window if none is open at `now`; returns the window after it. One that ends later than two
   * windows from now is over: the clock was set back.
   */
  hit(bucket: string, windowMs: number, now: number): Promise<LimitWindow>;
  /** The windows open at `now`; hits sent before this call are in them. */
  open(now: number): Promise<readonly LimitWindow[]>;
  /** Adds counts from elsewhere to the store's windows and drops those that ended. */
  merge(windows: readonly LimitWindow[], now: number, batch?: Batch): Promise<void>;
}

/**
 * The gateway processes on this store. One is alive until its lease ends by the store's clock: the server's, or that of
 * the machine which the file is on. A lease that ends later than two of its length from now is over: the clock ran ahead.
 */
export interface OwnerStore {
  /** Registers, or renews for a whole lease from now; then looks at the others. */
  renew(owner: OwnerLease): Promise<Others>;
  /** Leaves: its open holds become orphans when their own leases end. */
  remove(id: string): Promise<void>;
}

export interface OwnerLease {
  readonly id: string;
  readonly leaseMs: number;
  /** It may count rate limits by its own memory. */
  readonly alone: boolean;
}

export interface Others {
  /** The store's clock, in ms since the epoch. */
  readonly now: number;
  /** Other owners that are alive. */
  readonly others: number;
  /** How many of them may count rate limits by their own memory. */
  readonly alone: number;
}

export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Facts the service remembers across starts. */
export interface SettingStore {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** All of them, in order of name. */
  list(): Promise<readonly Setting[]>;
}
