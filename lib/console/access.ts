// Who in an account may visit which page, and whether they see all of its keys and calls there, or only their own. Every
// page of an account has a line; without one it is refused to everybody.
import { fault } from '../base/faults.ts';
import type { Role } from '../store/ports/users.ts';

export type Sight = 'all' | 'own';

type Sights = Readonly<Partial<Record<Role, Sight>>>;

const OWNERS: Sights = { owner: 'all' };
const CALLERS: Sights = { owner: 'all', member: 'own' };
const PAYERS: Sights = { owner: 'all', accountant: 'all' };
const EVERYBODY: Sights = { owner: 'all', member: 'own', accountant: 'all' };

/** By the path of the route, for reading and for its form. */
export const ACCESS = {
  '/account': EVERYBODY,
  '/account/connect': CALLERS,
  '/account/keys': CALLERS,
  '/account/keys/{id}': CALLERS,
  '/account/keys/{id}/limits': CALLERS,
  '/account/keys/{id}/rotate': CALLERS,
  '/account/keys/{id}/users': CALLERS,
  '/account/keys/management': OWNERS,
  '/account/keys/management/{id}': OWNERS,
  '/account/wallet': PAYERS,
  '/account/wallet/receipt': PAYERS,
  '/account/papers': PAYERS,
  '/account/papers/acts/{month}': PAYERS,
  '/account/papers/invoices/{id}': PAYERS,
  '/account/payments.csv': PAYERS,
  '/account/statement': PAYERS,
  '/account/statement.csv': PAYERS,
  '/account/usage': EVERYBODY,
  '/account/usage.csv': EVERYBODY,
  '/account/calls': CALLERS,
  '/account/calls.csv': CALLERS,
  '/account/calls/refused': CALLERS,
  '/account/calls/{id}': CALLERS,
  '/account/models': CALLERS,
  '/account/playground': CALLERS,
  '/account/playground/text': CALLERS,
  '/account/playground/video': CALLERS,
  '/account/people': OWNERS,
  '/account/people/invitation': OWNERS,
  '/account/people/{id}': OWNERS,
  '/account/people/{id}/remove': OWNERS,
  '/account/people/{id}/hand-over': OWNERS,
  '/account/leave': EVERYBODY,
  '/account/settings': EVERYBODY,
  '/account/settings/export': EVERYBODY,
  '/account/settings/alerts': OWNERS,
} as const satisfies Readonly<Record<string, Sights>>;

export type AccountPath = keyof typeof ACCESS;

/** What somebody with this role sees on a page; undefined if they may not visit it. */
export function findSight(path: string, role: Role): Sight | undefined {
  const sights: Sights | undefined = Object.hasOwn(ACCESS, path) ? ACCESS[path as AccountPath] : undefined;
  return sights?.[role];
}

/** Throws a 403 fault for a page that the role does not include. */
export function requireSight(path: string, role: Role): Sight {
  const sight = findSight(path, role);
  if (!sight) throw fault('role_not_allowed');
  return sight;
}
