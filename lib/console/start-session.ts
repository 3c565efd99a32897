// Signs a user in: starts a session and remembers the device. Renews the session of one who changes how they sign in.
import { fault } from '../base/faults.ts';
import type { User } from '../store/ports/users.ts';
import { hashToken } from '../users/token.ts';
import type { UserVisit, Visit } from './visit.ts';

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

/**
 * Starts a session that `change`, which gets its hash, leaves alone when it ends all others: somebody may have a copy of
 * the visitor's own. Resolves to its token; undefined if the change was not made.
 */
export async function renewSession(
  visit: UserVisit,
  change: (kept: string) => Promise<boolean>,
): Promise<string | undefined> {
  const { sessions } = visit.services;
  const { user, session } = visit.signedIn;
  const token = await sessions.open(user, visit, { provenAt: session.provenAt });
  const kept = hashToken(token);
  if (await change(kept)) return token;
  await sessions.end(kept);
  return undefined;
}

function isUnchanged({ password, totpSecret }: User, now: User | undefined): boolean {
  return now?.status === 'active' && now.password === password && now.totpSecret === totpSecret;
}
