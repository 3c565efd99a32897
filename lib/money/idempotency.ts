// Clients' idempotency keys, so that a repeated call is not charged again.

/** What a call says about its key when its money starts to move. */
export interface IdempotencyTerms {
  /** Of the account and the key, as a hash. */
  readonly id: string;
  /** A hash of the request: another request with the same key is a mistake. */
  readonly body: string;
  /** Whether its reply will be stored; a stream's is not. */
  readonly awaited: boolean;
  /** ms since the epoch: from then on the key is free again. */
  readonly expiresAt: number;
}

/** A stored key, with the last call that used it. */
export interface Repeat extends IdempotencyTerms {
  readonly wallet: string;
  readonly charge: string;
  /** The body of its reply; null while there is none, or if none is stored. */
  readonly reply: string | null;
}

/** The charge that a key belongs to, as far as it matters here. */
interface ChargeOfKey {
  readonly state: 'held' | 'settled' | 'released' | 'expired' | 'refunded';
}

/** Whether a key is taken. If its call failed and was refunded, it is free again. */
export function isTaken(repeat: Repeat | undefined, charge: ChargeOfKey | undefined, now: number): repeat is Repeat {
  if (!repeat || !charge || repeat.expiresAt <= now) return false;
  return charge.state === 'held' || charge.state === 'settled';
}
