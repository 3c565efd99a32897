// The owners of an account among its members.
import type { Membership, UserStore } from '../store/ports/users.ts';

/** In order of user. */
export async function listOwners(
  users: Pick<UserStore, 'listAccountMembers'>,
  account: string,
): Promise<readonly Membership[]> {
  return (await users.listAccountMembers(account)).filter(({ role }) => role === 'owner');
}
