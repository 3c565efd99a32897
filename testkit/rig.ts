// The service as a child process in front of one upstream, with its home and its books, for tests of its lifecycle.
import { chatCatalog } from './gateway.ts';
import {
  type Books,
  type Home,
  makeHome,
  openBooks,
  type Service,
  type StartOptions,
  startService,
} from './process.ts';
import { type Behaviour, startUpstream, type TestUpstream } from './upstream.ts';

export interface Rig {
  readonly upstream: TestUpstream;
  readonly home: Home;
  readonly books: Books;
  /** A service on the home's store; there may be several. */
  start(options?: StartOptions): Promise<Service>;
  /** Closes everything except the services. */
  close(): Promise<void>;
}

/** On a new SQLite file unless a database is named. */
export async function openRig(behaviour?: Behaviour, databaseUrl?: string): Promise<Rig> {
  const upstream = await startUpstream(behaviour);
  const home = makeHome(chatCatalog(upstream.url), databaseUrl);
  const books = await openBooks(home);
  return {
    upstream,
    home,
    books,
    start: ({ env, ...options } = {}) => startService(home, { ...options, env: { SANDBOX: 'off', ...env } }),
    async close() {
      await books.close();
      await upstream.close();
      home.remove();
    },
  };
}
