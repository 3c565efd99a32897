// The live catalog: loaded at start, reloaded when a file changes or on request, replaced as a whole or not at all.
import { fileURLToPath } from 'node:url';
import { limitConcurrency } from '../base/limit-concurrency.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config.ts';
import type { HostMemory, PaymentPlugin, PaymentProvider } from '../upstream/contract/payment.ts';
import type { HostLog, Provider } from '../upstream/contract/provider.ts';
import type { KeyHealth } from '../upstream/host/key-ring.ts';
import { loadPlugins } from '../upstream/host/loader.ts';
import { scrub } from '../upstream/host/secret.ts';
import type { OpenProvider } from '../upstream/host/settings.ts';
import { buildCatalog, type Catalog } from './catalog.ts';
import { createChanges } from './changes.ts';
import { catalogFilesOf, readCatalogFiles } from './files.ts';
import { listModels } from './listing.ts';
import { type Opened, openSection, type Section } from './opened.ts';
import { type OpenPayment, paymentsOf } from './payments.ts';
import type { CatalogFile } from './schema.ts';
import { isSet, variablesOf } from './variables.ts';

/** What a catalog is loaded with. */
export type CatalogConfig = Pick<
  Config,
  'catalogDir' | 'catalogVariables' | 'providersPath' | 'paymentsPath' | 'env' | 'totalTimeoutMs'
>;

export interface LiveCatalogOptions {
  readonly config: CatalogConfig;
  /** Whether upstreams marked `sandbox` are switched on. */
  readonly sandbox: boolean;
  readonly log: LiveCatalogLog;
  /** Called with every value that must not appear in the log. */
  readonly onSecrets: (secrets: readonly string[]) => void;
  /** An edit takes effect after at most two polls. */
  readonly lookEveryMs?: number;
  /** A payment provider's memory, by its name; absent when a catalog is only checked. */
  readonly memoryOf?: (provider: string) => HostMemory;
  /**
   * Records that an upstream costs real money, before the first such upstream takes effect: while it rejects, none
   * does. Absent when a catalog is only checked.
   */
  readonly noteCost?: (upstream: string) => Promise<void>;
}

export interface LiveCatalogLog extends HostLog {
  info(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

export interface LiveCatalog {
  /** The current catalog; a call keeps the one it started with. */
  current(): Catalog;
  /** The payment providers that are switched on, by name. */
  payments(): ReadonlyMap<string, OpenPayment>;
  /** The keys of the upstreams that are switched on, by name. */
  keyHealth(): ReadonlyMap<string, KeyHealth>;
  /** Why the last reload changed nothing in this process; undefined once one has succeeded. */
  failure(): CatalogFailure | undefined;
  /** Reloads the files, one reload at a time; a bad edit is logged and the old catalog stays. */
  reload(): Promise<boolean>;
  /** Reloads when a file changes. */
  watch(): void;
  close(): Promise<void>;
}

/** A reload that failed; what was loaded before stays in force. */
export interface CatalogFailure {
  /** ms since the epoch. */
  readonly at: number;
  /** What is wrong with the files, without secrets. */
  readonly reason: string;
}

interface Loaded {
  readonly catalog: Catalog;
  readonly upstreams: ReadonlyMap<string, Opened<Provider>>;
  readonly paymentProviders: ReadonlyMap<string, Opened<PaymentProvider>>;
  readonly payments: ReadonlyMap<string, OpenPayment>;
  /** An upstream that costs real money, if there is one. */
  readonly costly: string | undefined;
  /** The variables whose absence switches upstreams off. */
  readonly switchedOff: ReadonlyMap<string, readonly string[]>;
}

interface Sections {
  readonly upstreams: Section<Provider>;
  readonly payments: Section<PaymentProvider>;
}

const SHIPPED_PROVIDERS = fileURLToPath(new URL('../../providers/', import.meta.url));
const SHIPPED_PAYMENTS = fileURLToPath(new URL('../../payments/', import.meta.url));
const SHIPPED_SANDBOX = fileURLToPath(new URL('../../catalog/sandbox.json', import.meta.url));
const SWITCHED_OFF =
  'the edit switched an upstream or a payment provider off: it names variables that are not set in this process';
const NOT_RELOADED = 'the catalog was not reloaded; the old one stays in force';
const NO_MEMORY: HostMemory = { get: async () => undefined, set: async () => undefined };
const REASON_CHARS_MAX = 2000;
const LOOK_EVERY_MS = 500;
/** A reload that could not record what an upstream costs is tried again after this many polls. */
const AGAIN_POLLS = 10;
const TIMER_MS_MAX = 2_147_483_647;

export async function openLiveCatalog(options: LiveCatalogOptions): Promise<LiveCatalog> {
  const { config, log, lookEveryMs = LOOK_EVERY_MS } = options;
  const sections = await loadSections(config);
  const changes = createChanges(config.catalogDir);
  await changes.note();
  let loaded = load(options, sections, undefined);
  let looking: NodeJS.Timeout | undefined;
  let closed = false;
  /** Polls until a reload is tried again; undefined: none is owed. */
  let again: number | undefined;
  let failure: CatalogFailure | undefined;
  const retired = new Map<Opened, NodeJS.Timeout>();
  const oneAtATime = limitConcurrency(1);
  await recordCost(options, loaded).catch((error: unknown) => {
    discard(openedOf(loaded));
    throw error;
  });
  warn(loaded);

  function warn({ catalog }: Loaded): void {
    for (const warning of catalog.warnings) log.warn(warning);
  }

  const reload = (): Promise<boolean> => oneAtATime(reloadNow);

  async function reloadNow(): Promise<boolean> {
    await changes.note();
    again = undefined;
    const before = loaded;
    const next = await prepare(before);
    if (!next) return false;
    loaded = next;
    failure = undefined;
    for (const opened of freshOf(before, next)) retire(opened);
    warn(next);
    for (const [upstream, variables] of next.switchedOff) {
      if (!before.switchedOff.has(upstream)) log.warn(SWITCHED_OFF, { upstream, variables });
    }
    log.info('the catalog was reloaded', { models: listModels(next.catalog).length });
    return true;
  }

  /** What may take effect; undefined: nothing, and the log says why. */
  async function prepare(before: Loaded): Promise<Loaded | undefined> {
    let next: Loaded | undefined;
    try {
      next = load(options, sections, before);
      await recordCost(options, next, before);
      if (!closed) return next;
    } catch (error) {
      if (next) again = AGAIN_POLLS;
      const secrets = openedOf(before).flatMap(({ open }) => open.secrets);
      const reason = scrub((error as Error).message, secrets).slice(0, REASON_CHARS_MAX);
      failure = { at: Date.now(), reason };
      if (!closed) log.error(`${NOT_RELOADED}${next ? '; trying again soon' : ''}: ${reason}`);
    }
    if (next) discard(freshOf(next, before));
    return undefined;
  }

  /** Closes an upstream once no call can run on it any more. */
  function retire(opened: Opened): void {
    const close = () => {
      retired.delete(opened);
      opened.open.close().catch((err: unknown) => log.warn('a retired upstream did not close', { err }));
    };
    retired.set(opened, setTimeout(close, Math.min(config.totalTimeoutMs + 1000, TIMER_MS_MAX)).unref());
  }

  async function look(): Promise<void> {
    const isChanged = await changes.settled();
    if (again !== undefined) again -= 1;
    if ((isChanged || again === 0) && !closed) await reload();
    if (!closed) watch();
  }

  function watch(): void {
    looking = setTimeout(() => void look(), lookEveryMs).unref();
  }

  return {
    current: () => loaded.catalog,
    payments: () => loaded.payments,
    failure: () => failure,
    keyHealth: () => new Map([...loaded.upstreams].map(([name, { open }]) => [name, open.keyHealth()])),
    reload,
    watch,
    async close() {
      closed = true;
      clearTimeout(looking);
      for (const timer of retired.values()) clearTimeout(timer);
      await Promise.allSettled([...openedOf(loaded), ...retired.keys()].map(({ open }) => open.close()));
    },
  };
}

async function loadSections({ providersPath, paymentsPath }: CatalogConfig): Promise<Sections> {
  const variable = 'PAYMENTS_PATH';
  const providers = await loadPlugins({ shipped: SHIPPED_PROVIDERS, path: providersPath });
  const payments = await loadPlugins<PaymentPlugin>({ shipped: SHIPPED_PAYMENTS, path: paymentsPath, variable });
  return {
    upstreams: { name: 'upstreams', title: 'Upstream', variable: 'PROVIDERS_PATH', plugins: providers },
    payments: { name: 'payments', title: 'Payment provider', variable, plugins: payments },
  };
}

/** Before the first upstream that costs real money takes effect. Rejects with an `OperatorError`. */
async function recordCost(options: LiveCatalogOptions, { costly }: Loaded, before?: Loaded): Promise<void> {
  if (costly === undefined || before?.costly !== undefined) return;
  try {
    await options.noteCost?.(costly);
  } catch (error) {
    const what = `the store could not record that the upstream ${costly} costs real money`;
    throw new OperatorError(
      `${what}, which it must, or test payments could buy its answers: ${(error as Error).message}`,
    );
  }
}

/** What the one has open and the other has not. */
function freshOf(one: Loaded, other: Loaded): readonly Opened[] {
  const known = new Set(openedOf(other));
  return openedOf(one).filter((opened) => !known.has(opened));
}

function discard(opened: readonly Opened[]): void {
  for (const { open } of opened) open.close().catch(() => undefined);
}

function openedOf({ upstreams, paymentProviders }: Loaded): readonly Opened[] {
  return [...upstreams.values(), ...paymentProviders.values()];
}

function load(
  { config, sandbox, log, onSecrets, memoryOf = () => NO_MEMORY }: LiveCatalogOptions,
  sections: Sections,
  before: Loaded | undefined,
): Loaded {
  const file = readCatalog(config, sandbox);
  const fresh: OpenProvider<object>[] = [];
  const shared = { file, env: config.env, sandbox, log, fresh };
  try {
    const { upstreams, payments } = sections;
    const open = openSection(upstreams, { ...shared, before: before?.upstreams ?? new Map() });
    const extrasOf = (name: string) => ({ memory: memoryOf(name) });
    const paid = openSection(payments, { ...shared, before: before?.paymentProviders ?? new Map(), extrasOf });
    const paymentsOff = [...paid.switchedOff].map(([name, lacks]) => [`payments.${name}`, lacks] as const);
    const catalog = buildCatalog(file, new Map([...open.opened].map(([name, opened]) => [name, opened.open])));
    const costly = [...open.opened.keys()].find((name) => !file.upstreams[name]?.sandbox);
    const paying = paymentsOf(file, paid.opened, { sandbox, costly });
    const off = [...paid.switchedOff].map(
      ([name, lacks]) => `payments.${name} is off: not set or empty: ${lacks.join(', ')}`,
    );
    const loaded = {
      catalog: {
        ...catalog,
        warnings: [...catalog.warnings, ...paying.warnings, ...off],
        paymentsOff: paid.switchedOff,
      },
      costly,
      payments: paying.payments,
      upstreams: open.opened,
      paymentProviders: paid.opened,
      switchedOff: new Map([...open.switchedOff, ...paymentsOff]),
    };
    onSecrets(openedOf(loaded).flatMap(({ open: { secrets } }) => secrets));
    return loaded;
  } catch (error) {
    for (const open of fresh) open.close().catch(() => undefined);
    throw error;
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
  /** True if an upstream other than the sandbox is switched on. */
  readonly real: boolean;
}

/** The files' content for a given environment, without creating providers. */
export function readCatalogFacts(config: Pick<Config, 'catalogDir' | 'catalogVariables' | 'env'>): CatalogFacts {
  const file = readCatalogFiles(catalogFilesOf(config.catalogDir), config.catalogVariables);
  const switchedOff: string[] = [];
  let upstreams = 0;
  for (const [name, { settings, sandbox }] of Object.entries(file.upstreams)) {
    if (sandbox) continue;
    const missing = [...variablesOf(settings)].filter((variable) => !isSet(config.env, variable));
    if (missing.length === 0) upstreams += 1;
    else switchedOff.push(`${name} (${missing.join(', ')})`);
  }
  return { models: file.models.length, upstreams, switchedOff, real: upstreams > 0 };
}

/** The ids and aliases in the files, those of the sandbox included; models without a route too. */
export function readModelNames(config: Pick<Config, 'catalogDir' | 'catalogVariables'>): ReadonlySet<string> {
  const { models } = readCatalog(config, true);
  return new Set(models.flatMap(({ id, aliases }) => [id, ...aliases]));
}
