// Signing in: the result never tells what was wrong, and guessers have to wait ever longer.
import type { Source } from '../base/fair-queue.ts';
import { toClientNetwork } from '../base/network.ts';
import type { SessionStore } from '../store/ports/sessions.ts';
import type { User, UserStore } from '../store/ports/users.ts';
import { type CountedName, countAttempt, slowDown, uncountAttempt } from './attempts.ts';
import { createDevices } from './devices.ts';
import { hashPassword, isOutdatedHash, verifyPassword } from './password.ts';
import { toStoredEmail } from './people.ts';
import { findCodeStep, hashRecoveryCode, isRecoveryCode } from './totp.ts';

interface SignInOptions {
  readonly store: { readonly sessions: SessionStore; readonly users: UserStore };
  readonly now?: () => number;
}

/** The client of an attempt; guesses are counted by it. */
export interface SignInClient {
  /** The network address, in full. */
  readonly address: string;
  /** The token from the device cookie, if somebody has signed in on this device before. */
  readonly device: string | undefined;
  /** The client has a link that was mailed to the user. */
  readonly hasLink?: boolean;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** From the authenticator app, or a recovery code; empty if none. */
  readonly code: string;
  readonly client: SignInClient;
}

/** `wrong` does not tell address, password and code apart; its `user` is for the audit log only. */
export type SignInResult =
  | { readonly status: 'ok'; readonly user: User; readonly proven: boolean }
  | { readonly status: 'wrong'; readonly user: User | undefined }
  | { readonly status: 'wait'; readonly seconds: number };

/** The kinds of attempts; `reset` and `register` request an email with a link. */
export const SIGN_IN_FACTORS = ['password', 'code', 'recovery', 'link', 'reset', 'register'] as const;
export type SignInFactor = (typeof SIGN_IN_FACTORS)[number];

/** `busy`: too many passwords were being checked. */
export const SIGN_IN_OUTCOMES = ['ok', 'wrong', 'wait', 'busy'] as const;
export type SignInOutcome = (typeof SIGN_IN_OUTCOMES)[number];

/** All methods share the same counters and waits. Each throws the fault `busy` if too many passwords are being checked. */
export interface SignIn {
  signIn(credentials: Credentials): Promise<SignInResult>;
  /** Checks a code or recovery code of the user and uses it up. */
  proveCode(user: User, code: string, client: SignInClient): Promise<SignInResult>;
  /** Checks the password of a signed-in user; `proven` is false. */
  confirmPassword(user: User, password: string, client: SignInClient): Promise<SignInResult>;
}

const FREE_BY_MAIL = 5;
/** A device cookie may be stolen, but not by many strangers. */
const FREE_BY_DEVICE = 10;
/** One network address may be a whole office. */
const FREE_BY_ADDRESS = 20;

export function createSignIn({ store: { sessions, users }, now = Date.now }: SignInOptions): SignIn {
  const devices = createDevices({ store: { sessions }, now });

  async function signIn({ email: text, password, code, client }: Credentials): Promise<SignInResult> {
    const email = toStoredEmail(text);
    const user = await users.find(email);
    const names = await collectAttemptNames(client, email, user);
    const seconds = await countAttempt(sessions, names.all, now());
    if (seconds > 0) return { status: 'wait', seconds };
    const matches = await verifyOrUncount(user, password, names);
    if (!user || !matches || user.status !== 'active') return { status: 'wrong', user };
    const proved = await useCode(user, code);
    if (!proved) return { status: 'wrong', user };
    await forgiveAttempts(names);
    return { status: 'ok', user: await rehashIfOutdated(proved.user, password), proven: proved.proven };
  }

  async function proveCode(user: User, code: string, client: SignInClient): Promise<SignInResult> {
    const names = await collectAttemptNames(client, user.email, user);
    const seconds = await countAttempt(sessions, names.all, now());
    if (seconds > 0) return { status: 'wait', seconds };
    const proved = user.totpSecret === null ? undefined : await useCode(user, code);
    if (!proved) return { status: 'wrong', user };
    await forgiveAttempts(names);
    return { status: 'ok', ...proved };
  }

  async function confirmPassword(user: User, password: string, client: SignInClient): Promise<SignInResult> {
    const names = await collectAttemptNames(client, user.email, user);
    const seconds = await countAttempt(sessions, names.all, now());
    if (seconds > 0) return { status: 'wait', seconds };
    if (!(await verifyOrUncount(user, password, names))) return { status: 'wrong', user };
    // Wrong codes stay counted: otherwise somebody who knows only the password could guess codes forever.
    await uncountAttempt(sessions, names.all);
    return { status: 'ok', user, proven: false };
  }

  /** A password that could not be checked does not count as an attempt. */
  async function verifyOrUncount(
    user: User | undefined,
    password: string,
    { source, all }: AttemptNames,
  ): Promise<boolean> {
    try {
      return await verifyPassword(user?.password ?? undefined, password, source);
    } catch (error) {
      await uncountAttempt(sessions, all);
      throw error;
    }
  }

  /** Without an authenticator app no code is needed. A compare-and-set uses a code up, so that none works twice. */
  async function useCode(user: User, code: string): Promise<{ user: User; proven: boolean } | undefined> {
    if (user.totpSecret === null) return { user, proven: false };
    const changed = isRecoveryCode(code) ? withoutCode(user, code) : withUsedStep(user, code, now());
    if (!changed || !(await users.change(changed))) return undefined;
    return { user: { ...changed, version: changed.version + 1 }, proven: true };
  }

  async function rehashIfOutdated(user: User, password: string): Promise<User> {
    if (user.password === null || !isOutdatedHash(user.password)) return user;
    // If too many passwords are being hashed, the old hash stays until the next sign-in.
    const hashed = await hashPassword(password, user.id).catch(() => user.password);
    const fresh = { ...user, password: hashed };
    // A concurrent change wins: the old hash still works.
    return (await users.change(fresh)) ? { ...fresh, version: user.version + 1 } : user;
  }

  /**
   * The names under which an attempt is counted. On a device where the user has signed in before it is only the device,
   * and with a link from the user's mailbox only the link, so that strangers who guess elsewhere, or in the same network,
   * cannot lock the user out.
   */
  async function collectAttemptNames(
    client: SignInClient,
    email: string,
    user: User | undefined,
  ): Promise<AttemptNames> {
    if (user && client.hasLink) {
      const own = slowDown(`link:${user.id}`, FREE_BY_MAIL);
      return { own, shared: [], all: [own], source: { name: user.id, isKnown: true } };
    }
    const device = await devices.find(user, client.device);
    const own = device
      ? slowDown(`device:${device.hash}`, FREE_BY_DEVICE)
      : slowDown(`mail:${email.slice(0, 254)}`, FREE_BY_MAIL);
    // The source is the user, because one person may have many devices.
    if (device) return { own, shared: [], all: [own], source: { name: device.user, isKnown: true } };
    const network = toClientNetwork(client.address);
    const shared = [slowDown(`address:${network}`, FREE_BY_ADDRESS)];
    return { own, shared, all: [...shared, own], source: { name: network, isKnown: false } };
  }

  /** A success says nothing about other attempts from its network, so only this attempt is taken back there. */
  async function forgiveAttempts({ own, shared }: AttemptNames): Promise<void> {
    await Promise.all([sessions.forget(own.name), uncountAttempt(sessions, shared)]);
  }

  return { signIn, proveCode, confirmPassword };
}

interface AttemptNames {
  /** The user's own counter: of the link, the device or the email address. */
  readonly own: CountedName;
  /** The counter of the network, which other people use too. */
  readonly shared: readonly CountedName[];
  readonly all: readonly CountedName[];
  /** The source in the fair queue of password checks. */
  readonly source: Source;
}

/** The kind of code by its form, right or wrong. */
export function getCodeFactor(code: string): 'code' | 'recovery' {
  return isRecoveryCode(code) ? 'recovery' : 'code';
}

function withUsedStep(user: User, code: string, now: number): User | undefined {
  const step = findCodeStep(user.totpSecret ?? '', code, { now, lastStep: user.totpStep });
  return step === undefined ? undefined : { ...user, totpStep: step };
}

function withoutCode(user: User, code: string): User | undefined {
  const hashed = hashRecoveryCode(code);
  const recovery = user.recovery.filter((left) => left !== hashed);
  return recovery.length === user.recovery.length ? undefined : { ...user, recovery };
}
