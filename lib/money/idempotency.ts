// Idempotency keys of clients, so that a repeated call is not charged again.

/** Idempotency data stored with the hold or charge of a call. */
export interface IdempotencyTerms {
  /** A hash of the account and the key. */
  readonly id: string;
  /** A hash of the request: another request with the same key is refused. */
  readonly body: string;
  /** Whether its reply will be stored; a stream's is not. */
  readonly awaited: boolean;
  /** ms since the epoch: from then on the key is free again. */
  readonly expiresAt: number;
}

/** A stored key, with the last call that used it. */
export interface IdempotencyRecord extends IdempotencyTerms {
  readonly wallet: string;
  readonly charge: string;
  /** The body of the reply to that call; null until there is one, or if it is not stored. */
  readonly reply: string | null;
}

interface ChargeOfKey {
  readonly state: 'held' | 'settled' | 'released' | 'expired' | 'refunded';
}

/** Whether a key is in use. If its call failed or was refunded, the key is free again. */
export function isIdempotencyKeyTaken(
  record: IdempotencyRecord | undefined,
  charge: ChargeOfKey | undefined,
  now: number,
): record is IdempotencyRecord {
  if (!record || !charge || record.expiresAt <= now) return false;
  return charge.state === 'held' || charge.state === 'settled';
}
