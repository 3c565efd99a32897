// The live catalog: read at start, read again when a file changes or on request, swapped as a whole or not at all.
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';
import { OperatorError } from '../operator-error.ts';
import type { HostLog, ProviderPlugin } from '../plugin/contract.ts';
import type { KeyHealth } from '../plugin/keys.ts';
import { loadPlugins } from '../plugin/loader.ts';
import { createProvider, type OpenProvider, type ProviderOptions } from '../plugin/settings.ts';
import { buildCatalog, type Catalog } from './catalog.ts';
import { createChanges } from './changes.ts';
import { catalogFilesOf, readCatalogFiles } from './files.ts';
import { listModels } from './listing.ts';
import { type CatalogFile, mistakeIn } from './schema.ts';
import { substitute, variablesOf } from './variables.ts';

export interface LiveCatalogOptions {
  readonly config: Pick<Config, 'catalogDir' | 'catalogVariables' | 'providersPath' | 'env' | 'totalTimeoutMs'>;
  /** Whether upstreams marked `sandbox` are switched on. */
  readonly sandbox: boolean;
  readonly log: LiveCatalogLog;
  /** Called with every value that must not appear in the log. */
  readonly onSecrets: (secrets: readonly string[]) => void;
  /** An edit takes effect after two looks at the latest. */
  readonly lookEveryMs?: number;
}

export interface LiveCatalogLog extends HostLog {
  info(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

export interface LiveCatalog {
  /** The catalog in force; a call keeps the one it started with. */
  current(): Catalog;
  /** The keys of the upstreams that are switched on, by name. */
  keyHealth(): ReadonlyMap<string, KeyHealth>;
  /** Reads the files again; a bad edit is logged and the old catalog stays. */
  reload(): Promise<boolean>;
  /** Reloads when a file changes. */
  watch(): void;
  close(): Promise<void>;
}

interface Upstream {
  /** What it was made from: an unchanged upstream keeps its connections across a reload. */
  readonly fingerprint: string;
  readonly open: OpenProvider;
}

interface Loaded {
  readonly catalog: Catalog;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** The variables that upstreams lack which are therefore switched off. */
  readonly switchedOff: ReadonlyMap<string, readonly string[]>;
}

const SHIPPED_PROVIDERS = fileURLToPath(new URL('../../providers/', import.meta.url));
const SHIPPED_SANDBOX = fileURLToPath(new URL('../../catalog/sandbox.json', import.meta.url));
const SWITCHED_OFF = 'the edit switched an upstream off: it names variables that are not set in this process';
const LOOK_EVERY_MS = 500;
const TIMER_MS_MAX = 2_147_483_647;

export async function openLiveCatalog(options: LiveCatalogOptions): Promise<LiveCatalog> {
  const { config, log, lookEveryMs = LOOK_EVERY_MS } = options;
  const plugins = await loadPlugins({ shipped: SHIPPED_PROVIDERS, path: config.providersPath });
  const changes = createChanges(config.catalogDir);
  await changes.note();
  let loaded = load(options, plugins, new Map());
  let looking: NodeJS.Timeout | undefined;
  let closed = false;
  const retired = new Map<Upstream, NodeJS.Timeout>();
  warn(loaded.catalog);

  function warn(catalog: Catalog): void {
    for (const warning of catalog.warnings) log.warn(warning);
  }

  async function reload(): Promise<boolean> {
    await changes.note();
    try {
      const before = loaded;
      loaded = load(options, plugins, before.upstreams);
      for (const [name, upstream] of before.upstreams) if (loaded.upstreams.get(name) !== upstream) retire(upstream);
      warn(loaded.catalog);
      for (const [upstream, variables] of loaded.switchedOff) {
        if (!before.switchedOff.has(upstream)) log.warn(SWITCHED_OFF, { upstream, variables });
      }
      log.info('the catalog was reloaded', { models: listModels(loaded.catalog).length });
      return true;
    } catch (error) {
      log.error(`the catalog was not reloaded; the old one stays in force: ${(error as Error).message}`);
      return false;
    }
  }

  /** Closes an upstream when no call can still run on it. */
  function retire(upstream: Upstream): void {
    const close = () => {
      retired.delete(upstream);
      upstream.open.close().catch((err: unknown) => log.warn('a retired upstream did not close', { err }));
    };
    retired.set(upstream, setTimeout(close, Math.min(config.totalTimeoutMs + 1000, TIMER_MS_MAX)).unref());
  }

  async function look(): Promise<void> {
    const isChanged = await changes.settled();
    if (isChanged && !closed) await reload();
    if (!closed) watch();
  }

  function watch(): void {
    looking = setTimeout(() => void look(), lookEveryMs).unref();
  }

  return {
    current: () => loaded.catalog,
    keyHealth: () => new Map([...loaded.upstreams].map(([name, { open }]) => [name, open.keyHealth()])),
    reload,
    watch,
    async close() {
      closed = true;
      clearTimeout(looking);
      for (const timer of retired.values()) clearTimeout(timer);
      const open = [...loaded.upstreams.values(), ...retired.keys()];
      await Promise.allSettled(open.map((upstream) => upstream.open.close()));
    },
  };
}

function load(
  { config, sandbox, log, onSecrets }: LiveCatalogOptions,
  plugins: ReadonlyMap<string, ProviderPlugin>,
  before: ReadonlyMap<string, Upstream>,
): Loaded {
  const file = readCatalog(config, sandbox);
  const upstreams = new Map<string, Upstream>();
  const switchedOff = new Map<string, readonly string[]>();
  const fresh: OpenProvider[] = [];
  try {
    for (const [name, entry] of Object.entries(file.upstreams)) {
      const plugin = plugins.get(entry.plugin);
      const refuse = (mistake: string) => new OperatorError(mistakeIn(file, `upstreams.${name}`, mistake));
      if (!plugin)
        throw refuse(`upstream ${name}: unknown plugin ${entry.plugin}, neither shipped nor in PROVIDERS_PATH`);
      const missing = new Set<string>();
      const settings = substitute(entry.settings, config.env, missing);
      if (entry.sandbox && !sandbox) continue;
      if (missing.size > 0) {
        switchedOff.set(name, [...missing]);
        continue;
      }
      const fingerprint = JSON.stringify([entry.plugin, settings]);
      const kept = before.get(name);
      if (kept?.fingerprint === fingerprint) upstreams.set(name, kept);
      else {
        const open = createOrRefuse({ plugin, upstream: name, settings, log }, refuse);
        fresh.push(open);
        upstreams.set(name, { fingerprint, open });
      }
    }
    const catalog = buildCatalog(file, new Map([...upstreams].map(([name, { open }]) => [name, open])));
    onSecrets([...upstreams.values()].flatMap(({ open }) => open.secrets));
    return { catalog, upstreams, switchedOff };
  } catch (error) {
    for (const open of fresh) open.close().catch(() => undefined);
    throw error;
  }
}

function createOrRefuse(options: ProviderOptions, refuse: (mistake: string) => OperatorError): OpenProvider {
  try {
    return createProvider(options);
  } catch (error) {
    throw error instanceof OperatorError ? refuse(error.message) : error;
  }
}

/** The operator's files; in sandbox mode with the shipped sandbox if they have none. */
function readCatalog(
  { catalogDir, catalogVariables }: Pick<Config, 'catalogDir' | 'catalogVariables'>,
  sandbox: boolean,
): CatalogFile {
  const paths = catalogFilesOf(catalogDir);
  const file = readCatalogFiles(paths, catalogVariables);
  if (!sandbox || Object.values(file.upstreams).some((upstream) => upstream.sandbox)) return file;
  return readCatalogFiles([...paths, SHIPPED_SANDBOX], catalogVariables);
}

export interface CatalogFacts {
  readonly models: number;
  /** Upstreams that can be used. */
  readonly upstreams: number;
  /** Upstreams that lack a variable, as `name (VARIABLE, …)`. */
  readonly switchedOff: readonly string[];
  /** True when an upstream is switched on that is not the sandbox. */
  readonly real: boolean;
}

/** What the files say under an environment, without making providers. */
export function readCatalogFacts(config: Pick<Config, 'catalogDir' | 'catalogVariables' | 'env'>): CatalogFacts {
  const file = readCatalogFiles(catalogFilesOf(config.catalogDir), config.catalogVariables);
  const switchedOff: string[] = [];
  let upstreams = 0;
  for (const [name, { settings, sandbox }] of Object.entries(file.upstreams)) {
    if (sandbox) continue;
    const missing = [...variablesOf(settings)].filter((variable) => !config.env[variable]);
    if (missing.length === 0) upstreams += 1;
    else switchedOff.push(`${name} (${missing.join(', ')})`);
  }
  return { models: file.models.length, upstreams, switchedOff, real: upstreams > 0 };
}
