// The time zone in which an account counts its days and months is that of its first owner.
import { DEFAULT_ZONE } from '../money/key-limits.ts';
import type { KeyStore } from '../store/ports/keys.ts';
import type { User, UserStore } from '../store/ports/users.ts';
import { listOwners } from '../users/owners.ts';

/** Passing a known user saves a read if that user is the first owner. */
export async function readZone(
  users: Pick<UserStore, 'listAccountMembers' | 'get'>,
  account: string,
  known?: User,
): Promise<string> {
  const [first] = await listOwners(users, account);
  if (!first) return DEFAULT_ZONE;
  const user = first.user === known?.id ? known : await users.get(first.user);
  return user?.timeZone ?? DEFAULT_ZONE;
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
