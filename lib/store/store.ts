// The ports of persistence: what the gateway needs of a store, independent of the database. One contract suite tests all.
import type { AccountStore } from './ports/accounts.ts';
import type { AlertStore } from './ports/alerts.ts';
import type { ArchiveStore } from './ports/archives.ts';
import type { AttemptStore } from './ports/attempts.ts';
import type { AuditLogStore } from './ports/audit-log.ts';
import type { CatalogVersionStore } from './ports/catalog-versions.ts';
import type { CheckpointStore } from './ports/checkpoints.ts';
import type { IdempotencyStore } from './ports/idempotency.ts';
import type { JobStore } from './ports/jobs.ts';
import type { JournalStore } from './ports/journal.ts';
import type { KeyStore } from './ports/keys.ts';
import type { LedgerStore } from './ports/ledger.ts';
import type { LimitStore } from './ports/limits.ts';
import type { ManagementStore } from './ports/management.ts';
import type { MediaStore } from './ports/media.ts';
import type { OwnerStore } from './ports/owners.ts';
import type { PaperStore } from './ports/papers.ts';
import type { PaymentStore } from './ports/payments.ts';
import type { PromoStore } from './ports/promos.ts';
import type { RateStore } from './ports/rates.ts';
import type { RefusalStore } from './ports/refusals.ts';
import type { SessionStore } from './ports/sessions.ts';
import type { SettingStore } from './ports/settings.ts';
import type { UsageStore } from './ports/usage.ts';
import type { UserStore } from './ports/users.ts';

/** Every method rejects with `StoreError` if the database does not answer. */
export interface StorePorts {
  readonly ledger: LedgerStore;
  readonly journal: JournalStore;
  readonly attempts: AttemptStore;
  readonly checkpoints: CheckpointStore;
  readonly archives: ArchiveStore;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly limits: LimitStore;
  readonly owners: OwnerStore;
  readonly settings: SettingStore;
  readonly jobs: JobStore;
  readonly payments: PaymentStore;
  readonly media: MediaStore;
  readonly usage: UsageStore;
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly auditLog: AuditLogStore;
  readonly alerts: AlertStore;
  readonly idempotency: IdempotencyStore;
  readonly rates: RateStore;
  readonly refusals: RefusalStore;
  readonly promos: PromoStore;
  readonly papers: PaperStore;
  readonly catalogVersions: CatalogVersionStore;
  readonly management: ManagementStore;
}

/** A store, opened and migrated. */
export interface Store extends StorePorts {
  /** Resolves once the store has answered a read. */
  ping(): Promise<void>;
  /** The ids of the live gateways on this store, by the clock of the store. */
  gateways(): Promise<readonly string[]>;
  /**
   * Writes a consistent copy of the whole store to a new file, while the store is in use; the file gets its final name
   * once it is complete. Refuses an existing file.
   */
  backup(file: string, onProgress?: OnProgress): Promise<void>;
  close(): Promise<void>;
}

/** How to open a store. */
export interface StoreOptions {
  /** The store must exist; it is not created. */
  readonly existing?: boolean;
  /** The store must exist, and nothing is written to it, not even a newer schema. */
  readonly readOnly?: boolean;
  /** The folder of a SQLite store's media files: by default beside the database, as in a backup. */
  readonly mediaFolder?: string | undefined;
  /** Everything can be written again after a crash, like a copy: commits of SQLite are synced only with the next setting. */
  readonly repeatable?: boolean;
  /** SQLite runs in the calling thread instead of its own, for a process that has nothing else to do. */
  readonly inProcess?: boolean;
}

/** The progress of a long walk over a store. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  /** The unit counted. */
  readonly unit: 'entries' | 'pages';
}

export type OnProgress = (progress: Progress) => void;

/** The store failed: unreachable, locked or full. `applied` says whether the write may have happened. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** `no`: certainly not written. `unknown`: perhaps written; the same operations may be sent again. */
  readonly applied: 'no' | 'unknown';
  /** `batch`: the store is healthy, but cannot apply these operations or read the rows they need. */
  readonly blames: 'store' | 'batch';
  constructor(message: string, applied: 'no' | 'unknown', cause?: unknown, blames: 'store' | 'batch' = 'store') {
    super(message, { cause });
    this.applied = applied;
    this.blames = blames;
  }
}
