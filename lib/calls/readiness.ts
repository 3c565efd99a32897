// Whether the service can serve calls, and how its upstreams are.
import type { Catalog } from '../catalog/catalog.ts';
import { listModels } from '../catalog/listing.ts';
import type { UpstreamHealth } from './upstreams.ts';

export interface Readiness {
  readonly status: 'ok' | 'unavailable';
  /** The store answers. */
  readonly store: boolean;
  /** Models that can be used. */
  readonly models: number;
}

/** What a client of the service is not told: which upstreams it has, and which of them fail. */
export interface FullReadiness extends Readiness {
  readonly upstreams: Readonly<Record<string, UpstreamState>>;
}

interface UpstreamState {
  readonly routes: number;
  readonly routes_open: number;
  readonly keys: number;
  readonly keys_resting: number;
}

export interface ReadinessFacts {
  readonly catalog: () => Catalog;
  /** Resolves when the store answers a read. */
  ping(): Promise<void>;
}

export async function readReadiness({ catalog, ping }: ReadinessFacts): Promise<Readiness> {
  const store = await ping().then(
    () => true,
    () => false,
  );
  const models = listModels(catalog()).length;
  return { status: store && models > 0 ? 'ok' : 'unavailable', store, models };
}

/** Numbers, and no names but those of the catalog. */
export function describeUpstreams(upstreams: readonly UpstreamHealth[]): FullReadiness['upstreams'] {
  return Object.fromEntries(upstreams.map(describeUpstream));
}

function describeUpstream({
  upstream,
  routes,
  routesOpen,
  keys: { keys, ...resting },
}: UpstreamHealth): [string, UpstreamState] {
  const keysResting = Object.values(resting).reduce((sum, count) => sum + count, 0);
  return [upstream, { routes, routes_open: routesOpen, keys, keys_resting: keysResting }];
}

/** That of several processes: ready if all are, and each upstream as the one that fares worst with it sees it. */
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
