// Whether the service can handle calls, and the state of its upstreams.
import type { Catalog } from '../catalog/catalog.ts';
import { listModels } from '../catalog/listing.ts';
import type { Owner } from '../ledger/owner.ts';
import type { Store } from '../store/store.ts';
import type { UpstreamHealth } from './upstreams.ts';

interface Readiness {
  readonly status: 'ok' | 'unavailable';
  /** Whether the store answers reads and takes writes. */
  readonly store: boolean;
  /** Usable models. */
  readonly models: number;
}

/** Adds the upstreams and their failures, which clients must not see. */
export interface FullReadiness extends Readiness {
  readonly upstreams: Readonly<Record<string, UpstreamState>>;
}

interface UpstreamState {
  readonly routes: number;
  readonly routes_open: number;
  readonly keys: number;
  readonly keys_resting: number;
}

interface ReadinessFacts {
  readonly catalog: () => Catalog;
  /** Resolves when the store answers reads and takes writes. */
  ping(): Promise<void>;
}

/** Rejects while the store does not answer, or did not take the owner's last write. */
export function createStorePing(store: Pick<Store, 'ping'>, owner: Pick<Owner, 'canWrite'>): ReadinessFacts['ping'] {
  return async () => {
    if (!owner.canWrite()) throw new Error('the store takes no writes');
    await store.ping();
  };
}

export async function readReadiness({ catalog, ping }: ReadinessFacts): Promise<Readiness> {
  const store = await ping().then(
    () => true,
    () => false,
  );
  const { paused, ...current } = catalog();
  // With every upstream paused the gateway is still ready: an operator has to reach its pages to resume one.
  const models = listModels({ ...current, ...(paused && { models: paused.models }) }).length;
  return { status: store && models > 0 ? 'ok' : 'unavailable', store, models };
}

/** Contains only numbers and names of the catalog. */
export function describeUpstreams(upstreams: readonly UpstreamHealth[]): FullReadiness['upstreams'] {
  return Object.fromEntries(upstreams.map(describeUpstream));
}

function describeUpstream({
  upstream,
  routes,
  outages,
  keys: { keys, ...resting },
}: UpstreamHealth): [string, UpstreamState] {
  const keysResting = Object.values(resting).reduce((sum, count) => sum + count, 0);
  return [upstream, { routes, routes_open: outages.length, keys, keys_resting: keysResting }];
}

/** Merges several processes: ready if all are, and for each upstream the worst numbers of any process. */
export function mergeReadiness(all: readonly FullReadiness[]): FullReadiness {
  const upstreams: Record<string, UpstreamState> = {};
  for (const [name, state] of all.flatMap((one) => Object.entries(one.upstreams))) {
    const other = upstreams[name] ?? state;
    const worse = (field: keyof UpstreamState) => Math.max(state[field], other[field]);
    upstreams[name] = {
      routes: worse('routes'),
      routes_open: worse('routes_open'),
      keys: worse('keys'),
      keys_resting: worse('keys_resting'),
    };
  }
  const ready = all.length > 0 && all.every(({ status }) => status === 'ok');
  return {
    status: ready ? 'ok' : 'unavailable',
    store: all.length > 0 && all.every(({ store }) => store),
    models: all.length === 0 ? 0 : Math.min(...all.map(({ models }) => models)),
    upstreams,
  };
}
