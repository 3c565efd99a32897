// The time zone in which an account counts its days and months is that of its first owner: of several, the one who has
// been a user the longest, so that a later owner moves no days.
import { DEFAULT_ZONE } from '../money/key-limits.ts';
import type { KeyStore } from '../store/ports/keys.ts';
import type { User, UserStore } from '../store/ports/users.ts';
import { listOwners } from '../users/owners.ts';

type Owners = Pick<UserStore, 'listAccountMembers' | 'get'>;

/** Passing a known user saves a read if that user is an owner. */
export async function readZone(users: Owners, account: string, known?: User): Promise<string> {
  return (await findFirstOwner(users, account, known))?.timeZone ?? DEFAULT_ZONE;
}

export async function findFirstOwner(users: Owners, account: string, known?: User): Promise<User | undefined> {
  const owners = await listOwners(users, account);
  const read = owners.map(({ user }) => (user === known?.id ? known : users.get(user)));
  const found = (await Promise.all(read)).filter((user) => user !== undefined);
  const [first] = found.sort((one, other) => one.createdAt - other.createdAt);
  return first;
}

interface ZonedStore {
  readonly users: Pick<UserStore, 'listUserMemberships' | 'listAccountMembers' | 'get' | 'setMembership'>;
  readonly keys: Pick<KeyStore, 'list' | 'limit'>;
}

/** To be called when an owner's time zone has changed: budgets and caps, which keep that of their resets, follow. */
export async function moveResets({ users, keys }: ZonedStore, owner: string, at: number): Promise<void> {
  const owned = (await users.listUserMemberships(owner)).filter(({ role }) => role === 'owner');
  for (const { account } of owned) {
    const zone = await readZone(users, account);
    for (const { id, limits, revokedAt } of await keys.list(account))
      if (revokedAt === null && limits.zone !== zone) await keys.limit(id, { zone }, at);
    for (const member of await users.listAccountMembers(account)) {
      const { cap } = member;
      if (cap && cap.zone !== zone) await users.setMembership({ ...member, cap: { ...cap, zone } }, at);
    }
  }
}
