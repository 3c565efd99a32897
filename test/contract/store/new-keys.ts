// New keys: no more than so many within a time, of those that have ended, too.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { AT, newAccount, newId, type StoreContext } from './context.ts';

const MAX = 10;

function newKey(account: string, createdAt = AT) {
  const id = newId('key');
  return { id, account, name: 'laptop', hash: createHash('sha256').update(id).digest('hex'), last4: 'Ab9z', createdAt };
}

export function newKeysContract(context: StoreContext): void {
  it('adds and replaces no more than so many new keys within a time, ended ones included', async () => {
    const { keys } = context.store;
    const account = await newAccount(context.store);
    const fresh = { most: 3, withinMs: 100 };
    const issue = (at: number) => keys.add(newKey(account, at), MAX, fresh);
    const key = newKey(account);
    expect(await keys.add(key, MAX, fresh)).to.equal('added');
    const replace = (at: number) => keys.replace(key.id, { ...newKey(account, at), endsAt: AT + 1000 }, MAX, fresh);
    expect(await replace(AT + 10)).to.equal('replaced');
    expect(await issue(AT + 20)).to.equal('added');
    for (const { id } of (await keys.list(account)).slice(1)) await keys.revoke(id, AT + 30);
    expect([await issue(AT + 40), await replace(AT + 40)]).to.deep.equal(['too_many_new', 'too_many_new']);
    expect(await keys.list(account)).to.have.length(3);
    const other = await newAccount(context.store);
    expect(await keys.add(newKey(other, AT + 40), MAX, fresh)).to.equal('added');
    expect(await issue(AT + 100)).to.equal('added');
    expect(await issue(AT + 101)).to.equal('too_many_new');
    // A clock that was ahead does not block the account until that time has come.
    expect([await issue(AT + 10_000), await issue(AT + 111)]).to.deep.equal(['added', 'added']);
  });
}
