// Suspends and removes users, and takes accounts from them. Everything that would let them in ends at once.
import type { SessionStore } from '../store/ports/sessions.ts';
import type { MembershipChange, RemovalResult, User, UserStore } from '../store/ports/users.ts';

interface UserRemovalOptions {
  readonly store: { readonly sessions: SessionStore; readonly users: UserStore };
  readonly now?: () => number;
}

/** `gone`: the user does not exist any more; `last_operator`: the last operator cannot be removed. */
export type RemovalOutcome = 'done' | 'gone' | 'last_operator';

export interface UserRemoval {
  /** Ends the user's sessions, one-time links and management keys; the user cannot sign in until resumed. */
  suspend(id: string): Promise<RemovalOutcome>;
  resume(id: string): Promise<RemovalOutcome>;
  /** Like `suspend`, but permanent: memberships end too, and the email address can be used again. */
  remove(id: string): Promise<RemovalOutcome>;
  /**
   * Ends a membership and unused invitations to the same account; the keys of a member are revoked. `isForced`: the last
   * owner may leave, too.
   */
  leaveAccount(
    user: Pick<User, 'id' | 'email'>,
    account: string,
    options?: { readonly isForced?: boolean },
  ): Promise<MembershipChange>;
}

/** An attempt fails if the user changes at the same time, for example by signing in. */
const ATTEMPTS = 5;

export function createUserRemoval({ store: { sessions, users }, now = Date.now }: UserRemovalOptions): UserRemoval {
  async function changeWithRetries(id: string, act: (user: User) => Promise<RemovalResult>): Promise<RemovalOutcome> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const user = await users.get(id);
      if (!user) return 'gone';
      const outcome = await act(user);
      if (outcome !== 'changed') return outcome;
    }
    throw new Error(`the user ${id} keeps changing`);
  }

  return {
    suspend: (id) => changeWithRetries(id, (user) => users.suspend(user, now())),
    resume: (id) =>
      changeWithRetries(id, async (user) => {
        if (user.status === 'active') return 'done';
        return (await users.change({ ...user, status: 'active' })) ? 'done' : 'changed';
      }),
    remove: (id) => changeWithRetries(id, (user) => users.remove(user, now())),
    async leaveAccount({ id, email }, account, { isForced = false } = {}) {
      const left = await users.leave({ user: id, account, at: now(), isForced });
      if (left !== 'last_owner') await sessions.removeLinks({ purpose: 'invite', account, email });
      return left;
    },
  };
}
