// The numbers of batches are kept while a writer may repeat one, and removed a day after the last.
import { expect } from 'chai';
import { DAY_MS } from '../../../lib/base/durations.ts';
import { newAccount, newId } from '../../contract/store/context.ts';
import { useFolder } from './folder.ts';

describe('numbers of batches', () => {
  const folder = useFolder();

  it('are removed a day after the last batch, when a new writer starts', async () => {
    const path = folder.file();
    const store = await folder.open(path);
    const account = await newAccount(store);
    const key = { account, name: 'n', last4: 'abcd', createdAt: 1 };
    await store.keys.add({ ...key, id: 'key_1', hash: newId('hash') }, 10);
    const db = folder.raw(path);
    const insert = db.prepare('INSERT INTO batches (writer, number, at) VALUES (?, 1, ?)');
    insert.run('old', Date.now() - DAY_MS - 60_000);
    insert.run('young', Date.now() - DAY_MS + 60_000);
    const writers = () =>
      db
        .prepare('SELECT writer FROM batches ORDER BY writer')
        .all()
        .map(({ writer }) => writer);
    const use = (writer: string, number: number) =>
      store.keys.use([{ id: 'key_1', count: 1, lastUsedAt: 1 }], { writer, number });
    await use('young', 2);
    expect(writers()).to.deep.equal(['old', 'young']);
    db.prepare('UPDATE batches SET at = ?').run(Date.now() - DAY_MS - 60_000);
    // A repeat counts from now.
    await use('young', 3);
    await use('new', 1);
    expect(writers()).to.deep.equal(['new', 'young']);
  });
});
