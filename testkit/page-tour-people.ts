// The stops of a tour at the pages about people: those of an account, those below a key, and the visitor's own settings.
import type { TestAccount, TestGateway } from './gateway.ts';
import { setUpMember, type Visitor } from './pages.ts';

/** Makes a stop. */
type At<Stop> = (route: string, name: string, more?: More) => Stop;
interface More {
  readonly path?: string;
  /** Who has two accounts and an authenticator app. */
  readonly as?: 'member';
  readonly does?: readonly (readonly [selector: string, value: string | true])[];
}

/** Somebody who accepts an invitation, under a cap, and an invitation that waits. */
export async function inviteColleague(test: TestGateway, { id }: TestAccount, owner: Visitor): Promise<string> {
  const cap = { limit: 250_000_000n, reset: 'month', zone: 'Europe/Moscow' } as const;
  const member = await setUpMember(test, { account: id, role: 'member', cap });
  await owner.submit('/account/people', { email: `new-${id}@example.com`, role: 'accountant' });
  return member.id;
}

interface People {
  /** The id of a member. */
  readonly colleague: string;
  /** The id of a key with a budget for end users. */
  readonly key: string;
  /** The path of an invitation. */
  readonly join: string;
}

export function listPeopleStops<Stop>(at: At<Stop>, { colleague, key, join }: People): readonly Stop[] {
  return [
    at('/account/join', 'join', { path: join }),
    at('/account/join', 'join-none', { path: '/account/join?token=none' }),
    at('/account/keys/{id}/users', 'key-users', { path: `/account/keys/${key}/users` }),
    at('/account/people', 'people'),
    at('/account/people/{id}', 'person', { path: `/account/people/${colleague}` }),
    at('/account/people/{id}/remove', 'person-remove', { path: `/account/people/${colleague}/remove` }),
    at('/account/people/{id}/hand-over', 'person-hand-over', { path: `/account/people/${colleague}/hand-over` }),
    at('/account/leave', 'leave'),
    at('/account/settings', 'settings'),
    at('/account/settings', 'settings-with-app', {
      as: 'member',
      does: [
        ['main details:nth-of-type(1) summary', true],
        ['main details:nth-of-type(2) summary', true],
      ],
    }),
  ];
}
