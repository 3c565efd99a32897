// Iterates over a whole store in order of id, page by page, so that a store of any size needs the same memory.
import { compareIds } from './journal.ts';
import type { Account } from './ports/accounts.ts';
import type { Store } from './store.ts';

const ACCOUNTS_PER_PAGE = 500;

export interface PageStart {
  /** The id of the last row before the page; '' for the first one. */
  readonly after: string;
  readonly limit: number;
}

/** Yields one page after the other, up to one that is not full. `read` gets the last row of the page before. */
export async function* walkFrom<Row>(
  limit: number,
  read: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], undefined> {
  for (let last: Row | undefined; ; ) {
    const page = await read(last);
    last = page.at(-1);
    if (last !== undefined) yield page;
    if (last === undefined || page.length < limit) return undefined;
  }
}

/** The same in order of id. */
export function walkPages<Row>(
  limit: number,
  read: (start: PageStart) => Promise<readonly Row[]>,
  getId: (row: Row) => string,
): AsyncGenerator<readonly Row[], undefined> {
  return walkFrom<Row>(limit, (last) => read({ after: last === undefined ? '' : getId(last), limit }));
}

/** The same row by row. */
export async function* walkRows<Row>(...walk: Parameters<typeof walkPages<Row>>): AsyncGenerator<Row, undefined> {
  for await (const page of walkPages(...walk)) yield* page;
}

/** The rows of reads that check many and return few: each says where the next one starts. */
export async function* walkFound<Row>(
  read: (after: string) => Promise<{ readonly found: readonly Row[]; readonly next?: string }>,
): AsyncGenerator<Row, undefined> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { found, next }: Awaited<ReturnType<typeof read>> = await read(after);
    yield* found;
    after = next;
  }
}

export function accountPages({ accounts }: Pick<Store, 'accounts'>): AsyncGenerator<readonly Account[], undefined> {
  return walkPages(ACCOUNTS_PER_PAGE, accounts.page, ({ id }) => id);
}

export async function* accountIds(store: Pick<Store, 'accounts'>): AsyncGenerator<readonly string[], undefined> {
  for await (const page of accountPages(store)) yield page.map(({ id }) => id);
}

/** The ids of the accounts that have keys; in a large store most accounts may have none. */
export function keyOwners({ keys }: Pick<Store, 'keys'>): AsyncGenerator<readonly string[], undefined> {
  return walkPages(ACCOUNTS_PER_PAGE, keys.owners, (id) => id);
}

/** Looks up which ids a walk contains. Calls must pass ids in ascending order: earlier ids are forgotten. */
export function createIdLookup(walk: AsyncGenerator<readonly string[], undefined>) {
  let buffered: string[] = [];

  return async (ids: Iterable<string>): Promise<ReadonlySet<string>> => {
    const wanted = [...ids].sort(compareIds);
    const first = wanted[0];
    const last = wanted.at(-1);
    if (first === undefined || last === undefined) return new Set();
    for (let end = buffered.at(-1); end === undefined || compareIds(end, last) < 0; end = buffered.at(-1)) {
      const { value } = await walk.next();
      if (!value) break;
      buffered.push(...value);
    }
    buffered = buffered.filter((id) => compareIds(id, first) >= 0);
    return new Set(buffered).intersection(new Set(wanted));
  };
}
