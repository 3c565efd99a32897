// Signing in: the same answer whatever was wrong, and growing waits for those who guess.
import type { SessionStore } from '../store/ports/sessions.ts';
import type { User, UserStore } from '../store/ports/users.ts';
import { hashPassword, isOutdated, verifyPassword } from './password.ts';
import { hashRecoveryCode, isRecoveryCode, stepOf } from './totp.ts';

export interface SignInOptions {
  readonly store: { readonly sessions: SessionStore; readonly users: UserStore };
  readonly now?: () => number;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** From the authenticator app, or a recovery code; empty if none. */
  readonly code: string;
  /** The client's network address. */
  readonly address: string;
}

/** `wrong` never says whether it was the address, the password or the code. */
export type SignInResult =
  | { readonly status: 'ok'; readonly user: User; readonly proven: boolean }
  | { readonly status: 'wrong' }
  | { readonly status: 'wait'; readonly seconds: number };

export interface SignIn {
  signIn(credentials: Credentials): Promise<SignInResult>;
  /** Whether a code or recovery code is the user's; it is used up. The same waits apply as for signing in. */
  proveCode(user: User, code: string, address: string): Promise<SignInResult>;
}

/** Free failures, and how long they count. */
const FREE = 5;
const WINDOW_MS = 15 * 60_000;
const WAIT_MS_MAX = 5 * 60_000;
/** One network address may be a whole office. */
const ADDRESS_FREE = 20;

export function createSignIn({ store: { sessions, users }, now = Date.now }: SignInOptions): SignIn {
  async function signIn(credentials: Credentials): Promise<SignInResult> {
    const { email, password, code, address } = credentials;
    const user = await users.find(email.trim().toLowerCase());
    const names = await namesOf(address, email, user);
    const seconds = await waitOf(names);
    if (seconds > 0) return { status: 'wait', seconds };
    const matches = await verifyPassword(user?.password ?? undefined, password);
    if (!user || !matches || user.status !== 'active') return failed(names);
    const proved = await useCode(user, code);
    if (!proved) return failed(names);
    await forget(names);
    return { status: 'ok', user: await rehashed(proved.user, password), proven: proved.proven };
  }

  async function proveCode(user: User, code: string, address: string): Promise<SignInResult> {
    const names = await namesOf(address, user.email, user);
    const seconds = await waitOf(names);
    if (seconds > 0) return { status: 'wait', seconds };
    const proved = user.totpSecret === null ? undefined : await useCode(user, code);
    if (!proved) return failed(names);
    await forget(names);
    return { status: 'ok', ...proved };
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
    const fresh = { ...user, password: await hashPassword(password) };
    // A concurrent change wins: the old hash still works.
    return (await users.change(fresh)) ? { ...fresh, version: user.version + 1 } : user;
  }

  /**
   * The keys that failures are counted under. The one of the email address is skipped where its owner has signed in
   * before, so that strangers who guess elsewhere cannot lock the owner out.
   */
  async function namesOf(address: string, email: string, user: User | undefined): Promise<readonly Counted[]> {
    const known = user && (await sessions.list(user.id)).some((session) => session.address === address);
    const byAddress = { name: `address:${address}`, free: ADDRESS_FREE };
    if (known) return [byAddress];
    return [byAddress, { name: `mail:${email.trim().toLowerCase().slice(0, 254)}`, free: FREE }];
  }

  async function waitOf(names: readonly Counted[]): Promise<number> {
    const waits = names.map(async ({ name, free }) => {
      const attempts = await sessions.attempts(name);
      if (!attempts) return 0;
      return attempts.lastAt + waitMsAfter(attempts.count - free) - now();
    });
    return Math.ceil(Math.max(0, ...(await Promise.all(waits))) / 1000);
  }

  async function failed(names: readonly Counted[]): Promise<SignInResult> {
    const at = { now: now(), since: now() - WINDOW_MS };
    await Promise.all(names.map(({ name }) => sessions.fail(name, at)));
    return { status: 'wrong' };
  }

  async function forget(names: readonly Counted[]): Promise<void> {
    await Promise.all(names.map(({ name }) => sessions.forget(name)));
  }

  return { signIn, proveCode };
}

interface Counted {
  readonly name: string;
  /** Free failures. */
  readonly free: number;
}

/** One second after the first counted failure, then doubling. */
function waitMsAfter(over: number): number {
  return over < 0 ? 0 : Math.min(WAIT_MS_MAX, 1000 * 2 ** Math.min(over, 30));
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
