// Opens the store that `DATABASE_URL` names.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config.ts';
import { getDefaultMediaFolder } from './backup-file.ts';
import { COPY_SETTING, COPY_UNFINISHED } from './copy.ts';
import { makeFolder } from './disk.ts';
import { checkSecrets, createVault, withSecrets } from './secrets.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store, StoreOptions } from './store.ts';

const URL_FORMS = 'sqlite:<path> or mongodb://<hosts>/<database>';

export interface OpenOptions extends StoreOptions {
  /** Also opens the target of an interrupted copy, which a gateway must not use. */
  readonly unfinished?: boolean;
}

/** The configuration that the service needs to open its own store. */
type OwnStore = Pick<Config, 'databaseUrl' | 'dataDir'> & Partial<Pick<Config, 'secretsKeys'>>;

export interface OwnOptions extends OpenOptions {
  /** Leaves secrets encrypted, as they are in the database. */
  readonly sealed?: boolean;
}

/** The folder for media files if the service uses a SQLite store. */
function getMediaFolder({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'media');
}

/** Opens the store of the service itself. Rejects with `OperatorError`, which names the variable. */
export async function openOwnStore(config: OwnStore, { sealed, ...options }: OwnOptions = {}): Promise<Store> {
  try {
    const store = await openStore(config.databaseUrl, { mediaFolder: getMediaFolder(config), ...options });
    return sealed ? store : withSecrets(store, createVault(config.secretsKeys ?? []));
  } catch (error) {
    throw error instanceof OperatorError ? new OperatorError(`DATABASE_URL: ${error.message}`) : error;
  }
}

/** Opens the store for a gateway, and fails early if it could not store images or decrypt sign-in secrets. */
export async function openServiceStore(config: OwnStore, options?: OwnOptions): Promise<Store> {
  const store = await openOwnStore(config, options);
  try {
    await makeMediaFolder(config);
    await checkSecrets(store, createVault(config.secretsKeys ?? []));
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

export async function makeMediaFolder(config: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<void> {
  if (splitDatabaseUrl(config.databaseUrl).scheme.toLowerCase() !== 'sqlite') return;
  const folder = getMediaFolder(config);
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new OperatorError(
      `DATA_DIR: the folder ${folder} cannot be written to: ${(error as NodeJS.ErrnoException).code}`,
    );
  }
}

/** Opens the store of a URL. Rejects with `OperatorError`: one plain line without the secrets of the URL. */
export async function openStore(databaseUrl: string, options: OpenOptions = {}): Promise<Store> {
  const { unfinished = false, ...opening } = options;
  const store = await openByScheme(databaseUrl, unfinished ? { ...opening, repeatable: true } : opening);
  try {
    if (!unfinished && (await store.settings.get(COPY_SETTING)) === COPY_UNFINISHED) {
      throw new OperatorError('This store is an unfinished copy: repeat "tollgate store copy" to finish it.');
    }
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openByScheme(databaseUrl: string, opening: StoreOptions): Promise<Store> {
  const { scheme, rest } = splitDatabaseUrl(databaseUrl);
  switch (scheme.toLowerCase()) {
    case 'sqlite':
      if (rest === '' || rest === ':memory:') throw new OperatorError('The database URL needs a file: sqlite:<path>.');
      return openSqliteStore(rest, opening);
    case 'mongodb':
    case 'mongodb+srv': {
      // Imported lazily: the driver takes 100 ms to load.
      const { openMongoStore } = await import('./mongodb/store.ts');
      return openMongoStore(databaseUrl, opening);
    }
    case '':
      throw new OperatorError(`The database URL has no scheme. Use ${URL_FORMS}.`);
    default:
      throw new OperatorError(`There is no store for ${scheme}: URLs. Use ${URL_FORMS}.`);
  }
}

/** A store and its folder of media files; undefined if they are in the database. */
export interface StorePlace {
  readonly url: string;
  readonly mediaFolder: string | undefined;
}

/** The own store of the service has its media files in `DATA_DIR`; any other SQLite store beside its file, like a backup. */
export function locateStore(
  url: string,
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  mediaFolder?: string,
): StorePlace {
  const { scheme, rest } = splitDatabaseUrl(url);
  if (scheme.toLowerCase() !== 'sqlite') return { url, mediaFolder: undefined };
  const isOwn = describeStore(url) === describeStore(config.databaseUrl);
  return {
    url,
    mediaFolder: resolve(mediaFolder ?? (isOwn ? getMediaFolder(config) : getDefaultMediaFolder(resolve(rest)))),
  };
}

/** The URL of a store without password and options, for messages. */
export function describeStore(databaseUrl: string): string {
  const { scheme, rest } = splitDatabaseUrl(databaseUrl);
  if (scheme.toLowerCase() === 'sqlite') return `sqlite:${resolve(rest)}`;
  // Up to the last @: a password may contain characters that should have been escaped.
  return databaseUrl.replace(/(\/\/[^:@/]*):.*@/s, '$1:***@').replace(/\?.*$/s, '');
}

export function splitDatabaseUrl(databaseUrl: string): { readonly scheme: string; readonly rest: string } {
  const { scheme = '', rest = '' } = /^(?<scheme>[a-z][a-z0-9+]*):(?<rest>.*)$/is.exec(databaseUrl)?.groups ?? {};
  return { scheme, rest };
}
