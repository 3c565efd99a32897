// Loads a catalog as a whole: its files with the part from pages, and what they open; what is open already is kept.
import type { Config } from '../config.ts';
import type { HostMemory, PaymentProvider } from '../upstream/contract/payment.ts';
import type { HostLog, Provider } from '../upstream/contract/provider.ts';
import type { OpenProvider } from '../upstream/host/settings.ts';
import { buildCatalog, type Catalog } from './catalog.ts';
import type { CatalogLayer } from './layer.ts';
import type { PricesBefore } from './markup.ts';
import { type Opened, openSection } from './opened.ts';
import { choosePayments, type OpenPayment } from './payments.ts';
import { findNextRateStart } from './rates.ts';
import { readCatalog } from './read.ts';
import type { CatalogFile } from './schema.ts';
import type { Sections } from './sections.ts';

/** The configuration of a catalog. */
export type CatalogConfig = Pick<
  Config,
  'catalogDir' | 'catalogVariables' | 'providersPath' | 'paymentsPath' | 'env' | 'totalTimeoutMs'
>;

export interface LoadSettings {
  readonly config: CatalogConfig;
  /** Whether upstreams marked `sandbox` are switched on. */
  readonly sandbox: boolean;
  readonly log: HostLog;
  /** Called with values that must not appear in the log. */
  readonly onSecrets: (secrets: readonly string[]) => void;
  /** Opens the memory of a payment provider; absent when a catalog is only checked. */
  readonly openMemory?: (provider: string) => HostMemory;
  /** ms since the epoch: decides which rates are in force. */
  readonly now?: () => number;
}

export interface Loaded {
  readonly file: CatalogFile;
  readonly layer: CatalogLayer | undefined;
  readonly catalog: Catalog;
  readonly upstreams: ReadonlyMap<string, Opened<Provider>>;
  readonly paymentProviders: ReadonlyMap<string, Opened<PaymentProvider>>;
  readonly payments: ReadonlyMap<string, OpenPayment>;
  /** An upstream that costs real money, if there is one. */
  readonly costly: string | undefined;
  /** The missing variables of the upstreams that are switched off. */
  readonly switchedOff: ReadonlyMap<string, readonly string[]>;
  /** When another rate takes effect, ms since the epoch; undefined if none is to come. */
  readonly nextRateAt: number | undefined;
}

const NO_MEMORY: HostMemory = { get: async () => undefined, set: async () => undefined };

export function discard(opened: readonly Opened[]): void {
  for (const { open } of opened) open.close().catch(() => undefined);
}

export function listOpened({ upstreams, paymentProviders }: Loaded): readonly Opened[] {
  return [...upstreams.values(), ...paymentProviders.values()];
}

interface LoadOptions {
  readonly sections: Sections;
  readonly layer: CatalogLayer | undefined;
  /** Absent at the start. */
  readonly before?: Loaded;
  readonly pricesBefore: PricesBefore;
}

export function load(
  { config, sandbox, log, onSecrets, openMemory = () => NO_MEMORY, now: clock = Date.now }: LoadSettings,
  { sections, layer, before, pricesBefore }: LoadOptions,
): Loaded {
  const file = readCatalog(config, { sandbox, layer });
  const fresh: OpenProvider<object>[] = [];
  const shared = { file, env: config.env, layerSecrets: layer?.secrets ?? {}, sandbox, log, fresh };
  try {
    const { upstreams, payments } = sections;
    const open = openSection(upstreams, { ...shared, before: before?.upstreams ?? new Map() });
    const createExtras = (name: string) => ({ memory: openMemory(name) });
    const paid = openSection(payments, { ...shared, before: before?.paymentProviders ?? new Map(), createExtras });
    const paymentsOff = [...paid.switchedOff].map(([name, lacks]) => [`payments.${name}`, lacks] as const);
    const now = clock();
    const usable = new Map([...open.opened].map(([name, opened]) => [name, opened.open]));
    const catalog = buildCatalog(file, usable, { now, pricesBefore });
    const costly = [...open.opened.keys()].find((name) => !file.upstreams[name]?.sandbox);
    const paying = choosePayments(file, paid.opened, { sandbox, costly });
    const off = [...paid.switchedOff].map(
      ([name, lacks]) => `payments.${name} is off: not set or empty: ${lacks.join(', ')}`,
    );
    const loaded = {
      file,
      layer,
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
      nextRateAt: findNextRateStart(file.rates ?? {}, now),
    };
    onSecrets(listOpened(loaded).flatMap(({ open: { secrets } }) => secrets));
    return loaded;
  } catch (error) {
    for (const open of fresh) open.close().catch(() => undefined);
    throw error;
  }
}

/** What the first has open and the second has not. */
export function listFresh(one: Loaded, other: Loaded): readonly Opened[] {
  const known = new Set(listOpened(other));
  return listOpened(one).filter((opened) => !known.has(opened));
}
