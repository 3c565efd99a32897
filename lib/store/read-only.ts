// A store that takes no writes, whoever asks: the source of a copy, and what an audit goes over.
import { type Store, StoreError } from './store.ts';

type Ports = Omit<Store, 'close'>;

export function withoutWrites<S extends Ports>(store: S): S {
  const refuse = () => Promise.reject(new StoreError('the store was opened for reading only', 'no'));
  const { ledger, accounts, keys, limits, owners, settings, jobs } = store;
  return {
    ...store,
    ledger: { ...ledger, apply: refuse },
    accounts: { ...accounts, create: refuse, setStatus: refuse, setAutoTopup: refuse },
    keys: { ...keys, add: refuse, revoke: refuse, use: refuse },
    limits: { ...limits, hit: refuse, open: refuse, merge: refuse },
    owners: { ...owners, renew: refuse, remove: refuse },
    settings: { ...settings, set: refuse },
    jobs: { ...jobs, claim: refuse, change: refuse, renew: refuse, put: refuse },
  };
}
