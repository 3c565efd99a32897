// Makes a provider from its settings: checks them by the plugin's own schema, and finds their origins and secrets.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Joi from 'joi';
import { readCredentials } from '../../base/credentials.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Host, HostClock, MakeAccountSchema, Provider } from '../contract/provider.ts';
import { createAccountSchema } from './account-settings.ts';
import { createHost, type UpstreamLog, type VendorSigns } from './host.ts';
import type { KeyHealth } from './key-ring.ts';
import { PluginRun, runPlugin } from './plugin-run.ts';
import { findSecrets, lacksSecret, scrub } from './secret.ts';

/** What all kinds of plugins have in common. */
export interface Plugin<Made extends Closable = Closable> extends VendorSigns {
  readonly contract: number;
  readonly name: string;
  settings(joi: Joi.Root, account: MakeAccountSchema): Joi.ObjectSchema;
  create(settings: object, host: Host): Made;
}

interface Closable {
  close?(): Promise<void>;
}

export interface ProviderOptions<Made extends Closable = Provider> {
  readonly plugin: Plugin<Made>;
  /** The name of the upstream in the catalog. */
  readonly upstream: string;
  /** What an operator calls it; default `Upstream`. */
  readonly title?: string;
  /** As in the catalog, with environment variables filled in. */
  readonly settings: unknown;
  readonly log: UpstreamLog;
  /** The real one by default. */
  readonly clock?: HostClock;
  /** What its host has beyond the common host. */
  readonly extras?: object;
}

export interface OpenProvider<Made extends Closable = Provider> {
  readonly provider: Made;
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[];
  /** True if no setting is a secret, or one is empty. */
  readonly lacksSecret: boolean;
  readonly keyHealth: () => KeyHealth;
  /** Scheme, host and port of `baseUrl`; undefined if the settings have none. */
  readonly origin: string | undefined;
  /** URL of the proxy that the settings name. */
  readonly proxy: string | undefined;
  /** Closes the provider and then its connections, even those in use: wait for the last call first. */
  close(): Promise<void>;
}

/** Throws an OperatorError of one line that names the upstream. Reads the file named by `ca`, and does no other I/O. */
export function createProvider<Made extends Closable = Provider>(options: ProviderOptions<Made>): OpenProvider<Made> {
  const { plugin, upstream, log, clock, extras } = options;
  const { settings, secrets, schema } = checkSettings(options);
  const title = quoteUpstream(options);
  const proxy = readProxy(settings, title);
  const ca = readCa(settings, title);
  const host = createHost({
    upstream,
    log,
    secrets,
    schema,
    keys: readKeys(settings),
    vendor: plugin,
    allowedOrigins: findOrigins(settings, title),
    ...(proxy !== undefined && { proxy }),
    ...(ca !== undefined && { ca }),
    ...(clock && { clock }),
  });
  const name = { title: options.title ?? TITLE, name: upstream };
  const create = () => plugin.create(settings, { ...host, ...extras });
  const maker = `${title}: plugin ${plugin.name}`;
  const provider = attempt(maker, () => runPlugin(new PluginRun(name), create), secrets);
  const flaw = findProviderFlaw(provider);
  if (flaw !== undefined) throw new OperatorError(`${maker}: create() returns ${flaw}, not a provider`);
  return {
    provider,
    secrets,
    lacksSecret: lacksSecret(schema, settings),
    keyHealth: host.keyHealth,
    origin: readBaseOrigin(settings, title),
    proxy,
    async close() {
      await provider.close?.();
      await host.close();
    },
  };
}

/** The schema of a plugin's settings. Throws an OperatorError of one line that names the plugin. */
export function readSchema(plugin: Pick<Plugin, 'name' | 'settings'>): Joi.ObjectSchema {
  const schema = attempt(`Plugin ${plugin.name}: settings()`, () => createAccountSchema(plugin));
  if (!Joi.isSchema(schema)) throw new OperatorError(`Plugin ${plugin.name}: settings() does not return a joi schema`);
  return schema;
}

/** Throws an OperatorError of one line that names the upstream and every wrong setting. */
export function checkSettings(options: Omit<ProviderOptions<Closable>, 'log' | 'clock'>): {
  readonly settings: object;
  readonly secrets: readonly string[];
  readonly schema: Joi.ObjectSchema;
} {
  const { plugin, settings } = options;
  const schema = readSchema(plugin);
  const { value, error } = schema.validate(settings ?? {}, {
    convert: false,
    abortEarly: false,
    errors: { wrap: { label: '`' } },
  });
  const secrets = findSecrets(schema, value);
  if (error) {
    const words = error.details.map((detail) => detail.message).join('; ');
    throw new OperatorError(`${quoteUpstream(options)}: bad settings: ${scrub(words, secrets)}`);
  }
  return { settings: value, secrets, schema };
}

const TITLE = 'Upstream';

function quoteUpstream({ upstream, title = TITLE }: Pick<ProviderOptions, 'upstream' | 'title'>): string {
  return `${title} \`${upstream}\``;
}

function findProviderFlaw(provider: unknown): string | undefined {
  if (provider instanceof Promise) {
    // Its rejection is not reported: that it is a promise at all is the mistake.
    provider.catch(() => undefined);
    return 'a promise';
  }
  if (provider === null) return 'null';
  return typeof provider === 'object' ? undefined : typeof provider;
}

function readKeys(settings: object): readonly string[] {
  const keys: unknown[] = 'apiKey' in settings ? [settings.apiKey].flat() : [];
  return keys.filter((key) => typeof key === 'string');
}

/** The origins of `baseUrl` and of every other setting whose name ends in `Url`, at any depth. */
function findOrigins(settings: object, title: string): readonly string[] {
  const origins = new Set<string>();
  const visit = (name: string, value: unknown): void => {
    if (typeof value === 'string' && name.endsWith('Url')) origins.add(readOrigin(value, `${title}: \`${name}\``));
    else if (Array.isArray(value)) for (const element of value) visit(name, element);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) visit(key, inner);
    }
  };
  visit('', settings);
  return [...origins];
}

function readBaseOrigin(settings: object, title: string): string | undefined {
  if (!('baseUrl' in settings) || typeof settings.baseUrl !== 'string') return undefined;
  return readOrigin(settings.baseUrl, `${title}: \`baseUrl\``);
}

function readOrigin(text: string, where: string): string {
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new OperatorError(`${where} is not an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new OperatorError(`${where} carries a user or password; they belong in a setting of their own`);
  }
  return url.origin;
}

function readProxy(settings: object, title: string): string | undefined {
  if (!('proxy' in settings) || settings.proxy === undefined) return undefined;
  const url = typeof settings.proxy === 'string' ? URL.parse(settings.proxy) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new OperatorError(`${title}: \`proxy\` is not an http or https URL`);
  }
  readCredentials(url, `${title}: \`proxy\``);
  return url.href;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates in the file named by `ca`: of an authority that only some machines know. */
function readCa(settings: object, title: string): string | undefined {
  if (!('ca' in settings) || typeof settings.ca !== 'string') return undefined;
  const refuse = (what: string) => new OperatorError(`${title}: \`ca\`: ${settings.ca} ${what}`);
  try {
    const pem = readFileSync(settings.ca, 'utf8');
    for (const [certificate] of pem.matchAll(CERTIFICATE)) new X509Certificate(certificate);
    if (pem.search(CERTIFICATE) >= 0) return pem;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw refuse(syscall ? `cannot be read (${code})` : 'has a certificate that cannot be read');
  }
  throw refuse('has no PEM certificate');
}

/** A plugin's own words may quote its settings. */
function attempt<T>(what: string, run: () => T, secrets: readonly string[] = []): T {
  try {
    return run();
  } catch (error) {
    const [line] = String(error instanceof Error ? error.message : error).split('\n');
    throw new OperatorError(`${what} failed: ${scrub(line ?? '', secrets)}`);
  }
}
