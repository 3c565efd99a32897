// What the audit is told of MongoDB rows that no other row vouches for.
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { MONGODB } from '../../../testkit/stores.ts';
import { AT, newAccount, newId, useStore } from '../../contract/store/context.ts';

describe('MongoDB: the journal', () => {
  const context = useStore(MONGODB);

  it('tells of keys whose account is gone', async () => {
    const { accounts, journal, keys } = context.store;
    const [there, gone] = [await newAccount(context.store), await newAccount(context.store)];
    for (const account of [there, gone]) {
      await keys.add({ id: newId('key'), account, name: 'n', hash: newId('hash'), last4: 'abcd', createdAt: AT }, 10);
    }
    const client = await MongoClient.connect(context.url);
    await client.db().collection<{ _id: string }>('accounts').deleteOne({ _id: gone });
    await client.close();
    expect(await accounts.get(gone)).to.equal(undefined);
    const found = (await journal.keys('', 10)).map(({ account, hasAccount }) => [account, hasAccount]);
    expect(Object.fromEntries(found)).to.deep.equal({ [there]: true, [gone]: false });
  });
});
