// Signing in while the access is being revoked: a session that starts too late does not survive.
import { expect } from 'chai';
import type { User } from '../../lib/store/ports/users.ts';
import { createPeople } from '../../lib/users/people.ts';
import { makeTotpSecret } from '../../lib/users/totp.ts';
import { createUserRemoval } from '../../lib/users/user-removal.ts';
import { createVisitor, PASSWORD } from '../../testkit/pages.ts';
import { after as behind, openPages, type Pages } from './stage.ts';

const OTHER_PASSWORD = 'seven boats on a pond';

describe('signing in', () => {
  let pages: Pages;

  before(async () => {
    pages = await openPages();
  });
  after(() => pages.close());

  async function owner(): Promise<User> {
    const { email } = await pages.owner();
    const user = await pages.faults.real.users.find(email);
    if (!user) throw new Error('there is no owner');
    return user;
  }
  const listSessions = ({ id }: User) => pages.faults.real.sessions.list(id);

  const people = () => createPeople({ store: pages.faults.real });
  const changes: readonly (readonly [string, (user: User) => Promise<unknown>])[] = [
    ['the password was changed', (user) => people().setPassword(user, OTHER_PASSWORD)],
    [
      'an app was set up',
      async (user) => {
        await people().change({ ...user, totpSecret: makeTotpSecret() });
        await pages.faults.real.sessions.removeUserSessions(user.id);
      },
    ],
    ['the person was suspended', ({ id }) => createUserRemoval({ store: pages.faults.real }).suspend(id)],
    ['the person was removed', ({ id }) => createUserRemoval({ store: pages.faults.real }).remove(id)],
  ];

  for (const [what, change] of changes) {
    it(`starts no session with a password checked before ${what}`, async () => {
      const user = await owner();
      const visitor = createVisitor(pages.url);
      pages.faults.next(
        'sessions.add',
        behind(() => change(user)),
      );
      const reply = await visitor.submit('/login', { email: user.email, password: PASSWORD, code: '' });
      expect(reply.status).to.equal(403);
      expect(visitor.cookies.has('session')).to.equal(false);
      expect(await listSessions(user)).to.deep.equal([]);
    });
  }

  it('starts a session if only the language changed meanwhile', async () => {
    const user = await owner();
    const visitor = createVisitor(pages.url);
    pages.faults.next(
      'sessions.add',
      behind(() => people().change({ ...user, language: 'ru' })),
    );
    const reply = await visitor.submit('/login', { email: user.email, password: PASSWORD, code: '' });
    expect(reply.status).to.equal(303);
    expect((await visitor.get('/account')).status).to.equal(200);
  });

  it('starts no session by a link after another link was used', async () => {
    const user = await owner();
    const token = await people().makeLink({ purpose: 'reset', user: user.id, email: user.email });
    const visitor = createVisitor(pages.url);
    pages.faults.next(
      'sessions.add',
      behind(async () => {
        const latest = await pages.faults.real.users.get(user.id);
        if (latest) await people().setPassword(latest, OTHER_PASSWORD);
      }),
    );
    const reply = await visitor.submit(`/reset?token=${token}`, { password: PASSWORD, again: PASSWORD });
    expect(reply.status).to.equal(403);
    expect(await listSessions(user)).to.deep.equal([]);
  });
});
