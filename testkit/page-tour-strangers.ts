// The tour of the pages without a session: signing in, and the links that were sent to somebody.
import type { At } from './page-tour-management.ts';

export interface Links {
  readonly invite: string;
  readonly operator: string;
  readonly reset: string;
  readonly restore: string;
  readonly demo: string;
  readonly join: string;
}

export function listStrangerStops<Stop>(
  at: At<Stop>,
  { invite, operator, reset, restore, demo }: Links,
): readonly Stop[] {
  const wrong = [
    ['#email', 'nobody@example.com'],
    ['#password', 'not the password'],
    ['main button', true],
  ] as const;
  return [
    at('/login', 'login'),
    at('/login', 'login-wrong', { does: wrong }),
    at('/setup', 'setup-without-a-link'),
    at('/setup', 'setup-invite', { path: invite }),
    at('/setup', 'setup-operator', { path: operator }),
    at('/setup', 'setup-demo', { path: demo }),
    at('/reset', 'reset-ask'),
    at('/reset', 'reset', { path: reset }),
    at('/setup', 'setup-restore', { path: restore }),
    at('/register', 'register'),
    at('/status', 'status'),
    at('/account', 'not-signed-in'),
  ];
}
