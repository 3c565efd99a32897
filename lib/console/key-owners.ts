// Whose keys the keys of an account are, to show what each of its people used.
import type { KeyRow } from '../store/ports/keys.ts';
import type { OwnerVisit } from './visit.ts';

/** The keys of somebody who issued them on a page; of nobody if the id is empty. */
export interface KeyOwner {
  readonly id: string;
  /** Their email. */
  readonly name: string;
  readonly keys: readonly string[];
}

/** The email of whoever issued a key; undefined if that is nobody, or if it is not shown. */
export function findKeyOwner(owners: readonly KeyOwner[], key: string): string | undefined {
  return owners.find(({ keys }) => keys.includes(key))?.name || undefined;
}

/** Empty for a visitor who sees only own keys, and for an account of one person. */
export async function readKeyOwners(visit: OwnerVisit, keys: readonly KeyRow[]): Promise<readonly KeyOwner[]> {
  const { ownKeys, services } = visit;
  const byOwner = Map.groupBy(keys, ({ createdBy }) => createdBy ?? '');
  if (ownKeys || byOwner.size < 2) return [];
  return Promise.all(
    [...byOwner].map(async ([id, rows]) => ({
      id,
      name: id === '' ? '' : ((await services.store.users.get(id))?.email ?? id),
      keys: rows.map((row) => row.id),
    })),
  );
}
