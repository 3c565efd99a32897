// What the catalog already knows of a vendor's prices: costs of the same vendor, whichever upstream they are written for.
import { createAccountSchema, describeSchema } from '../upstream/host/account-settings.ts';
import type { Plugin } from '../upstream/host/settings.ts';
import type { CostEntry } from './cost.ts';
import type { CatalogFile, UpstreamEntry } from './schema.ts';
import { substituteVariables } from './variables.ts';

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

/** The cost of a vendor's model; first what is written for the upstream itself. */
export function findKnownCost(
  file: Pick<CatalogFile, 'upstreams' | 'models' | 'costs'>,
  { upstream, model }: { readonly upstream: string; readonly model: string },
  plugins: ReadonlyMap<string, Plugin>,
): CostEntry | undefined {
  const findHost = (name: string) => {
    const entry = Object.hasOwn(file.upstreams, name) ? file.upstreams[name] : undefined;
    return entry && findUpstreamHost(entry, plugins, {});
  };
  const host = findHost(upstream);
  const isVendor = (name: string) => name === upstream || (host !== undefined && findHost(name) === host);
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
