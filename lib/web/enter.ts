// Lets somebody in: a session starts, and the device is known from now on.
import type { User } from '../store/ports/users.ts';
import type { Visit } from './visit.ts';

/** The cookies to answer with. `proven`: a code was given. */
export async function enter(
  visit: Visit,
  user: User,
  { proven = false } = {},
): Promise<{ readonly session: string; readonly device: string }> {
  const { services, device } = visit;
  return {
    device: await services.devices.remember(user, device),
    session: await services.sessions.open(user, visit, { proven }),
  };
}
