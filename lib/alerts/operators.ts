// Alerts to the operators of the service, by email and in Telegram: stored and delivered like those of an account of this
// name.
import type { User } from '../store/ports/users.ts';
import type { Store } from '../store/store.ts';

/** Not the id of an account: those have a prefix. */
export const OPERATORS = 'operators';

const USERS_PER_PAGE = 500;

export async function listOperators({ users }: Pick<Store, 'users'>): Promise<readonly User[]> {
  const found: User[] = [];
  for (let after = ''; ; ) {
    const page = await users.page({ after, limit: USERS_PER_PAGE });
    found.push(...page.filter(isActiveOperator));
    const last = page.at(-1);
    if (!last) return found;
    after = last.id;
  }
}

export function isActiveOperator({ operator, status }: User): boolean {
  return operator && status === 'active';
}
