// Signs a user in: starts a session and remembers the device.
import { fault } from '../base/faults.ts';
import type { User } from '../store/ports/users.ts';
import { hashToken } from '../users/token.ts';
import type { Visit } from './visit.ts';

/**
 * Resolves to the session and device cookies of a user whose password or link was checked; `proven` if a code was
 * checked too. Throws `stale_form` if the user has changed since, and a 429 fault if sessions start too often.
 */
export async function startSession(
  visit: Visit,
  user: User,
  { proven = false } = {},
): Promise<{ readonly session: string; readonly device: string }> {
  const { services } = visit;
  await services.visitLimit.hit('entry', user.id);
  const session = await services.sessions.open(user, visit, { proven });
  // Read after the write: changes of password, app or status end only the sessions that exist by then.
  if (!isUnchanged(user, await services.store.users.get(user.id))) {
    await services.sessions.end(hashToken(session));
    throw fault('stale_form');
  }
  return { device: await services.devices.remember(user, visit.device), session };
}

function isUnchanged({ password, totpSecret }: User, now: User | undefined): boolean {
  return now?.status === 'active' && now.password === password && now.totpSecret === totpSecret;
}
