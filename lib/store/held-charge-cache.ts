// Caches the held charges of wallets. Every change of a charge comes with an entry, so while the `seq` of the wallet is
// unchanged, its charges are unchanged and need not be read again. Not those of services: a renewal of their lease is no
// entry.
import { LRUCache } from 'lru-cache';
import type { Charge } from '../money/decide.ts';
import { SERVICE_OWNER } from '../money/operations.ts';

export interface WalletChargeCache {
  /** The charge as last seen; maybe stale, but its initial values never change. */
  get(id: string): Charge | undefined;
  /** The charge, if it is cached and the wallet is still at `seq`. */
  at(seq: number | undefined, id: string): Charge | undefined;
  /** Called after the commit of a batch that moved the wallet from one `seq` to another. */
  remember(batch: { readonly seqBefore: number; readonly seqAfter: number; readonly changed: readonly Charge[] }): void;
}

const WALLETS_MAX = 1000;
const CHARGES_MAX = 10_000;

export function createHeldChargeCache(): (wallet: string) => WalletChargeCache {
  const wallets = new LRUCache<string, WalletChargeCache>({ max: WALLETS_MAX });
  return (wallet) => {
    let known = wallets.get(wallet);
    if (!known) {
      known = createWalletCache();
      wallets.set(wallet, known);
    }
    return known;
  };
}

function createWalletCache(): WalletChargeCache {
  const charges = new Map<string, Charge>();
  let seq: number | undefined;
  return {
    get: (id) => charges.get(id),
    at: (now, id) => (now === seq ? charges.get(id) : undefined),
    remember({ seqBefore, seqAfter, changed }) {
      if (seq !== seqBefore || charges.size > CHARGES_MAX) charges.clear();
      for (const charge of changed) {
        if (charge.state === 'held' && charge.owner !== SERVICE_OWNER) charges.set(charge.id, charge);
        else charges.delete(charge.id);
      }
      seq = seqAfter;
    },
  };
}
