// People who leave: suspended, removed, or no longer an owner of an account; whatever would let them in ends at once.
import type { SessionStore } from '../store/ports/sessions.ts';
import type { RemovalResult, User, UserStore } from '../store/ports/users.ts';

export interface DeparturesOptions {
  readonly store: { readonly sessions: SessionStore; readonly users: UserStore };
  readonly now?: () => number;
}

/** `gone`: there is no such person any more; `last_operator`: nobody would be left to run the service. */
export type DepartureOutcome = 'done' | 'gone' | 'last_operator';

export interface Departures {
  /** Their sessions and one-time links end, and they cannot sign in until they are resumed. */
  suspend(id: string): Promise<DepartureOutcome>;
  resume(id: string): Promise<DepartureOutcome>;
  /** As `suspend`, for good: their memberships end too, and their address is free. */
  remove(id: string): Promise<DepartureOutcome>;
  /** Ends a membership, and invitations to the same account that were not used yet; false if there was none. */
  removeOwner(user: User, account: string): Promise<boolean>;
}

/** Somebody who signs in or changes their settings meanwhile makes an attempt fail. */
const ATTEMPTS = 5;

export function createDepartures({ store: { sessions, users }, now = Date.now }: DeparturesOptions): Departures {
  async function change(id: string, act: (user: User) => Promise<RemovalResult>): Promise<DepartureOutcome> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const user = await users.get(id);
      if (!user) return 'gone';
      const outcome = await act(user);
      if (outcome !== 'changed') return outcome;
    }
    throw new Error(`the user ${id} keeps changing`);
  }

  return {
    suspend: (id) => change(id, (user) => users.suspend(user)),
    resume: (id) =>
      change(id, async (user) => {
        if (user.status === 'active') return 'done';
        return (await users.change({ ...user, status: 'active' })) ? 'done' : 'changed';
      }),
    remove: (id) => change(id, (user) => users.remove(user, now())),
    async removeOwner({ id, email }, account) {
      const left = await users.leave({ user: id, account });
      await sessions.removeLinks({ purpose: 'invite', account, email });
      return left;
    },
  };
}
