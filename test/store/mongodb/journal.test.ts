// What the audit gets to know about MongoDB rows without the row they belong to.
import { expect } from 'chai';
import { Collection, MongoClient } from 'mongodb';
import { MONGODB } from '../../../testkit/stores.ts';
import {
  AT,
  applied,
  charge,
  newAccount,
  newAttempt,
  newId,
  newWallet,
  problemsOf,
  reserve,
  settle,
  useStore,
} from '../../contract/store/context.ts';

describe('MongoDB: the journal', () => {
  const context = useStore(MONGODB);

  async function remove(collection: string, _id: string): Promise<void> {
    const client = await MongoClient.connect(context.url);
    await client.db().collection<{ _id: string }>(collection).deleteOne({ _id });
    await client.close();
  }

  it('reports charges whose first entry is missing', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const held = 'req_a';
    const charged = 'req_b';
    const whole = 'req_c';
    await applied(store, reserve(wallet, { chargeId: held }), charge(wallet, { chargeId: charged }));
    await applied(store, reserve(wallet, { chargeId: whole }), settle(wallet, held));
    await remove('entries', `reserve:${held}`);
    await remove('entries', `charge:${charged}`);
    const found = [held, charged].map((id) => ({ id, wallet }));
    expect(await store.journal.unknownCharges('', 10)).to.deep.equal({ found });
    expect(await store.journal.unknownCharges('', 1)).to.deep.equal({ found: found.slice(0, 1), next: held });
    expect(await store.journal.unknownCharges(charged, 1)).to.deep.equal({ found: [], next: whole });
  });

  it('does not miss the charge of attempts that an archive removes between two reads', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const id = newId('req');
    await applied(store, reserve(wallet, { chargeId: id }), settle(wallet, id, { attempts: [newAttempt()] }));
    const { find } = Collection.prototype;
    Collection.prototype.find = function (this: Collection, ...args: Parameters<typeof find>) {
      const cursor = find.apply(this, args);
      if (this.collectionName !== 'charges') return cursor;
      const { toArray } = cursor;
      cursor.toArray = async () => {
        Collection.prototype.find = find;
        await remove('charges', id);
        return toArray.call(cursor);
      };
      return cursor;
    } as typeof find;
    try {
      expect(await store.attempts.unknownCharges('', 10)).to.deep.equal({ found: [] });
    } finally {
      Collection.prototype.find = find;
    }
    expect(await store.attempts.unknownCharges('', 10)).to.deep.equal({ found: [{ charge: id, wallet }] });
  });

  it('reports keys whose account is missing', async () => {
    const { accounts, journal, keys } = context.store;
    const there = await newAccount(context.store);
    const gone = await newAccount(context.store);
    for (const account of [there, gone]) {
      await keys.add({ id: newId('key'), account, name: 'n', hash: newId('hash'), last4: 'abcd', createdAt: AT }, 10);
    }
    await remove('accounts', gone);
    expect(await accounts.get(gone)).to.equal(undefined);
    const found = (await journal.keys('', 10)).map(({ account, hasAccount }) => [account, hasAccount]);
    expect(Object.fromEntries(found)).to.deep.equal({ [there]: true, [gone]: false });
  });

  it('reports a wallet whose grants end at another time than is noted for the sweep', async () => {
    const { store, url } = context;
    const [noted, other] = [await newAccount(store), await newAccount(store)];
    const client = await MongoClient.connect(url);
    await client
      .db()
      .collection<{ _id: string }>('wallets')
      .updateOne({ _id: noted }, { $set: { grantsDue: 5 } });
    await client.close();
    expect((await problemsOf(store, noted)).join()).to.match(/grants/);
    expect(await problemsOf(store, other)).to.deep.equal([]);
  });
});
