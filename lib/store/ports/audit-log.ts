// The port of the audit log: who changed what through a page, append-only.

export interface AuditRow {
  /** Increasing, possibly with gaps. */
  readonly seq: number;
  /** ms since the epoch. */
  readonly at: number;
  /** The user's id. */
  readonly user: string;
  /** `key.issue`, `wallet.adjust`. */
  readonly action: string;
  /** The account concerned; null for actions that concern none. */
  readonly account: string | null;
  /** The target: the id of a key, a payment, a user. */
  readonly target: string;
  /** Details as JSON; no secrets. */
  readonly detail: string;
  readonly address: string;
}

/** A row before it is written. */
export type AuditLine = Omit<AuditRow, 'seq'>;

export interface AuditLogStore {
  append(line: AuditLine): Promise<void>;
  /** Writes rows as they are in another store, keeping existing ones: for a copy. */
  put(rows: readonly AuditRow[]): Promise<void>;
  /** Newest first, `seq` below `before` if given; of one account if given. */
  page(page: {
    readonly before?: number;
    readonly limit: number;
    readonly account?: string;
  }): Promise<readonly AuditRow[]>;
}
