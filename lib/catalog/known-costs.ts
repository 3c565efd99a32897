// What the catalog already knows of a vendor: costs and options of its models, whichever upstream they are written for.
import { createAccountSchema, describeSchema } from '../upstream/host/account-settings.ts';
import type { Plugin } from '../upstream/host/settings.ts';
import type { CostEntry } from './cost.ts';
import type { CatalogFile, RouteEntry, UpstreamEntry } from './schema.ts';
import { listVariables, substituteVariables } from './variables.ts';

type Env = Parameters<typeof substituteVariables>[1];

/** The host of `baseUrl`: of the settings, or the default of the plugin. */
export function findUpstreamHost(
  { plugin: name, settings }: Pick<UpstreamEntry, 'plugin' | 'settings'>,
  plugins: ReadonlyMap<string, Plugin>,
  env: Env,
): string | undefined {
  const plugin = plugins.get(name);
  const keys = plugin ? (describeSchema(createAccountSchema(plugin)).keys ?? {}) : {};
  const url = substituteVariables(settings.baseUrl, env, new Set()) ?? keys.baseUrl?.flags?.default;
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).hostname : undefined;
}

type Plugins = ReadonlyMap<string, Plugin>;

interface VendorModel {
  readonly upstream: string;
  /** The vendor's own name for it. */
  readonly model: string;
}

/** Whether an upstream is this one, or another at the same host. */
function createVendorCheck(upstreams: CatalogFile['upstreams'], upstream: string, plugins: Plugins) {
  const findHost = (name: string) => {
    const entry = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
    return entry && findUpstreamHost(entry, plugins, {});
  };
  const host = findHost(upstream);
  return (name: string) => name === upstream || (host !== undefined && findHost(name) === host);
}

/** The cost of a vendor's model; first what is written for the upstream itself. */
export function findKnownCost(
  file: Pick<CatalogFile, 'upstreams' | 'models' | 'costs'>,
  { upstream, model }: VendorModel,
  plugins: Plugins,
): CostEntry | undefined {
  const isVendor = createVendorCheck(file.upstreams, upstream, plugins);
  const routes = file.models.flatMap((each) => each.routes);
  const written = [
    ...routes.filter((route) => route.model === model).map((route) => [route.upstream, route.cost] as const),
    ...Object.entries(file.costs ?? {}).map(
      ([name, costs]) => [name, Object.hasOwn(costs, model) ? costs[model] : undefined] as const,
    ),
  ];
  const found = written.filter(([name, cost]) => typeof cost === 'object' && isVendor(name));
  const [, cost] = found.find(([name]) => name === upstream) ?? found[0] ?? [];
  return typeof cost === 'object' ? cost : undefined;
}

/** The options that a route of a vendor's model has over the same plugin; undefined if there are none. */
export function findKnownOptions(
  { upstreams, models }: Pick<CatalogFile, 'upstreams' | 'models'>,
  { upstream, model }: VendorModel,
  plugins: Plugins,
): RouteEntry['options'] | undefined {
  const isVendor = createVendorCheck(upstreams, upstream, plugins);
  const isAlike = (name: string) => isVendor(name) && upstreams[name]?.plugin === upstreams[upstream]?.plugin;
  const routes = models.flatMap((each) => each.routes);
  const options = routes.find((route) => route.model === model && isAlike(route.upstream))?.options ?? {};
  const isUsable = Object.keys(options).length > 0 && listVariables(options).size === 0;
  return isUsable ? options : undefined;
}
