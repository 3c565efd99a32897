// The state of the upstreams in the catalog, for the operator: names and numbers only.
import type { Catalog } from '../catalog/catalog.ts';
import type { KeyHealth } from '../upstream/host/key-ring.ts';
import { isUpstream, type PluginName } from '../upstream/host/plugin-run.ts';
import type { RouteHealth, RouteOutage, RouteRef } from './health.ts';

/** A route that keeps failing. */
export interface UpstreamOutage extends RouteOutage {
  /** The models that have the route. */
  readonly models: readonly string[];
}

export interface UpstreamHealth {
  /** The name in the catalog. */
  readonly upstream: string;
  /** Number of routes that use the upstream. */
  readonly routes: number;
  readonly outages: readonly UpstreamOutage[];
  readonly keys: KeyHealth;
}

export interface UpstreamFacts {
  readonly catalog: () => Catalog;
  /** The keys of the upstreams that are switched on. */
  readonly keyHealth: () => ReadonlyMap<string, KeyHealth>;
  readonly health: RouteHealth;
}

export function listUpstreamHealth({ catalog, keyHealth, health }: UpstreamFacts): readonly UpstreamHealth[] {
  const { models } = catalog();
  const routes = new Map(models.flatMap((model) => model.routes.map((route) => [route.key, route])));
  const byUpstream = Map.groupBy(routes.values(), ({ upstream }) => upstream);
  return [...keyHealth()].map(([upstream, keys]) => {
    const own = byUpstream.get(upstream) ?? [];
    const outages = own.flatMap((route) => {
      const outage = health.findOutage(route);
      return outage ? [{ ...outage, models: findModels(models, route) }] : [];
    });
    return { upstream, routes: own.length, outages, keys };
  });
}

function findModels(models: Catalog['models'], { key }: RouteRef): readonly string[] {
  return models.filter(({ routes }) => routes.some((route) => route.key === key)).map(({ id }) => id);
}

export type OnPluginError = (plugin: PluginName) => void;

/** Counts unhandled errors of plugins for the routes of their upstream. */
export function countPluginErrors({ catalog, health }: Pick<UpstreamFacts, 'catalog' | 'health'>): OnPluginError {
  return (plugin) => {
    const routes = catalog().models.flatMap((model) => model.routes);
    if (isUpstream(plugin)) health.notePluginError(plugin.name, routes);
  };
}
