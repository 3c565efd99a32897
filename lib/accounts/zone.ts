// The time zone in which an account counts its days and months is that of its first owner.
import { DEFAULT_ZONE } from '../money/key-limits.ts';
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
