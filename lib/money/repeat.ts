// Keys that clients send with calls so that a call that is sent again is not paid for again.

/** What a call says of its key when its money begins. */
export interface RepeatTerms {
  /** Of the account and the key, as a hash. */
  readonly id: string;
  /** A hash of what is asked: another request under the same key is a mistake. */
  readonly body: string;
  /** Whether a reply of it is going to be kept; of a stream none is. */
  readonly awaited: boolean;
  /** ms since the epoch: from then on the key is as good as new. */
  readonly expiresAt: number;
}

/** A key in the store, with the call that it was used for last. */
export interface Repeat extends RepeatTerms {
  readonly wallet: string;
  readonly charge: string;
  /** The body of its reply; null while there is none, and where none is kept. */
  readonly reply: string | null;
}

/** The charge that a key belongs to, as far as it matters. */
interface ChargeOfKey {
  readonly state: 'held' | 'settled' | 'released' | 'expired' | 'refunded';
}

/** Whether a key is taken. One whose call failed, so that its money went back, is as good as new. */
export function isTaken(repeat: Repeat | undefined, charge: ChargeOfKey | undefined, now: number): repeat is Repeat {
  if (!repeat || !charge || repeat.expiresAt <= now) return false;
  return charge.state === 'held' || charge.state === 'settled';
}
