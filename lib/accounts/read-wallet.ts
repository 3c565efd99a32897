// Reads a wallet for a reply; answers 503 if the store fails.
import { fault } from '../base/faults.ts';
import type { Wallet } from '../money/decide.ts';
import type { Store } from '../store/store.ts';

export async function readWallet(store: Store, accountId: string): Promise<Wallet> {
  const wallet = await orUnavailable(store.ledger.wallet(accountId));
  if (!wallet) throw fault('internal', {}, new Error(`account ${accountId} has no wallet`));
  return wallet;
}

export function orUnavailable<T>(read: Promise<T>): Promise<T> {
  return read.catch((error: unknown) => {
    throw fault('store_unavailable', {}, error);
  });
}
