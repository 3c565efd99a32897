// Lets somebody in: a session starts, and the device is known from now on.
import { fault } from '../base/faults.ts';
import type { User } from '../store/ports/users.ts';
import { hashToken } from '../users/token.ts';
import type { Visit } from './visit.ts';

/**
 * The cookies to answer with, for the user whose password or link was checked. `proven`: a code was given. Throws the
 * fault `stale_form` if what was checked lets nobody in any more, and a 429 one for whoever starts sessions all the time.
 */
export async function startSession(
  visit: Visit,
  user: User,
  { proven = false } = {},
): Promise<{ readonly session: string; readonly device: string }> {
  const { services } = visit;
  await services.visitLimit.hit('entry', user.id);
  const session = await services.sessions.open(user, visit, { proven });
  // Read after the write: a change of the password or the app, a suspension and a removal end the sessions they find.
  if (!isUnchanged(user, await services.store.users.get(user.id))) {
    await services.sessions.end(hashToken(session));
    throw fault('stale_form');
  }
  return { device: await services.devices.remember(user, visit.device), session };
}

function isUnchanged({ password, totpSecret }: User, now: User | undefined): boolean {
  return now?.status === 'active' && now.password === password && now.totpSecret === totpSecret;
}
