// Pairs wallets with their checkpoints, the same for each store.
import type { Wallet } from '../money/decide.ts';
import { compareIds } from './journal.ts';
import type { Checkpoint, WalletCheckpoint } from './ports/checkpoints.ts';

/** The values that a wallet and its checkpoint have in common. */
export const COMPARED_SUMS = ['seq', 'avail', 'held', 'charged', 'topped', 'adjusted', 'granted'] as const;

/** Both lists must cover the same range of ids. */
export function pairWithCheckpoints(
  wallets: readonly Wallet[],
  checkpoints: readonly Checkpoint[],
): readonly WalletCheckpoint[] {
  const byId = new Map(wallets.map((wallet) => [wallet.id, wallet]));
  const byWallet = new Map(checkpoints.map((checkpoint) => [checkpoint.wallet, checkpoint]));
  const ids = [...new Set([...byId.keys(), ...byWallet.keys()])].sort(compareIds);
  return ids.map((id) => ({ id, wallet: byId.get(id), checkpoint: byWallet.get(id) }));
}
