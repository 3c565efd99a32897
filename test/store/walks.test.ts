// Walks over a whole store: every account and every owner of keys once, in any number of pages.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { accountIds, createIdLookup, keyOwners } from '../../lib/store/walks.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';

describe('walks over a store', () => {
  let faulty: FaultyStore;
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `acc_${String(index).padStart(4, '0')}`);

  beforeEach(async () => {
    faulty = await openFaultyStore();
  });
  afterEach(() => faulty.close());

  /** Every second one has two keys. */
  function addAccounts(count: number): void {
    const db = new DatabaseSync(faulty.path, { timeout: 5000 });
    const account = db.prepare("INSERT INTO accounts (id, name, created_at) VALUES (?, 'n', 1)");
    const wallet = db.prepare('INSERT INTO wallets (id) VALUES (?)');
    const key = db.prepare(
      `INSERT INTO keys (id, account, name, hash, last4, created_at, reset, zone)
      VALUES (:id, :account, 'n', :id, 'abcd', 1, 'none', 'UTC')`,
    );
    for (const [index, id] of ids(count).entries()) {
      account.run(id);
      wallet.run(id);
      if (index % 2 === 0) for (const name of ['a', 'b']) key.run({ id: `${name}_${id}`, account: id });
    }
    db.close();
  }

  async function all(walk: AsyncGenerator<readonly string[], undefined>): Promise<readonly string[][]> {
    const pages: string[][] = [];
    for await (const page of walk) pages.push([...page]);
    return pages;
  }

  for (const count of [0, 1, 500, 1001, 2100]) {
    it(`visit all of ${count} accounts, and all of those with keys`, async () => {
      addAccounts(count);
      const accounts = await all(accountIds(faulty.store));
      expect(accounts.flat()).to.deep.equal(ids(count));
      const owners = await all(keyOwners(faulty.store));
      expect(owners.flat()).to.deep.equal(ids(count).filter((_, index) => index % 2 === 0));
      for (const page of [...accounts, ...owners]) expect(page.length).to.be.within(1, 500);
    });
  }

  it('are walked in parallel with another list, and end with either', async () => {
    async function* walk(): AsyncGenerator<readonly string[], undefined> {
      for (const page of [['b', 'd'], ['z', '\uffff'], ['😀']]) {
        pages += 1;
        yield page;
      }
      return undefined;
    }
    let pages = 0;
    const known = createIdLookup(walk());
    expect([...(await known([]))]).to.deep.equal([]);
    expect(pages).to.equal(0);
    expect([...(await known(['b', 'a']))]).to.deep.equal(['b']);
    expect(pages).to.equal(1);
    // A wallet may continue on the next page.
    expect([...(await known(['b', 'c', 'd', 'z']))]).to.have.members(['b', 'd', 'z']);
    expect(pages).to.equal(2);
    // In the order of bytes, an emoji comes after U+FFFF.
    expect([...(await known(['\uffff', 'é']))]).to.deep.equal(['\uffff']);
    expect(pages).to.equal(2);
    expect([...(await known(['😀', '😁']))]).to.deep.equal(['😀']);
    expect([...(await known(['😁']))]).to.deep.equal([]);
    expect(pages).to.equal(3);
    async function* together(): AsyncGenerator<readonly string[], undefined> {
      yield ['\uffff', '😀'];
      return undefined;
    }
    const both = createIdLookup(together());
    for (const id of ['\uffff', '😀']) expect([...(await both([id]))]).to.deep.equal([id]);
  });
});
