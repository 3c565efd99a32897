// The port of sign-in state: sessions and one-time links, stored as hashes only, and failed attempts.
import type { MemberCap, Role } from './users.ts';

export interface Session {
  /** SHA-256 of the token, hex. */
  readonly hash: string;
  readonly user: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly seenAt: number;
  /** When the session ends at the latest. */
  readonly expiresAt: number;
  /** The session ends when unused for this long. */
  readonly idleMs: number;
  /** When a code of the authenticator app was last entered. */
  readonly provenAt: number | null;
  /** The address and browser of the sign-in, so that the user can recognise the session. */
  readonly address: string;
  readonly agent: string;
}

/**
 * `restore`: a new password for an owner who has also lost the authenticator app; `telegram`: the chat that sends it gets
 * the user's alerts.
 */
export type LinkPurpose = 'setup' | 'operator' | 'reset' | 'restore' | 'invite' | 'verify' | 'demo' | 'telegram';

/** A one-time link. */
export interface Link {
  /** SHA-256 of the token, hex. */
  readonly hash: string;
  readonly purpose: LinkPurpose;
  /** The user that the link is for, if there is one already. */
  readonly user: string | null;
  /** The account that the link gives access to. */
  readonly account: string | null;
  readonly email: string | null;
  readonly expiresAt: number;
  /** What an invitation to an account makes of its user; absent: an owner. */
  readonly offer?: MembershipOffer;
}

export interface MembershipOffer {
  readonly role: Role;
  /** Of a member, in the time zone that the account has when the invitation is accepted. */
  readonly cap?: Omit<MemberCap, 'zone'>;
}

/** Selects links by their target; an absent field must be null in the link. */
export interface LinkTarget {
  readonly purpose: LinkPurpose;
  readonly user?: string;
  readonly account?: string;
  readonly email?: string;
}

/** A browser in which a user has signed in, recognised by a cookie. */
export interface Device {
  /** SHA-256 of its token and the user, hex. */
  readonly hash: string;
  readonly user: string;
  readonly expiresAt: number;
}

/** The consecutive attempts under one name: a network or email address, or a device. */
export interface Attempts {
  readonly count: number;
  readonly lastAt: number;
}

/** The rule for when another attempt may be made. */
export interface AttemptRule {
  readonly now: number;
  /** Attempts before this time do not count. */
  readonly since: number;
  /** The wait in ms after the last attempt, by the number of attempts; the last value applies to all further ones. */
  readonly waitsMs: readonly number[];
}

export interface SessionStore {
  add(session: Session): Promise<void>;
  get(hash: string): Promise<Session | undefined>;
  /** The sessions of a user, newest first. */
  list(user: string): Promise<readonly Session[]>;
  /** False if there is none. */
  touch(hash: string, change: { readonly seenAt: number; readonly provenAt: number | null }): Promise<boolean>;
  /** False if there is none. */
  remove(hash: string): Promise<boolean>;
  /** Removes all sessions of a user, except one. */
  removeUserSessions(user: string, except?: string): Promise<void>;

  addLink(link: Link): Promise<void>;
  /** Reads a link without using it. */
  link(hash: string): Promise<Link | undefined>;
  /** Uses a link: removes and returns it; of several concurrent callers only one gets it. */
  takeLink(hash: string): Promise<Link | undefined>;
  /** The invitations to an account, expired ones included until they are cleaned, in order of address. */
  listInvitations(account: string): Promise<readonly Link[]>;
  /** Removes the links with this purpose and exactly this user, account and address. */
  removeLinks(of: LinkTarget): Promise<void>;

  /**
   * Counts an attempt, unless it has to wait: then nothing changes. Resolves to the wait in ms, 0 if it was counted. Of many
   * concurrent attempts, only as many are counted as the rule allows.
   */
  count(name: string, rule: AttemptRule): Promise<number>;
  /** Subtracts one attempt, if any is counted. */
  uncount(name: string): Promise<void>;
  attempts(name: string): Promise<Attempts | undefined>;
  forget(name: string): Promise<void>;

  /** Adds a device, or extends its expiry. */
  putDevice(device: Device): Promise<void>;
  device(hash: string): Promise<Device | undefined>;

  /** Removes sessions, links and devices that ended before `now`, and attempts whose last was before `since`. */
  clean(at: { readonly now: number; readonly since: number }): Promise<void>;
}
