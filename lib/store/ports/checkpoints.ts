// The port of checkpoints: how far the journal of each wallet has been verified, and what it came to there.
import type { Wallet } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';

/** The sums of the entries of a wallet up to one of them, as they were verified. */
export interface Checkpoint {
  readonly wallet: string;
  /** The last entry that was verified. */
  readonly seq: number;
  readonly avail: Micro;
  readonly held: Micro;
  readonly charged: Micro;
  readonly topped: Micro;
  readonly adjusted: Micro;
  readonly overshoot: Micro;
}

/** A wallet and how far it has been verified; a wallet that is gone has left only its checkpoint. */
export interface WalletCheckpoint {
  readonly id: string;
  readonly wallet: Wallet | undefined;
  readonly checkpoint: Checkpoint | undefined;
}

/** Which of some consecutive wallets are no longer as they were verified. */
export interface ChangedWallets {
  /** How many wallets were looked at. */
  readonly wallets: number;
  /** By id: those with other sums than their checkpoint, and checkpoints whose wallet is gone. */
  readonly found: readonly Pick<WalletCheckpoint, 'id' | 'checkpoint'>[];
  /** The last wallet; undefined if there are no more. */
  readonly next?: string;
}

export interface CheckpointStore {
  /** Looks at `limit` wallets with ids above `after`; one without entries is as it was verified. */
  changes(after: string, limit: number): Promise<ChangedWallets>;
  /** The wallets with ids above `after`, `limit` at the most, and the checkpoints without a wallet among them, by id. */
  page(after: string, limit: number): Promise<readonly WalletCheckpoint[]>;
  /** Puts a checkpoint in the place of one of an earlier entry; changes nothing otherwise. */
  put(checkpoints: readonly Checkpoint[]): Promise<void>;
}
