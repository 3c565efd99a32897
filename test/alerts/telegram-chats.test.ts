// How a chat is set beside other changes to its user.
import { expect } from 'chai';
import { changeChat } from '../../lib/alerts/telegram-chats.ts';
import type { User } from '../../lib/store/ports/users.ts';
import { rejection } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

describe('the chat of a user who changes at the same time', () => {
  const chat = { id: '7', name: 'Anna' };

  /** Of which as many changes as given come too late. */
  function makeUsers(user: User, late: number) {
    const written: User[] = [];
    const change = async (next: User) => written.push(next) > late;
    return { written, users: { get: async () => user, change } };
  }

  it('is set or removed by the fifth try', async () => {
    for (const telegram of [chat, undefined]) {
      const user = makeUser({ telegram: { id: '1', name: 'before' } });
      const { users, written } = makeUsers(user, 4);
      expect(await changeChat(users, user.id, telegram)).to.equal(user);
      expect([written.length, written.at(-1)?.telegram]).to.deep.equal([5, telegram]);
    }
  });

  it('is given up after it', async () => {
    const { users, written } = makeUsers(makeUser(), 9);
    expect(await rejection(changeChat(users, 'usr_1', chat)))
      .to.have.property('message')
      .that.contains('keeps changing');
    expect(written).to.have.length(5);
  });

  it('is not set for one who is suspended or gone', async () => {
    for (const user of [makeUser({ status: 'suspended' }), undefined]) {
      const users = { get: async () => user, change: async () => expect.fail('it was changed') };
      expect(await changeChat(users, 'usr_1', chat)).to.equal(undefined);
    }
  });
});
