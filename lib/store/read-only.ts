// A store wrapper that refuses all writes: for the source of a copy, and for an audit.
import { isRead, mapCalls } from './port-calls.ts';
import { StoreError, type StorePorts } from './store.ts';

export function withoutWrites<S extends StorePorts>(store: S): S {
  const refuse = () => Promise.reject(new StoreError('the store is open read-only', 'no'));
  return mapCalls(store, (call, name) => (isRead(name) ? call : refuse));
}
