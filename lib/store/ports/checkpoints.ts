// The port of checkpoints: how far the journal of each wallet has been audited, and the sums there.
import type { Wallet } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';

type Sums = 'avail' | 'held' | 'charged' | 'topped' | 'adjusted' | 'granted' | 'grants';

/** The audited sums of the entries of a wallet up to one of them, and the wallet's columns after these entries. */
export interface Checkpoint extends Pick<Wallet, Sums> {
  readonly wallet: string;
  /** The number of the last audited entry. */
  readonly seq: number;
  readonly overshoot: Micro;
}

/** A wallet and its checkpoint; of a deleted wallet only the checkpoint remains. */
export interface WalletCheckpoint {
  readonly id: string;
  readonly wallet: Wallet | undefined;
  readonly checkpoint: Checkpoint | undefined;
}

/** The wallets in a range of ids that have changed since they were audited. */
export interface ChangedWallets {
  /** The number of wallets compared. */
  readonly wallets: number;
  /** In order of id: wallets with other sums than their checkpoint, and checkpoints without a wallet. */
  readonly found: readonly Pick<WalletCheckpoint, 'id' | 'checkpoint'>[];
  /** The last wallet; undefined if there are no more. */
  readonly next?: string;
}

export interface CheckpointStore {
  /** Compares `limit` wallets with ids above `after`; a wallet without entries counts as unchanged. */
  changes(after: string, limit: number): Promise<ChangedWallets>;
  /** At most `limit` wallets with ids above `after`, and the checkpoints without a wallet in between, in order of id. */
  page(after: string, limit: number): Promise<readonly WalletCheckpoint[]>;
  /** Replaces checkpoints of earlier entries; a checkpoint of a later entry stays. */
  put(checkpoints: readonly Checkpoint[]): Promise<void>;
}
