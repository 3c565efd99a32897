// Threads that outlive their store: the next store reuses them, and only if the tests enable it.
import { expect } from 'chai';
import { itLong } from '../../../testkit/long.ts';
import { keepThreads } from '../../../testkit/threads.ts';
import { newAccount } from '../../contract/store/context.ts';
import { useFolder, useWorkers } from './folder.ts';

describe('threads of closed stores', () => {
  const folder = useFolder();
  const workers = useWorkers();
  const writer = () => workers.last('tollgate-writer');
  /** Creates an account, and counts all of them. */
  const use = async (path: string): Promise<number> => {
    const store = await folder.open(path);
    await newAccount(store);
    const { length } = await store.accounts.list();
    await store.close();
    return length;
  };

  afterEach(() => keepThreads(false));

  it('end with it', async () => {
    await use(folder.file());
    expect(writer).to.throw('no thread');
  });

  it('serve the next store, on its own database', async () => {
    keepThreads(true);
    const one = folder.file();
    const other = folder.file();
    expect(await use(one)).to.equal(1);
    const first = writer();
    expect([await use(other), await use(one)]).to.deep.equal([1, 2]);
    expect(writer()).to.equal(first);
  });

  it('serve one store at a time', async () => {
    keepThreads(true);
    await use(folder.file());
    const first = writer();
    await folder.open(folder.file());
    expect(writer()).to.equal(first);
    await folder.open(folder.file());
    expect(writer()).not.to.equal(first);
  });

  itLong('are not reused once they have ended', async () => {
    keepThreads(true);
    await use(folder.file());
    const first = writer();
    await first.terminate();
    expect(await use(folder.file())).to.equal(1);
    expect(writer()).not.to.equal(first);
  });

  itLong('are reused after a failed opening', async () => {
    keepThreads(true);
    await use(folder.file());
    const path = folder.file();
    folder.raw(path).exec('PRAGMA application_id = 1; CREATE TABLE other (id)');
    const refused = await folder.open(path).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error).with.property('message').that.contains(path);
    expect(await use(folder.file())).to.equal(1);
  });

  itLong('end after their idle time', async () => {
    keepThreads(true);
    await use(folder.file());
    const exited = new Promise((resolve) => writer().once('exit', resolve));
    keepThreads(false);
    await exited;
  });
});
