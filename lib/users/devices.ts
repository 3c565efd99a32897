// Devices that a user has signed in on: strangers who guess elsewhere cannot make their owner wait there.
import type { Device, SessionStore } from '../store/ports/sessions.ts';
import type { User } from '../store/ports/users.ts';
import { hashToken, isToken, makeToken } from './token.ts';

export interface DevicesOptions {
  readonly store: { readonly sessions: Pick<SessionStore, 'putDevice' | 'device'> };
  readonly now?: () => number;
}

export interface Devices {
  /** The user's device with this token; undefined if the user never signed in there. It takes as long for no user. */
  find(user: Pick<User, 'id'> | undefined, token: string | undefined): Promise<Device | undefined>;
  /** Knows the device from now on. Resolves to the token it has to keep, which is a new one if it had none. */
  remember(user: Pick<User, 'id'>, token: string | undefined): Promise<string>;
}

/** As long as a browser keeps a cookie. */
export const DEVICE_DAYS = 400;
const DAY_MS = 24 * 3_600_000;

export function createDevices({ store: { sessions }, now = Date.now }: DevicesOptions): Devices {
  return {
    async find(user, token) {
      if (token === undefined || !isToken(token)) return undefined;
      const device = await sessions.device(hashOf(user, token));
      return device && device.expiresAt > now() ? device : undefined;
    },
    async remember(user, token) {
      const kept = token !== undefined && isToken(token) ? token : makeToken();
      await sessions.putDevice({ hash: hashOf(user, kept), user: user.id, expiresAt: now() + DEVICE_DAYS * DAY_MS });
      return kept;
    },
  };
}

/** Several people may use one browser: each has to sign in there once. */
function hashOf(user: Pick<User, 'id'> | undefined, token: string): string {
  return hashToken(`${user?.id ?? ''} ${token}`);
}
