// Users and their one-time links: creates users, invites them, and gives them roles in accounts.
import { randomBytes } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { HOUR_MS } from '../base/durations.ts';
import type { Link, LinkPurpose, MembershipOffer, SessionStore } from '../store/ports/sessions.ts';
import type { Membership, User, UserStore } from '../store/ports/users.ts';
import { hashPassword } from './password.ts';
import { hashToken, isToken, makeToken } from './token.ts';

interface PeopleOptions {
  readonly store: { readonly sessions: SessionStore; readonly users: UserStore };
  readonly now?: () => number;
}

interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly totp?: Enrolment;
  readonly operator: boolean;
  readonly language: User['language'];
}

/** An authenticator app that has shown a correct code. */
export interface Enrolment {
  readonly secret: string;
  /** The time step of that code, which cannot be used again. */
  readonly step: number;
  /** Hashes of the recovery codes. */
  readonly recovery: readonly string[];
}

export interface LinkRequest {
  readonly purpose: LinkPurpose;
  readonly user?: string;
  readonly account?: string;
  readonly email?: string;
  /** Of an invitation to an account. */
  readonly offer?: MembershipOffer;
}

export interface People {
  /**
   * Creates a one-time token, valid for an hour (`verify`: a day, `invite`: a week). Earlier tokens for the same purpose,
   * person and account become invalid, except for purposes that strangers can request: a stranger's request must not
   * invalidate the link in somebody's mailbox.
   */
  makeLink(request: LinkRequest): Promise<string>;
  /**
   * Reads a token's link without using it up; undefined if the token is unknown, used or expired, and for a `setup` link
   * once there is an operator. A `telegram` link counts as unknown.
   */
  peekLink(token: string): Promise<Link | undefined>;
  /** Uses the token up; of several concurrent attempts one succeeds. */
  useLink(token: string): Promise<Link | undefined>;
  /** Uses up a token for a chat, which opens nothing else; resolves to the id of its user. */
  useTelegramLink(token: string): Promise<string | undefined>;
  /** `taken`: the address is already in use. */
  add(user: NewUser): Promise<User | 'taken'>;
  /** `late`: there already is an operator. */
  addFirstOperator(user: NewUser): Promise<User | 'taken' | 'late'>;
  /** Gives a user a role in an account; false if the user was removed in the meantime. */
  join(user: User, membership: Omit<Membership, 'user'>): Promise<boolean>;
  /** Creates the owner of a demo account, who signs in only through links. */
  addGuest(email: string, account: string, language: User['language']): Promise<User>;
  /** Ends the user's sessions except `keep`, and the reset links. False if the user changed in the meantime. */
  setPassword(user: User, password: string, keep?: string): Promise<boolean>;
  /** The same for a result of `hashPassword`. */
  setHash(user: User, hashed: string, keep?: string): Promise<boolean>;
  /** Makes any other change; false if the user changed in the meantime. */
  change(user: User): Promise<boolean>;
}

const LINK_LIFE_MS: Readonly<Record<LinkPurpose, number>> = {
  setup: HOUR_MS,
  operator: HOUR_MS,
  reset: HOUR_MS,
  restore: HOUR_MS,
  demo: HOUR_MS,
  telegram: HOUR_MS,
  verify: 24 * HOUR_MS,
  invite: 7 * 24 * HOUR_MS,
};

/** Links that strangers can request for any address. Using one of them invalidates the others. */
const PUBLIC_PURPOSES: ReadonlySet<LinkPurpose> = new Set(['reset', 'verify']);

/** Links that a later one of the same purpose leaves valid: each of several gateways prints a setup link at its start. */
const KEPT_PURPOSES: ReadonlySet<LinkPurpose> = new Set([...PUBLIC_PURPOSES, 'setup']);

/** Links that set a new password. They become invalid when a new password is set. */
const RESET_PURPOSES: readonly LinkPurpose[] = ['reset', 'restore', 'operator'];

export function createPeople({ store: { sessions, users }, now = Date.now }: PeopleOptions): People {
  async function readLiveLink(token: string): Promise<Link | undefined> {
    const link = isToken(token) ? await sessions.link(hashToken(token)) : undefined;
    // Expired links stay in the store until the cleanup removes them.
    return link && link.expiresAt > now() ? link : undefined;
  }

  async function peekLink(token: string): Promise<Link | undefined> {
    const link = await readLiveLink(token);
    if (!link || link.purpose === 'telegram') return undefined;
    return link.purpose === 'setup' && (await users.operators()) > 0 ? undefined : link;
  }

  async function buildUser({ email, password, totp, operator, language }: NewUser): Promise<User> {
    const enrolled = totp && { totpSecret: totp.secret, totpStep: totp.step, recovery: totp.recovery };
    return { ...buildBareUser(email, language), ...enrolled, password: await hashPassword(password, email), operator };
  }

  function buildBareUser(email: string, language: User['language']): User {
    return {
      id: `usr_${randomBytes(12).toString('hex')}`,
      email: email.toLowerCase(),
      password: null,
      totpSecret: null,
      totpStep: -1,
      recovery: [],
      operator: false,
      status: 'active',
      language,
      timeZone: 'Europe/Moscow',
      createdAt: now(),
      version: 1,
    };
  }

  async function setHash(user: User, hashed: string, keep?: string): Promise<boolean> {
    if (!(await users.change({ ...user, password: hashed }))) return false;
    await sessions.removeUserSessions(user.id, keep);
    for (const purpose of RESET_PURPOSES) await sessions.removeLinks({ purpose, user: user.id, email: user.email });
    return true;
  }

  return {
    async makeLink({ purpose, user, account, email, offer }) {
      if (!KEPT_PURPOSES.has(purpose)) await sessions.removeLinks({ purpose, user, account, email });
      const token = makeToken();
      const expiresAt = now() + LINK_LIFE_MS[purpose];
      const of = { user: user ?? null, account: account ?? null, email: email ?? null };
      await sessions.addLink({ hash: hashToken(token), purpose, ...of, expiresAt, ...(offer && { offer }) });
      return token;
    },
    peekLink,
    async useLink(token) {
      if (!(await peekLink(token))) return undefined;
      return sessions.takeLink(hashToken(token));
    },
    async useTelegramLink(token) {
      if ((await readLiveLink(token))?.purpose !== 'telegram') return undefined;
      return (await sessions.takeLink(hashToken(token)))?.user ?? undefined;
    },
    async add(wanted) {
      const user = await buildUser(wanted);
      if ((await users.add(user)) === 'taken') return 'taken';
      await sessions.removeLinks({ purpose: 'verify', email: user.email });
      return user;
    },
    async addFirstOperator(wanted) {
      const user = await buildUser({ ...wanted, operator: true });
      const outcome = await users.addFirstOperator(user);
      return outcome === 'added' ? user : outcome;
    },
    async join({ id }, membership) {
      const { account } = membership;
      await users.join({ ...membership, user: id });
      // Read after the write: removing the user later removes the membership too.
      const isThere = (await users.get(id)) !== undefined;
      if (!isThere) await users.leave({ user: id, account, at: now(), isForced: true });
      return isThere;
    },
    async addGuest(email, account, language) {
      const user = buildBareUser(email, language);
      await users.add(user);
      await users.join({ user: user.id, account, role: 'owner' });
      return user;
    },
    setPassword: async (user, password, keep) => setHash(user, await hashPassword(password, user.id), keep),
    setHash,
    change: (user) => users.change(user),
  };
}

const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** The last label starts with a letter, so a network address does not match. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]+$/;

/** Normalizes an email address; undefined if the text is not one. */
export function readEmail(text: string): string | undefined {
  const trimmed = text.trim().toLowerCase();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, at);
  const domain = domainToASCII(trimmed.slice(at + 1));
  if (at < 1 || trimmed.length > 254 || local.length > 64 || !LOCAL.test(local)) return undefined;
  if (!DOMAIN.test(domain)) return undefined;
  return `${local}@${domain}`;
}

/** A typed address as it would be stored, for comparison; any other text in lower case. */
export function toStoredEmail(text: string): string {
  return readEmail(text) ?? text.trim().toLowerCase();
}
