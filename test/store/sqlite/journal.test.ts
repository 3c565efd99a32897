// Charges without an entry and keys without an account, as damage leaves them: found wherever a page ends.
import { expect } from 'chai';
import { AT, applied, charge, newWallet } from '../../contract/store/context.ts';
import { useFolder } from './folder.ts';

describe('charges that no entry creates', () => {
  const folder = useFolder();

  it('are found once each in pages of any size', async () => {
    const path = folder.file();
    const store = await folder.open(path);
    const wallet = await newWallet(store);
    for (const chargeId of ['b', 'd', 'f']) await applied(store, charge(wallet, { chargeId }));
    const lost = ['a', 'c', 'e', 'g'];
    const insert = folder.raw(path).prepare(
      `INSERT INTO charges (id, wallet, key, kind, state, reserved, charged, model, prices, created_at, ended_at)
      VALUES (?, ?, 'key_1', 'video', 'settled', 1, 1, 'm', '{}', ${AT}, ${AT})`,
    );
    for (const id of lost) insert.run(id, wallet);
    for (const limit of [1, 2, 3, 7, 8]) {
      const found: string[] = [];
      let after: string | undefined = '';
      while (after !== undefined) {
        const page: Awaited<ReturnType<typeof store.journal.unknownCharges>> = await store.journal.unknownCharges(
          after,
          limit,
        );
        for (const row of page.found) {
          expect(row.wallet).to.equal(wallet);
          found.push(row.id);
        }
        after = page.next;
      }
      expect(found, `pages of ${limit}`).to.deep.equal(lost);
    }
  });
});

describe('keys as the audit reads them', () => {
  const folder = useFolder();

  it('are reported if damage has removed their account', async () => {
    const path = folder.file();
    const store = await folder.open(path);
    const account = await newWallet(store);
    const insert = folder.raw(path).prepare(
      `INSERT INTO keys (id, account, name, hash, last4, created_at, reset, zone)
      VALUES (?1, ?2, 'n', ?1, 'abcd', 1, 'none', 'UTC')`,
    );
    insert.run('key_a', account);
    insert.run('key_b', 'acc_gone');
    const found = (await store.journal.keys('', 10)).map(({ id, hasAccount }) => [id, hasAccount]);
    expect(found).to.deep.equal([
      ['key_a', true],
      ['key_b', false],
    ]);
  });
});
