// The port of sign-in state: sessions and one-time links, stored as hashes only, and failed attempts.

export interface Session {
  /** SHA-256 of the token, hex. */
  readonly hash: string;
  readonly user: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly seenAt: number;
  /** The latest time at which it ends. */
  readonly expiresAt: number;
  /** It ends when unused for this long. */
  readonly idleMs: number;
  /** When a code of the authenticator app was last given. */
  readonly provenAt: number | null;
  /** Where it was started, so that its owner can recognise it. */
  readonly address: string;
  readonly agent: string;
}

/** `restore`: a new password for an owner who has lost the authenticator app too. */
export type LinkPurpose = 'setup' | 'operator' | 'reset' | 'restore' | 'invite' | 'verify' | 'demo';

/** A one-time link. */
export interface Link {
  /** SHA-256 of the token, hex. */
  readonly hash: string;
  readonly purpose: LinkPurpose;
  /** The user it is for, if there is one already. */
  readonly user: string | null;
  /** The account it admits its holder to. */
  readonly account: string | null;
  readonly email: string | null;
  readonly expiresAt: number;
}

/** Whom links are for; an absent field is one that they do not name. */
export interface LinkTarget {
  readonly purpose: LinkPurpose;
  readonly user?: string;
  readonly account?: string;
  readonly email?: string;
}

/** A browser in which a user has signed in, known by a cookie. */
export interface Device {
  /** SHA-256 of its token and the user, hex. */
  readonly hash: string;
  readonly user: string;
  readonly expiresAt: number;
}

/** What was counted in a row under one name: a network or email address, a device. */
export interface Attempts {
  readonly count: number;
  readonly lastAt: number;
}

/** When one more attempt may be made. */
export interface AttemptRule {
  readonly now: number;
  /** Older ones do not count. */
  readonly since: number;
  /** The wait after so many counted ones, from the last of them, in ms; the last entry is for all further ones. */
  readonly waitsMs: readonly number[];
}

export interface SessionStore {
  add(session: Session): Promise<void>;
  get(hash: string): Promise<Session | undefined>;
  /** Of the user, newest first. */
  list(user: string): Promise<readonly Session[]>;
  /** False if there is none. */
  touch(hash: string, change: { readonly seenAt: number; readonly provenAt: number | null }): Promise<boolean>;
  /** False if there is none. */
  remove(hash: string): Promise<boolean>;
  /** All of the user's except one. */
  removeUserSessions(user: string, except?: string): Promise<void>;

  addLink(link: Link): Promise<void>;
  /** Without removing it. */
  link(hash: string): Promise<Link | undefined>;
  /** Removes the link and returns it; of several callers at once only one gets it. */
  takeLink(hash: string): Promise<Link | undefined>;
  /** Those with a purpose for exactly this user, account and address, of which each may be absent. */
  removeLinks(of: LinkTarget): Promise<void>;

  /**
   * Counts one more attempt, unless it has to wait: then it changes nothing. Resolves to the wait in ms, 0 if it was
   * counted. Of many at once no more are counted than the rule lets through.
   */
  count(name: string, rule: AttemptRule): Promise<number>;
  /** Takes one attempt back, if any is counted. */
  uncount(name: string): Promise<void>;
  attempts(name: string): Promise<Attempts | undefined>;
  forget(name: string): Promise<void>;

  /** Adds a device, or makes it last longer. */
  putDevice(device: Device): Promise<void>;
  device(hash: string): Promise<Device | undefined>;

  /** Removes sessions, links and devices that ended before `now`, and attempts whose last was before `since`. */
  clean(at: { readonly now: number; readonly since: number }): Promise<void>;
}
