// The email addresses of people by their ids, also of those who were removed.
import type { UserStore } from '../store/ports/users.ts';

export async function findUserEmails(
  users: Pick<UserStore, 'get' | 'former'>,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const findEmail = async (id: string) => (await users.get(id))?.email ?? (await users.former(id))?.email;
  return new Map(await Promise.all([...new Set(ids)].map(async (id) => [id, await findEmail(id)] as const)));
}
