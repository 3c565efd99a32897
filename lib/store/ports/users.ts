// The port of people: who may sign in, and to which accounts they belong.

export interface User {
  readonly id: string;
  /** In lower case; no two users have the same. */
  readonly email: string;
  /** As made by `hashPassword`; null until it is set through a link. */
  readonly password: string | null;
  /** Base32; null without an authenticator app. In the database it is encrypted if there is a key. */
  readonly totpSecret: string | null;
  /** The time step of the last code used, so that each code works once. -1 before the first. */
  readonly totpStep: number;
  /** SHA-256 of the unused recovery codes, hex. */
  readonly recovery: readonly string[];
  /** Runs the service. */
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

/** More roles may follow. */
export type Role = 'owner';

export interface Membership {
  readonly user: string;
  readonly account: string;
  readonly role: Role;
}

export interface UserStore {
  /** `taken`: the address is already in use. */
  add(user: User): Promise<'added' | 'taken'>;
  get(id: string): Promise<User | undefined>;
  find(email: string): Promise<User | undefined>;
  /**
   * Writes the user as the next version of the one that was read; false if it has changed in the meantime, or is gone.
   */
  change(user: User): Promise<boolean>;
  /** All users with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly User[]>;
  /** How many operators there are, including suspended ones. */
  operators(): Promise<number>;
  /** Idempotent. */
  join(membership: Membership): Promise<void>;
  /** In order of account. */
  membershipsOf(user: string): Promise<readonly Membership[]>;
  /** In order of user. */
  membersOf(account: string): Promise<readonly Membership[]>;
  /** All memberships after this one in order of user and account: for a copy. */
  memberships(page: { readonly after?: Membership; readonly limit: number }): Promise<readonly Membership[]>;
}
