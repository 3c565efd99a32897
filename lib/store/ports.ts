// The list of a store's ports, and the walk over all of their calls: whoever wraps a store forgets none of them.
import type { StorePorts } from './store.ts';

export type PortName = keyof StorePorts;

/** The calls that write nothing. One that is not listed counts as a write. */
export const READS: { readonly [Name in PortName]: readonly (keyof StorePorts[Name])[] } = {
  ledger: ['wallet', 'charge', 'charges', 'entries', 'entriesOfCharge', 'chargedAt', 'orphans'],
  journal: ['size', 'page', 'unknownCharges', 'keys'],
  accounts: ['get', 'list'],
  keys: ['find', 'list'],
  // Whoever asks for the open windows is going to count on.
  limits: [],
  owners: [],
  settings: ['get', 'list'],
  jobs: ['get', 'open', 'page'],
};

export type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Which call it is; those of the store itself are of no port. */
export interface CallName {
  readonly port: string | undefined;
  readonly name: string;
}

/** The names of the ports that a store has, listed or not. */
export function portNamesOf(store: object): readonly string[] {
  return Object.entries(store)
    .filter(([, value]) => typeof value === 'object' && value !== null)
    .map(([name]) => name);
}

/** A store whose calls are what `wrap` makes of them. */
export function mapCalls<S extends object>(store: S, wrap: (call: Call, name: CallName) => Call): S {
  const mapped = (of: object, port?: string): object =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => {
        if (typeof value === 'function') return [name, wrap(value, { port, name })];
        return port === undefined && typeof value === 'object' && value !== null
          ? [name, mapped(value, name)]
          : [name, value];
      }),
    );
  return mapped(store) as S;
}
