// Alerts to the operators of the service, by email and in Telegram: stored and delivered like those of an account of this
// name.
import type { User } from '../store/ports/users.ts';
import type { Store } from '../store/store.ts';
import { walkPages } from '../store/walks.ts';

/** Not the id of an account: those have a prefix. */
export const OPERATORS = 'operators';

const USERS_PER_PAGE = 500;

export async function listOperators({ users }: Pick<Store, 'users'>): Promise<readonly User[]> {
  const found: User[] = [];
  for await (const page of walkPages(USERS_PER_PAGE, users.page, ({ id }) => id))
    found.push(...page.filter(isActiveOperator));
  return found;
}

export function isActiveOperator({ operator, status }: User): boolean {
  return operator && status === 'active';
}
