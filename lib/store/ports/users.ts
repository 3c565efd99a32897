// The port of people: who may sign in, to which accounts they belong, and their one-time links.

export interface User {
  readonly id: string;
  /** In lower case; no two users have the same. */
  readonly email: string;
  /** As `hashPassword` writes it; null until it is set by a link. */
  readonly password: string | null;
  /** Base32; null without an authenticator app. */
  readonly totpSecret: string | null;
  /** The step of the last code that was used: a code works once. -1 before the first. */
  readonly totpStep: number;
  /** SHA-256 of recovery codes that are left, hex. */
  readonly recovery: readonly string[];
  /** Runs the service. */
  readonly operator: boolean;
  readonly status: 'active' | 'suspended';
  readonly language: 'ru' | 'en';
  /** An IANA name. */
  readonly timeZone: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** The number of changes: a change applies to the version that was read, or not at all. */
  readonly version: number;
}

/** Further roles come later. */
export type Role = 'owner';

export interface Membership {
  readonly user: string;
  readonly account: string;
  readonly role: Role;
}

export interface UserStore {
  /** `taken`: somebody has the address. */
  add(user: User): Promise<'added' | 'taken'>;
  get(id: string): Promise<User | undefined>;
  find(email: string): Promise<User | undefined>;
  /** Writes the user as the next version of the one that was read; false when it has changed meanwhile, or is gone. */
  change(user: User): Promise<boolean>;
  /** All users with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly User[]>;
  /** How many operators there are, suspended ones too. */
  operators(): Promise<number>;
  /** A second time changes nothing. */
  join(membership: Membership): Promise<void>;
  /** In order of account. */
  membershipsOf(user: string): Promise<readonly Membership[]>;
  /** In order of user. */
  membersOf(account: string): Promise<readonly Membership[]>;
  /** All memberships behind this one in order of user and account: for a copy. */
  memberships(page: { readonly after?: Membership; readonly limit: number }): Promise<readonly Membership[]>;
}
