// Signing in: the same answer whatever was wrong, and growing waits for those who guess.
import type { Source } from '../base/fair-queue.ts';
import { toClientNetwork } from '../base/network.ts';
import type { SessionStore } from '../store/ports/sessions.ts';
import type { User, UserStore } from '../store/ports/users.ts';
import { type CountedName, countAttempt, uncountAttempt, waitsAfter } from './attempts.ts';
import { createDevices } from './devices.ts';
import { hashPassword, isOutdated, verifyPassword } from './password.ts';
import { hashRecoveryCode, isRecoveryCode, stepOf } from './totp.ts';

export interface SignInOptions {
  readonly store: { readonly sessions: SessionStore; readonly users: UserStore };
  readonly now?: () => number;
}

/** Who tries: guesses are counted by it. */
export interface SignInClient {
  /** The network address, in full. */
  readonly address: string;
  /** The token in the cookie of a device on which somebody has signed in. */
  readonly device: string | undefined;
  /** Somebody with a link that was mailed to the user. */
  readonly hasLink?: boolean;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** From the authenticator app, or a recovery code; empty if none. */
  readonly code: string;
  readonly client: SignInClient;
}

/** `wrong` never says whether it was the address, the password or the code; its user is for the audit log only. */
export type SignInResult =
  | { readonly status: 'ok'; readonly user: User; readonly proven: boolean }
  | { readonly status: 'wrong'; readonly user: User | undefined }
  | { readonly status: 'wait'; readonly seconds: number };

/** By what somebody tries to get in; `reset` and `register` ask for a letter with a link. */
export const SIGN_IN_FACTORS = ['password', 'code', 'recovery', 'link', 'reset', 'register'] as const;
export type SignInFactor = (typeof SIGN_IN_FACTORS)[number];

/** `busy`: there was no room to check a password. */
export const SIGN_IN_OUTCOMES = ['ok', 'wrong', 'wait', 'busy'] as const;
export type SignInOutcome = (typeof SIGN_IN_OUTCOMES)[number];

/** All of them count, and wait, together. Each throws the fault `busy` if too many passwords are being checked. */
export interface SignIn {
  signIn(credentials: Credentials): Promise<SignInResult>;
  /** Whether a code or recovery code is the user's; it is used up. */
  proveCode(user: User, code: string, client: SignInClient): Promise<SignInResult>;
  /** Whether a password is that of a user who is signed in; `proven` is false. */
  confirmPassword(user: User, password: string, client: SignInClient): Promise<SignInResult>;
}

const WINDOW_MS = 15 * 60_000;
/** One second after the last free attempt, then doubling. */
const GROWING_MS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map((seconds) => seconds * 1000);

const MAIL_WAITS_MS = waitsAfter(5, GROWING_MS);
/** Its cookie could be a thief's, but never that of many strangers. */
const DEVICE_WAITS_MS = waitsAfter(10, GROWING_MS);
/** One network address may be a whole office. */
const ADDRESS_WAITS_MS = waitsAfter(20, GROWING_MS);

export function createSignIn({ store: { sessions, users }, now = Date.now }: SignInOptions): SignIn {
  const devices = createDevices({ store: { sessions }, now });

  async function signIn({ email: text, password, code, client }: Credentials): Promise<SignInResult> {
    const email = text.trim().toLowerCase();
    const user = await users.find(email);
    const names = await namesOf(client, email, user);
    const seconds = await countAttempt(sessions, names.all, now());
    if (seconds > 0) return { status: 'wait', seconds };
    const matches = await verify(user, password, names);
    if (!user || !matches || user.status !== 'active') return { status: 'wrong', user };
    const proved = await useCode(user, code);
    if (!proved) return { status: 'wrong', user };
    await forgive(names);
    return { status: 'ok', user: await rehashed(proved.user, password), proven: proved.proven };
  }

  async function proveCode(user: User, code: string, client: SignInClient): Promise<SignInResult> {
    const names = await namesOf(client, user.email, user);
    const seconds = await countAttempt(sessions, names.all, now());
    if (seconds > 0) return { status: 'wait', seconds };
    const proved = user.totpSecret === null ? undefined : await useCode(user, code);
    if (!proved) return { status: 'wrong', user };
    await forgive(names);
    return { status: 'ok', ...proved };
  }

  async function confirmPassword(user: User, password: string, client: SignInClient): Promise<SignInResult> {
    const names = await namesOf(client, user.email, user);
    const seconds = await countAttempt(sessions, names.all, now());
    if (seconds > 0) return { status: 'wait', seconds };
    if (!(await verify(user, password, names))) return { status: 'wrong', user };
    // Wrong codes stay counted: whoever knows only the password could guess on for ever.
    await uncountAttempt(sessions, names.all);
    return { status: 'ok', user, proven: false };
  }

  /** A password that there was no room to check was no attempt. */
  async function verify(user: User | undefined, password: string, { source, all }: Names): Promise<boolean> {
    try {
      return await verifyPassword(user?.password ?? undefined, password, source);
    } catch (error) {
      await uncountAttempt(sessions, all);
      throw error;
    }
  }

  /** Without an app no code is asked for; with one a compare-and-set uses it up, so that none works twice. */
  async function useCode(user: User, code: string): Promise<{ user: User; proven: boolean } | undefined> {
    if (user.totpSecret === null) return { user, proven: false };
    const changed = isRecoveryCode(code) ? withoutCode(user, code) : withStep(user, code, now());
    if (!changed || !(await users.change(changed))) return undefined;
    return { user: { ...changed, version: changed.version + 1 }, proven: true };
  }

  async function rehashed(user: User, password: string): Promise<User> {
    if (user.password === null || !isOutdated(user.password)) return user;
    // Where there is no room for it now, the old hash goes on until the next time.
    const hashed = await hashPassword(password, user.id).catch(() => user.password);
    const fresh = { ...user, password: hashed };
    // A concurrent change wins: the old hash still works.
    return (await users.change(fresh)) ? { ...fresh, version: user.version + 1 } : user;
  }

  /**
   * What an attempt is counted under. On a device where its owner has signed in before it is the device alone, and with
   * a link from the owner's mailbox that alone, so that strangers who guess elsewhere, or in the same network, cannot lock
   * the owner out.
   */
  async function namesOf(client: SignInClient, email: string, user: User | undefined): Promise<Names> {
    if (user && client.hasLink) {
      const own = { name: `link:${user.id}`, waitsMs: MAIL_WAITS_MS, windowMs: WINDOW_MS };
      return { own, shared: [], all: [own], source: { name: user.id, isKnown: true } };
    }
    const device = await devices.find(user, client.device);
    const own = device
      ? { name: `device:${device.hash}`, waitsMs: DEVICE_WAITS_MS, windowMs: WINDOW_MS }
      : { name: `mail:${email.slice(0, 254)}`, waitsMs: MAIL_WAITS_MS, windowMs: WINDOW_MS };
    // One person may have made many devices.
    if (device) return { own, shared: [], all: [own], source: { name: device.user, isKnown: true } };
    const network = toClientNetwork(client.address);
    const shared = [{ name: `address:${network}`, waitsMs: ADDRESS_WAITS_MS, windowMs: WINDOW_MS }];
    return { own, shared, all: [...shared, own], source: { name: network, isKnown: false } };
  }

  /** A success says nothing about what else was tried from its address, so only its own attempt is taken back there. */
  async function forgive({ own, shared }: Names): Promise<void> {
    await Promise.all([sessions.forget(own.name), uncountAttempt(sessions, shared)]);
  }

  return { signIn, proveCode, confirmPassword };
}

interface Names {
  /** The user's own: of the device or the email address. */
  readonly own: CountedName;
  /** The network's, which others use too. */
  readonly shared: readonly CountedName[];
  readonly all: readonly CountedName[];
  /** Who takes turns with others where passwords are checked. */
  readonly source: Source;
}

/** What somebody gives as a code, right or wrong. */
export function codeFactorOf(code: string): 'code' | 'recovery' {
  return isRecoveryCode(code) ? 'recovery' : 'code';
}

function withStep(user: User, code: string, now: number): User | undefined {
  const step = stepOf(user.totpSecret ?? '', code, { now, lastStep: user.totpStep });
  return step === undefined ? undefined : { ...user, totpStep: step };
}

function withoutCode(user: User, code: string): User | undefined {
  const hashed = hashRecoveryCode(code);
  const recovery = user.recovery.filter((left) => left !== hashed);
  return recovery.length === user.recovery.length ? undefined : { ...user, recovery };
}
