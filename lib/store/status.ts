// Turns an operator's change of the status of a wallet into a journal entry, the same for each store.
import { type Decision, decide, type Wallet } from '../money/decide.ts';

/** There is no entry if the wallet has the status already, so a repetition after a lost answer changes nothing. */
export function decideStatusChange(wallet: Wallet, status: Wallet['status'], at: number = Date.now()): Decision {
  const kind = status === 'suspended' ? 'suspend' : 'resume';
  const op = { kind, wallet: wallet.id, at, changeId: `${wallet.id}:${wallet.seq + 1}` } as const;
  return decide({ wallet, charge: undefined, prior: undefined }, op);
}
