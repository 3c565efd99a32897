// The port of the management API: its keys, and the replies kept for repeats of its requests.

export interface ManagementKey {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** Last four characters of the key. */
  readonly last4: string;
  readonly scopes: readonly string[];
  /** The account whose owner has made the key, and which it is limited to; null for a key of an operator. */
  readonly account: string | null;
  /** Where requests may come from; null: from anywhere. */
  readonly addresses: readonly string[] | null;
  /** The id of the user who made it, or what stands for the command line. */
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** A request that may be repeated, and its reply. */
export interface ManagementReply {
  /** A hash of the key and of the client's idempotency key. */
  readonly id: string;
  /** A hash of the request, which a repeat must have, too. */
  readonly body: string;
  /** Null while the request runs, and if its process has died. */
  readonly reply: string | null;
  /** Until then a request without a reply counts as running, ms since the epoch. */
  readonly lease: number;
  readonly expiresAt: number;
}

/**
 * `claimed`: the caller runs the request; `again`: it does so after an attempt that never ended; `found`: another request
 * has the id.
 */
export type ReplyClaim =
  | { readonly status: 'claimed' | 'again' }
  | { readonly status: 'found'; readonly found: ManagementReply };

export interface ManagementStore {
  addKey(key: ManagementKey): Promise<void>;
  /** The key with this hash, revoked or not. */
  findKey(hash: string): Promise<ManagementKey | undefined>;
  getKey(id: string): Promise<ManagementKey | undefined>;
  /** Oldest first, revoked ones too: those of an account, or all. */
  listKeys(account?: string): Promise<readonly ManagementKey[]>;
  /** `exists`: it was revoked before. */
  revokeKey(id: string, at: number): Promise<'revoked' | 'exists' | 'no_key'>;
  /** `lastUsedAt` never decreases. */
  useKey(id: string, at: number): Promise<void>;
  /** Writes keys as they are in another store: for a copy. */
  putKeys(keys: readonly ManagementKey[]): Promise<void>;
  /**
   * Claims an id for a request, if it is free by `now`: unknown or expired, or of the same body, with a lease that has
   * ended and no reply.
   */
  claimReply(claim: Omit<ManagementReply, 'reply'>, now: number): Promise<ReplyClaim>;
  /** Stores the reply of the request that holds the claim with this lease; false if another has taken it over. */
  storeReply(claim: Pick<ManagementReply, 'id' | 'lease'>, reply: string): Promise<boolean>;
  /** Frees an id whose request changed nothing. */
  dropReply(claim: Pick<ManagementReply, 'id' | 'lease'>): Promise<void>;
  /** At most `limit` replies with ids above `after`, in order of id. */
  replyPage(page: { readonly after?: string; readonly limit: number }): Promise<readonly ManagementReply[]>;
  /** Writes replies as they are in another store: for a copy. */
  putReplies(replies: readonly ManagementReply[]): Promise<void>;
  /** Removes up to `limit` replies that have expired by `now`; resolves to how many. */
  clean(now: number, limit: number): Promise<number>;
}
