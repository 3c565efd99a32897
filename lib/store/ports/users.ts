// The port of users: who may sign in, and to which accounts they belong.

export interface User {
  readonly id: string;
  /** In lower case; no two users have the same. */
  readonly email: string;
  /** The result of `hashPassword`; null until the user sets a password through a link. */
  readonly password: string | null;
  /** Base32; null without an authenticator app. It is encrypted in the database if there is a key. */
  readonly totpSecret: string | null;
  /** The time step of the last code used, so that each code works once. -1 before the first. */
  readonly totpStep: number;
  /** SHA-256 of the unused recovery codes, hex. */
  readonly recovery: readonly string[];
  /** Whether the user runs the service. */
  readonly operator: boolean;
  readonly status: 'active' | 'suspended';
  readonly language: 'ru' | 'en';
  /** An IANA name. */
  readonly timeZone: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** Counts changes: a change applies only to the version that was read. */
  readonly version: number;
}

/** A removed user: the values that the audit log and consents need to name them. */
export interface FormerUser {
  readonly id: string;
  /** A later user may have the same address. */
  readonly email: string;
  readonly createdAt: number;
  readonly removedAt: number;
}

/**
 * `changed`: the user has changed since it was read; `last_operator`: no operator would be left.
 */
export type RemovalResult = 'done' | 'changed' | 'last_operator';

export type Role = 'owner';

export interface Membership {
  readonly user: string;
  readonly account: string;
  readonly role: Role;
}

export interface UserStore {
  /** `taken`: the address is already in use. */
  add(user: User): Promise<'added' | 'taken'>;
  /** Adds an operator only while there is none (`late`), also if several processes try at once. */
  addFirstOperator(user: User): Promise<'added' | 'taken' | 'late'>;
  get(id: string): Promise<User | undefined>;
  find(email: string): Promise<User | undefined>;
  /**
   * Writes the user as the next version of the one that was read; false if it has changed in the meantime or was removed.
   */
  change(user: User): Promise<boolean>;
  /** Suspends the user in the version that was read and, in the same step, ends all sessions and one-time links. */
  suspend(user: User): Promise<RemovalResult>;
  /**
   * Removes the user in the version that was read and, in the same step, all sessions, one-time links and memberships; only
   * the `FormerUser` remains.
   */
  remove(user: User, at: number): Promise<RemovalResult>;
  former(id: string): Promise<FormerUser | undefined>;
  /** Former users with ids above `after`, in order of id: for a copy. */
  formerPage(page: { readonly after?: string; readonly limit: number }): Promise<readonly FormerUser[]>;
  /** Writes former users as they are in another store, keeping existing ones: for a copy. */
  putFormer(users: readonly FormerUser[]): Promise<void>;
  /** All users with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly User[]>;
  /** The number of operators, including suspended ones. */
  operators(): Promise<number>;
  /** Adds a membership; idempotent. */
  join(membership: Membership): Promise<void>;
  /** Removes a membership; false if there is none. */
  leave(membership: Pick<Membership, 'user' | 'account'>): Promise<boolean>;
  /** The memberships of a user, in order of account. */
  listUserMemberships(user: string): Promise<readonly Membership[]>;
  /** The members of an account, in order of user. */
  listAccountMembers(account: string): Promise<readonly Membership[]>;
  /** All memberships after this one in order of user and account: for a copy. */
  memberships(page: { readonly after?: Membership; readonly limit: number }): Promise<readonly Membership[]>;
}
