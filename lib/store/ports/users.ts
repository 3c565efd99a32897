// The port of users: who may sign in, and to which accounts they belong.
import type { Reset } from '../../money/key-limits.ts';
import type { Micro } from '../../money/money.ts';
import type { WrongMarks } from './wrong-marks.ts';

/** The private chat of a user with the service's bot. */
export interface TelegramChat {
  readonly id: string;
  /** As Telegram shows it: `Anna (@anna)`. */
  readonly name: string;
}

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
  /** Where the user gets alerts, besides email; absent: nowhere. */
  readonly telegram?: TelegramChat;
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

/**
 * What a user may do in an account. `owner`: everything; `member`: their own keys and calls, under a cap; `accountant`:
 * money and papers.
 */
export const ROLES = ['owner', 'member', 'accountant'] as const;
export type Role = (typeof ROLES)[number];

/** The most that the calls of a member may hold and be charged, less refunds, between two resets. */
export interface MemberCap {
  readonly limit: Micro;
  readonly reset: Reset;
  /** The IANA time zone of the reset. */
  readonly zone: string;
}

export interface Membership {
  readonly user: string;
  readonly account: string;
  readonly role: Role;
  /** Of a member; absent: no cap. */
  readonly cap?: MemberCap;
}

/** `last_owner`: the account would have no active owner left. */
export type MembershipChange = 'done' | 'none' | 'last_owner';

interface HandOver {
  readonly account: string;
  /** An owner, who becomes a member without a cap. */
  readonly from: string;
  /** Anybody else of the account, who becomes an owner. */
  readonly to: string;
  /** When the management keys of `from` are revoked, ms since the epoch. */
  readonly at: number;
}

interface Departure extends Pick<Membership, 'user' | 'account'> {
  /** When the keys of a member are revoked, ms since the epoch. */
  readonly at: number;
  /** An operator may take an account from its last owner. */
  readonly isForced?: boolean;
}

export interface OwnerEmail {
  readonly account: string;
  readonly email: string;
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
  /**
   * Suspends the user in the version that was read and, in the same step, ends all sessions and one-time links, and
   * revokes the keys of the management API that the user has made.
   */
  suspend(user: User, at: number): Promise<RemovalResult>;
  /**
   * Removes the user in the version that was read and, in the same step, all sessions, one-time links and memberships, and
   * revokes the keys of accounts in which the user was a member and those of the management API; only the `FormerUser`
   * remains.
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
  /** Adds a membership; an existing one stays as it is. */
  join(membership: Membership): Promise<void>;
  /**
   * Changes role and cap of a membership (`none`: there is none), in one step with the keys of a member who becomes an
   * accountant, which are revoked at this time.
   */
  setMembership(membership: Membership, at: number): Promise<MembershipChange>;
  /** Gives an account to another of its people, in one step. `none`: one of them does not have that role any more. */
  handOver(change: HandOver): Promise<'done' | 'none'>;
  /** Removes a membership, in one step with the keys of a member, which are revoked. `none`: there is none. */
  leave(departure: Departure): Promise<MembershipChange>;
  /** Of a page of memberships, those whose role or cap were changed outside the store. */
  findWrongMarks(page: { readonly after?: string; readonly limit: number }): Promise<WrongMarks>;
  /** The memberships of a user, in order of account. */
  listUserMemberships(user: string): Promise<readonly Membership[]>;
  /** The members of an account, in order of user. */
  listAccountMembers(account: string): Promise<readonly Membership[]>;
  /** The emails of the owners of these accounts, in order of account and user; an unknown user has none. */
  listOwnerEmails(accounts: readonly string[]): Promise<readonly OwnerEmail[]>;
  /** All memberships after this one in order of user and account: for a copy. */
  memberships(page: { readonly after?: Membership; readonly limit: number }): Promise<readonly Membership[]>;
}
