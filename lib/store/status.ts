// The operator's change of a wallet's status as the entry it becomes, the same for each store.
import { type Decision, decide, type Wallet } from '../money/decide.ts';

/** Without an entry if it has that status already, so a repeat after a lost answer changes nothing. */
export function decideStatusChange(wallet: Wallet, status: Wallet['status'], at: number = Date.now()): Decision {
  const kind = status === 'suspended' ? 'suspend' : 'resume';
  const op = { kind, wallet: wallet.id, at, changeId: `${wallet.id}:${wallet.seq + 1}` } as const;
  return decide({ wallet, charge: undefined, prior: undefined }, op);
}
