// The accounts of a copy, page by page, and their keys.
import { isDeepStrictEqual } from 'node:util';
import { eachConcurrently } from '../base/each-concurrently.ts';
import { OperatorError } from '../base/operator-error.ts';
import { mismatchError } from './copy-mismatch.ts';
import { compareIds } from './journal.ts';
import type { Account } from './ports/accounts.ts';
import { COPIED_KEY } from './ports/keys.ts';
import type { Store } from './store.ts';
import { accountPages, createIdLookup, keyOwners } from './walks.ts';

type Side = Pick<Store, 'accounts' | 'keys'>;

const READS_AT_ONCE = 8;

/** Resolves to the number of accounts. */
export async function copyAccounts(from: Side, { accounts: to }: Side): Promise<number> {
  let copied = 0;
  let after = '';
  for await (const page of accountPages(from)) {
    await to.put(page);
    const copies = await to.page({ after, limit: page.length });
    for (const [index, account] of page.entries()) compareAccount(account, copies[index]);
    copied += page.length;
    after = page.at(-1)?.id ?? after;
  }
  const [stranger] = await to.page({ after, limit: 1 });
  if (stranger) throw unknownAccountError(stranger);
  return copied;
}

function compareAccount(account: Account, copy: Account | undefined): void {
  if (copy && compareIds(copy.id, account.id) < 0) throw unknownAccountError(copy);
  // Replaying the journal sets the status later.
  const { id, status } = account;
  if (!isDeepStrictEqual({ ...copy, status }, account)) throw mismatchError(`the account ${id}`);
}

function unknownAccountError({ id }: Account): OperatorError {
  return new OperatorError(`The target has an account ${id} that the source does not have.`);
}

/** Leaves out rows of accounts that the copy does not have. */
type KeepKnown = <Row>(rows: readonly Row[], getAccount: (row: Row) => string) => Promise<readonly Row[]>;

/** A store in use gets accounts after the copy has begun: they are left out, with all that is theirs. */
export function createKeepKnown({ accounts }: Pick<Store, 'accounts'>, live: boolean): KeepKnown {
  if (!live) return async (rows) => rows;
  return async (rows, getAccount) => {
    const known = new Set<string>();
    await eachConcurrently([...new Set(rows.map(getAccount))], READS_AT_ONCE, async (id) => {
      if (await accounts.get(id)) known.add(id);
    });
    return rows.filter((row) => known.has(getAccount(row)));
  };
}

/** Resolves to the number of keys. */
export async function copyAllKeys(from: Side, to: Side, live: boolean): Promise<number> {
  const keepKnown = createKeepKnown(to, live);
  let keys = 0;
  for await (const owners of keyOwners(from)) {
    await eachConcurrently(await keepKnown(owners, (id) => id), READS_AT_ONCE, async (account) => {
      const copied = await copyKeys(from, to, account);
      keys += copied;
    });
  }
  const known = createIdLookup(keyOwners(from));
  for await (const owners of keyOwners(to)) {
    const [stranger] = new Set(owners).difference(await known(owners));
    if (stranger !== undefined) throw keysMismatchError(stranger);
  }
  return keys;
}

/** Resolves to the number of keys. */
async function copyKeys(from: Side, to: Side, account: string): Promise<number> {
  const rows = await from.keys.list(account);
  const copied = new Map((await to.keys.list(account)).map((row) => [row.id, row]));
  for (const row of rows) {
    const { id, revokedAt, requestsCount, lastUsedAt } = row;
    const found = copied.get(id);
    if (!found) await to.keys.add(row, COPIED_KEY);
    else if (!isDeepStrictEqual(found.limits, row.limits)) await to.keys.put(id, row.limits);
    if (revokedAt !== null) await to.keys.revoke(id, revokedAt);
    const count = requestsCount - (found?.requestsCount ?? 0);
    if (lastUsedAt !== null && count !== 0) await to.keys.use([{ id, count, lastUsedAt }]);
  }
  if (!isDeepStrictEqual(await to.keys.list(account), rows)) throw keysMismatchError(account);
  return rows.length;
}

function keysMismatchError(account: string): OperatorError {
  return mismatchError(`the list of keys of ${account}`);
}

/** Finds an account whose keys differ from those of the copy. */
export async function findChangedKeys(from: Side, to: Side): Promise<string | undefined> {
  for await (const owners of keyOwners(from)) {
    const changed: string[] = [];
    await eachConcurrently(owners, READS_AT_ONCE, async (id) => {
      const [now, copy] = await Promise.all([from, to].map(({ keys }) => keys.list(id)));
      if (!isDeepStrictEqual(now, copy)) changed.push(id);
    });
    if (changed.length > 0) return changed.sort(compareIds)[0];
  }
  return undefined;
}
