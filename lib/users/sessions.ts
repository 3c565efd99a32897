// Sessions of signed-in users: opaque tokens that expire when idle, and in any case after a fixed time.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts';
import type { Session, SessionStore } from '../store/ports/sessions.ts';
import type { User, UserStore } from '../store/ports/users.ts';
import { hashToken, isToken, makeToken } from './token.ts';

interface SessionsOptions {
  readonly store: { readonly sessions: SessionStore; readonly users: UserStore };
  /** ms since the epoch. */
  readonly now?: () => number;
}

/** The client that starts a session. */
export interface Client {
  readonly address: string;
  readonly agent: string;
}

/** A live session and its user. */
export interface SignedIn {
  readonly user: User;
  readonly session: Session;
}

interface ProofOfCode {
  readonly proven?: boolean;
  readonly provenAt?: number | null;
}

export interface Sessions {
  /**
   * Starts a session and returns its token, which is not stored. `proven`: the user gave a code just now; `provenAt`: when
   * they gave one in the session before.
   */
  open(user: User, client: Client, options?: ProofOfCode): Promise<string>;
  /** The session of a token; undefined if it has ended or its user may not sign in. */
  find(token: string): Promise<SignedIn | undefined>;
  /** Records that the user has given a code again. Resolves to the session with it. */
  prove(session: Session): Promise<Session>;
  list(user: User): Promise<readonly Session[]>;
  end(hash: string): Promise<void>;
  /** Ends all sessions of a user except one. */
  endAll(user: string, except?: string): Promise<void>;
}

const OWNER_LIFETIME = { idleMs: 12 * HOUR_MS, wholeMs: 30 * DAY_MS };
const OPERATOR_LIFETIME = { idleMs: 30 * MINUTE_MS, wholeMs: 12 * HOUR_MS };

/** The last use is written at most this often. */
const SEEN_EVERY_MS = MINUTE_MS;

/** An operator's change requires a new code if the last one is older. */
const PROVEN_MS = 10 * MINUTE_MS;

const AGENT_LENGTH_MAX = 200;

export function createSessions({ store: { sessions, users }, now = Date.now }: SessionsOptions): Sessions {
  async function open(user: User, { address, agent }: Client, proof: ProofOfCode = {}): Promise<string> {
    const { proven = false, provenAt = null } = proof;
    const token = makeToken();
    const at = now();
    const { idleMs, wholeMs } = user.operator ? OPERATOR_LIFETIME : OWNER_LIFETIME;
    await sessions.add({
      hash: hashToken(token),
      user: user.id,
      createdAt: at,
      seenAt: at,
      expiresAt: at + wholeMs,
      idleMs,
      provenAt: proven ? at : provenAt,
      address,
      agent: agent.slice(0, AGENT_LENGTH_MAX),
    });
    return token;
  }

  async function find(token: string): Promise<SignedIn | undefined> {
    if (!isToken(token)) return undefined;
    const session = await sessions.get(hashToken(token));
    if (!session || !isLiveSession(session, now())) return undefined;
    const user = await users.get(session.user);
    if (user?.status !== 'active') return undefined;
    return { user, session: await touchSession(session) };
  }

  async function touchSession(session: Session): Promise<Session> {
    const at = now();
    if (at - session.seenAt < SEEN_EVERY_MS) return session;
    const { provenAt } = session;
    await sessions.touch(session.hash, { seenAt: at, provenAt });
    return { ...session, seenAt: at };
  }

  return {
    open,
    find,
    async prove(session) {
      const at = now();
      const proof = { seenAt: at, provenAt: at };
      await sessions.touch(session.hash, proof);
      return { ...session, ...proof };
    },
    list: async (user) => (await sessions.list(user.id)).filter((session) => isLiveSession(session, now())),
    async end(hash) {
      await sessions.remove(hash);
    },
    endAll: (user, except) => sessions.removeUserSessions(user, except),
  };
}

function isLiveSession({ seenAt, idleMs, expiresAt }: Session, now: number): boolean {
  return now < expiresAt && now < seenAt + idleMs;
}

/** Whether a code was given recently enough for an operator's change. */
export function isProven({ provenAt }: Session, now: number): boolean {
  return provenAt !== null && now < provenAt + PROVEN_MS;
}
