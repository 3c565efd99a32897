// From `DATABASE_URL` to a store.
import { OperatorError } from '../config.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store } from './store.ts';

/** Opens the store an URL names. Rejects with `OperatorError`: one plain line that never repeats the URL's secrets. */
export async function openStore(databaseUrl: string): Promise<Store> {
  const { scheme = '', rest = '' } = /^(?<scheme>[a-z][a-z0-9+]*):(?<rest>.*)$/is.exec(databaseUrl)?.groups ?? {};
  switch (scheme.toLowerCase()) {
    case 'sqlite':
      if (rest === '' || rest === ':memory:') throw new OperatorError('The database URL needs a file: sqlite:<path>.');
      return openSqliteStore(rest);
    case '':
      throw new OperatorError('The database URL has no scheme: write sqlite:<path>.');
    default:
      throw new OperatorError(`There is no store for ${scheme}: URLs: write sqlite:<path>.`);
  }
}
