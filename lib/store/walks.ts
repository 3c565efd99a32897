// Iterates over a whole store in order of id, page by page, so that a store of any size needs the same memory.
import { compareIds } from './journal.ts';
import type { Account } from './ports/accounts.ts';
import type { Store } from './store.ts';

const ACCOUNTS_PER_PAGE = 500;

export async function* accountPages({
  accounts,
}: Pick<Store, 'accounts'>): AsyncGenerator<readonly Account[], undefined> {
  for (let after = ''; ; ) {
    const page = await accounts.page({ after, limit: ACCOUNTS_PER_PAGE });
    const last = page.at(-1);
    if (last) yield page;
    if (!last || page.length < ACCOUNTS_PER_PAGE) return undefined;
    after = last.id;
  }
}

/** The ids of all accounts. */
export async function* accountIds(store: Pick<Store, 'accounts'>): AsyncGenerator<readonly string[], undefined> {
  for await (const page of accountPages(store)) yield page.map(({ id }) => id);
}

/** The ids of the accounts that have keys; in a large store most accounts may have none. */
export async function* keyOwners({ keys }: Pick<Store, 'keys'>): AsyncGenerator<readonly string[], undefined> {
  for (let after = ''; ; ) {
    const page = await keys.owners({ after, limit: ACCOUNTS_PER_PAGE });
    const last = page.at(-1);
    if (last === undefined) return undefined;
    yield page;
    after = last;
  }
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
