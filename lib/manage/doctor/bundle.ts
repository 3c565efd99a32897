// What a maintainer needs to help, in one file without secrets, for `tollgate support-bundle`: versions, settings, the
// models and routes of the catalog, the findings of the doctor, the state of the store and the metrics. No account, person
// or prompt.
import { arch, availableParallelism, freemem, platform, release, totalmem } from 'node:os';
import { request } from 'undici';
import { readVersion } from '../../base/package-version.ts';
import { openSilently } from '../../catalog/check.ts';
import { listModels } from '../../catalog/listing.ts';
import { readCatalogFacts } from '../../catalog/read.ts';
import { readStoredLayer } from '../../catalog/stored-layer.ts';
import { type Config, matchesPattern, VARIABLES } from '../../config.ts';
import { describeStore } from '../../store/open.ts';
import { describeError } from './check.ts';
import { examine } from './doctor.ts';

/** Settings that may be shown as they are; of all others only whether they are set. */
const URL_SETTINGS: ReadonlySet<string> = new Set(['SMTP_URL', 'DATABASE_URL']);
const SECRET: ReadonlySet<string> = new Set(['SECRETS_KEY', 'TELEGRAM_BOT_TOKEN', ...URL_SETTINGS]);
const TIMEOUT_MS = 5_000;
/** Shorter values would blank out other words. */
const SECRET_LENGTH_MIN = 6;

export async function buildBundle(config: Config): Promise<string> {
  const secrets: string[] = [];
  const bundle = {
    made_at: new Date().toISOString(),
    tollgate: readVersion(),
    node: process.version,
    machine: {
      platform: platform(),
      release: release(),
      arch: arch(),
      cores: availableParallelism(),
      memory_mb: Math.round(totalmem() / 1024 ** 2),
      free_memory_mb: Math.round(freemem() / 1024 ** 2),
      memory_limit_mb: readMemoryLimit(),
    },
    settings: describeSettings(config),
    store: describeStore(config.databaseUrl),
    catalog: await describeCatalog(config, secrets),
    findings: await examine(config, { calls: false }),
    metrics: await readMetrics(config),
  };
  return scrub(JSON.stringify(bundle, undefined, 2), [...secrets, ...listSecretValues(config)]);
}

/** Of the container; null if there is none. */
function readMemoryLimit(): number | null {
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < totalmem() ? Math.round(bytes / 1024 ** 2) : null;
}

function describeSettings({ env }: Config): Readonly<Record<string, string>> {
  const set = VARIABLES.filter((name) => env[name]);
  return Object.fromEntries(set.map((name) => [name, SECRET.has(name) ? 'set' : String(env[name])]));
}

async function describeCatalog(config: Config, secrets: string[]): Promise<object> {
  try {
    const layer = await readStoredLayer(config);
    const { switchedOff } = readCatalogFacts(config, layer);
    const live = await openSilently(config, layer, (found) => void secrets.push(...found));
    try {
      const { models, warnings } = live.current();
      const routes = models.map(({ id, type, routes }) => ({ id, type, routes: routes.map(({ key }) => key) }));
      return { usable: listModels(live.current()).length, models: routes, warnings, switched_off: switchedOff };
    } finally {
      await live.close();
    }
  } catch (error) {
    return { problem: describeError(error) };
  }
}

/** What a running gateway counts; null if it serves no metrics. */
async function readMetrics({ metricsHost, metricsPort }: Config): Promise<string | null> {
  if (!metricsPort) return null;
  const host = metricsHost === '0.0.0.0' ? '127.0.0.1' : metricsHost;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { body } = await request(`http://${host.includes(':') ? `[${host}]` : host}:${metricsPort}/metrics`, {
      signal,
    });
    return await body.text();
  } catch (error) {
    return describeError(error);
  }
}

/** The values of variables that a catalog may use, and of the service's own secrets. */
function listSecretValues({ env, catalogVariables }: Config): readonly string[] {
  const isCatalogs = (name: string) => catalogVariables.some((pattern) => matchesPattern(name, pattern));
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (URL_SETTINGS.has(name)) return [URL.parse(value)?.password ?? '', readPassword(value)];
    return SECRET.has(name) || isCatalogs(name) ? [value] : [];
  });
}

/** Of a URL with several hosts too, which `URL` does not parse. */
function readPassword(url: string): string {
  const [, password = ''] = /^[\w+]+:\/\/[^:/?#@]*:([^/?#@]*)@/.exec(url) ?? [];
  return password;
}

function scrub(text: string, secrets: readonly string[]): string {
  const found = secrets.filter(({ length }) => length >= SECRET_LENGTH_MIN);
  // Longest first: replacing a secret inside a longer one would leave the rest of it.
  const sorted = [...new Set(found)].sort((one, other) => other.length - one.length);
  return sorted.reduce((rest, secret) => rest.replaceAll(JSON.stringify(secret).slice(1, -1), '[secret]'), text);
}
