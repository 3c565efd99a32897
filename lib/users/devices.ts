// Devices on which a user has signed in before. Sign-ins on them do not have to wait because strangers guess elsewhere.
import { DAY_MS } from '../base/durations.ts';
import type { Device, SessionStore } from '../store/ports/sessions.ts';
import type { User } from '../store/ports/users.ts';
import { hashToken, isToken, makeToken } from './token.ts';

interface DevicesOptions {
  readonly store: { readonly sessions: Pick<SessionStore, 'putDevice' | 'device'> };
  readonly now?: () => number;
}

export interface Devices {
  /** The user's device with this token; undefined if the user never signed in there. Takes as long without a user. */
  find(user: Pick<User, 'id'> | undefined, token: string | undefined): Promise<Device | undefined>;
  /** Stores the device. Resolves to the token that the device has to keep: the given one, or else a new one. */
  remember(user: Pick<User, 'id'>, token: string | undefined): Promise<string>;
}

/** Browsers keep a cookie for at most 400 days. */
export const DEVICE_DAYS = 400;

export function createDevices({ store: { sessions }, now = Date.now }: DevicesOptions): Devices {
  return {
    async find(user, token) {
      if (token === undefined || !isToken(token)) return undefined;
      const device = await sessions.device(hashDevice(user, token));
      return device && device.expiresAt > now() ? device : undefined;
    },
    async remember(user, token) {
      const kept = token !== undefined && isToken(token) ? token : makeToken();
      await sessions.putDevice({
        hash: hashDevice(user, kept),
        user: user.id,
        expiresAt: now() + DEVICE_DAYS * DAY_MS,
      });
      return kept;
    },
  };
}

/** The user is part of the hash: of several people with one browser, each has to sign in there once. */
function hashDevice(user: Pick<User, 'id'> | undefined, token: string): string {
  return hashToken(`${user?.id ?? ''} ${token}`);
}
