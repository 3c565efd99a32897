// A store wrapper that refuses all writes: for the source of a copy, and for an audit.
import { type CallName, mapCalls, READS } from './port-calls.ts';
import { StoreError, type StorePorts } from './store.ts';

export function withoutWrites<S extends StorePorts>(store: S): S {
  const refuse = () => Promise.reject(new StoreError('the store is open read-only', 'no'));
  return mapCalls(store, (call, name) => (isRead(name) ? call : refuse));
}

function isRead({ port, name }: CallName): boolean {
  if (port === undefined) return true;
  const reads: Readonly<Record<string, readonly string[]>> = READS;
  return reads[port]?.includes(name) ?? false;
}
