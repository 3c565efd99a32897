// Checks of the machine and of the environment: settings, disk, the clock.
import { type Config, findMisspellings } from '../../config.ts';
import { LITTLE_BYTES, listDataFolders, NOTHING_BYTES, readFreeBytes } from '../../store/free-space.ts';
import { type Finding, failed, ok, warning } from './check.ts';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1', '[::1]']);

export function checkSettings(config: Config): readonly Finding[] {
  const misspelled = findMisspellings(config.env).map(({ name, meant }) =>
    warning('settings', `the variable ${name} is not read`, `Rename it if ${meant} is meant.`),
  );
  return [...misspelled, checkPublicUrl(config), checkSecretsKey(config), checkCatalogFolder(config)].flat();
}

function checkPublicUrl({ publicUrl, publicUrlSet, host }: Config): Finding {
  const { protocol, hostname, pathname } = new URL(publicUrl);
  if (!publicUrlSet && !LOOPBACK.has(host)) {
    return failed('PUBLIC_URL', 'not set, so links point to this machine', 'Set it to the address that clients use.');
  }
  if (protocol === 'http:' && !LOOPBACK.has(hostname)) {
    return warning(
      'PUBLIC_URL',
      `${publicUrl} is not encrypted`,
      'Put a proxy with TLS in front: keys are as good as money.',
    );
  }
  if (pathname !== '/') {
    return warning(
      'PUBLIC_URL',
      `the pages do not work under a path such as ${pathname}`,
      'Serve the gateway under a host name of its own.',
    );
  }
  return ok('PUBLIC_URL', publicUrl);
}

function checkSecretsKey({ secretsKeys, publicUrl }: Config): readonly Finding[] {
  if (secretsKeys.length > 0) return [ok('SECRETS_KEY', 'secrets in the store are encrypted')];
  if (LOOPBACK.has(new URL(publicUrl).hostname)) return [];
  return [
    warning(
      'SECRETS_KEY',
      'not set: secrets of authenticator apps and webhooks are in the store as they are',
      'Set it (openssl rand -hex 32), then run "tollgate secrets encrypt".',
    ),
  ];
}

function checkCatalogFolder({ catalogDir, publicUrlSet }: Config): readonly Finding[] {
  if (!publicUrlSet || !catalogDir.includes('node_modules')) return [];
  return [
    warning(
      'CATALOG_DIR',
      `${catalogDir} is replaced by the next installation`,
      'Copy the folder and set CATALOG_DIR to the copy.',
    ),
  ];
}

export async function checkDisk(config: Config): Promise<readonly Finding[]> {
  return Promise.all(listDataFolders(config).map(checkFolder));
}

async function checkFolder(folder: string): Promise<Finding> {
  const name = `disk of ${folder}`;
  try {
    return checkRoom(name, await readFreeBytes(folder));
  } catch (error) {
    return failed(
      name,
      (error as NodeJS.ErrnoException).code ?? 'cannot be read',
      'Create it, writable for the service.',
    );
  }
}

export function checkRoom(name: string, bytes: number): Finding {
  const detail = `${(bytes / 1024 ** 3).toFixed(1)} GiB free`;
  if (bytes < NOTHING_BYTES) return failed(name, detail, 'Make room now: a store that cannot write takes no calls.');
  return bytes < LITTLE_BYTES
    ? warning(name, detail, 'Make room: archive old calls, move backups away.')
    : ok(name, detail);
}

/** Codes of authenticator apps are valid for 30 s. */
const CLOCK_MS_MAX = 15_000;

/** `dates` are what other machines said the time was, and when, both in ms since the epoch. */
export function checkClock(dates: readonly (readonly [there: number, here: number])[]): Finding {
  const differences = dates.map(([there, here]) => there - here).sort((one, other) => one - other);
  const middle = differences[Math.floor(differences.length / 2)];
  if (middle === undefined) return warning('clock', 'no other machine to compare it with', 'Check it by hand.');
  const seconds = (middle / 1000).toFixed(0);
  return Math.abs(middle) > CLOCK_MS_MAX
    ? failed(
        'clock',
        `differs by ${seconds} s from others`,
        'Set it by NTP: sign-in codes and signed requests depend on it.',
      )
    : ok('clock', `within ${CLOCK_MS_MAX / 1000} s of others`);
}
