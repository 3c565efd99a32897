// SQLite in the calling thread: fulfils the store contract without a thread of its own, and does not block other work.
import { expect } from 'chai';
import { longer } from '../../../testkit/long.ts';
import { SQLITE_HERE } from '../../../testkit/stores.ts';
import { keepThreads } from '../../../testkit/threads.ts';
import { newWallet, rejection, walletOf } from '../../contract/store/context.ts';
import { storeContract } from '../../contract/store/contract.ts';
import { ledgerContract } from '../../contract/store/ledger.ts';
import { lifecycleContract } from '../../contract/store/lifecycle.ts';
import { useFolder } from './folder.ts';

/** Commands and most other tests open their stores so: what they do not reach is for the slow tests. */
const contract = longer((kind: typeof SQLITE_HERE) => {
  describe(`${kind.name}: ledger`, () => ledgerContract(kind));
  describe(`${kind.name}: lifecycle`, () => lifecycleContract(kind));
}, storeContract);
contract(SQLITE_HERE);

describe('sqlite in the calling thread', () => {
  const folder = useFolder();

  it('starts no thread', async () => {
    const started: unknown[] = [];
    const onWorker = (worker: unknown) => started.push(worker);
    process.on('worker', onWorker);
    keepThreads(false);
    try {
      const store = await folder.open(folder.file(), { inProcess: true });
      await store.accounts.list();
      await walletOf(store, await newWallet(store));
    } finally {
      process.off('worker', onWorker);
      keepThreads(true);
    }
    expect(started).to.deep.equal([]);
  });

  it('lets timers run between calls', async () => {
    const store = await folder.open(folder.file(), { inProcess: true });
    let ticked = false;
    setTimeout(() => {
      ticked = true;
    }, 1);
    const until = performance.now() + 10_000;
    while (!ticked && performance.now() < until) await store.ping();
    expect(ticked).to.equal(true);
  });

  it('reports to the operator why a file cannot be used', async () => {
    const path = folder.file();
    folder.raw(path).exec('PRAGMA application_id = 1; CREATE TABLE other (id)');
    for (const readOnly of [true, false]) {
      const error = await rejection(folder.open(path, { inProcess: true, readOnly }));
      expect(error).to.have.property('name', 'OperatorError');
    }
  });
});
