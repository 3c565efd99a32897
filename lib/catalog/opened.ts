// Opens the upstreams and payment providers of a catalog. Entries that an edit leaves unchanged keep their connections.

import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config.ts';
import { createProvider, type OpenProvider, type Plugin, type ProviderOptions } from '../upstream/host/settings.ts';
import { LAYER_FILE } from './layer.ts';
import { type CatalogFile, describeMistake, type UpstreamEntry } from './schema.ts';
import { substituteVariables } from './variables.ts';

export interface Opened<Made extends object = object> {
  /** The plugin and settings it was created from. */
  readonly fingerprint: string;
  readonly open: OpenProvider<Made>;
}

/** A section of a catalog with its plugins. */
export interface Section<Made extends object> {
  readonly name: 'upstreams' | 'payments';
  /** The operator's word for an entry, such as `Upstream`. */
  readonly title: string;
  /** The variable with additional plugin folders. */
  readonly variable: string;
  readonly plugins: ReadonlyMap<string, Plugin<Made>>;
}

interface OpenOptions<Made extends object> {
  readonly file: CatalogFile;
  readonly env: Config['env'];
  /** The variables of upstreams in the part from pages. */
  readonly layerSecrets?: Config['env'];
  /** Whether entries marked `sandbox` are switched on. */
  readonly sandbox: boolean;
  readonly log: ProviderOptions['log'];
  /** The entries that are open now. */
  readonly before: ReadonlyMap<string, Opened<Made>>;
  /** Collects newly opened entries, so that they can be closed if a later step fails. */
  readonly fresh: OpenProvider<object>[];
  /** Creates additions to the host of an entry. */
  readonly createExtras?: (name: string) => object;
}

interface OpenSection<Made extends object> {
  readonly opened: ReadonlyMap<string, Opened<Made>>;
  /** The missing variables of the entries that are switched off. */
  readonly switchedOff: ReadonlyMap<string, readonly string[]>;
}

/** Throws an `OperatorError` that names the entry. */
export function openSection<Made extends object>(
  section: Section<Made>,
  { file, env, layerSecrets, sandbox, log, before, fresh, createExtras }: OpenOptions<Made>,
): OpenSection<Made> {
  const { name: sectionName, title, variable, plugins } = section;
  // The refusals of a bank may name saved cards.
  const sectionLog = sectionName === 'payments' ? withoutBodies(log) : log;
  const opened = new Map<string, Opened<Made>>();
  const switchedOff = new Map<string, readonly string[]>();
  for (const [name, entry] of Object.entries<UpstreamEntry>(file[sectionName])) {
    const plugin = plugins.get(entry.plugin);
    const refuse = (mistake: string) => new OperatorError(describeMistake(file, `${sectionName}.${name}`, mistake));
    if (!plugin) {
      const what = `${title.toLowerCase()} ${name}`;
      throw refuse(`${what}: unknown plugin ${entry.plugin}, neither shipped nor in ${variable}`);
    }
    const missing = new Set<string>();
    const isOfLayer = file.sources?.get(`${sectionName}.${name}`) === LAYER_FILE;
    const settings = substituteVariables(entry.settings, isOfLayer ? (layerSecrets ?? {}) : env, missing);
    if (entry.sandbox && !sandbox) continue;
    if (missing.size > 0) {
      switchedOff.set(name, [...missing]);
      continue;
    }
    const fingerprint = JSON.stringify([entry.plugin, settings]);
    const kept = before.get(name);
    if (kept?.fingerprint === fingerprint) opened.set(name, kept);
    else {
      const open = createOrRefuse(
        { plugin, upstream: name, title, settings, log: sectionLog, extras: createExtras?.(name) ?? {} },
        refuse,
      );
      fresh.push(open);
      opened.set(name, { fingerprint, open });
    }
  }
  return { opened, switchedOff };
}

/** A log that gets no bodies of replies, which are logged at debug. */
function withoutBodies(log: ProviderOptions['log']): ProviderOptions['log'] {
  return {
    warn: (message, fields) => log.warn(message, fields),
    error: (message, fields) => log.error?.(message, fields),
  };
}

function createOrRefuse<Made extends object>(
  options: ProviderOptions<Made>,
  refuse: (mistake: string) => OperatorError,
): OpenProvider<Made> {
  try {
    return createProvider(options);
  } catch (error) {
    throw error instanceof OperatorError ? refuse(error.message) : error;
  }
}
