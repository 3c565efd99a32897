// An archive that is killed between any two of its steps: the ledger adds up at once, and the same command finishes it.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { archiveLedger } from '../../lib/ledger/archive.ts';
import { verifyArchive } from '../../lib/ledger/archive-file.ts';
import { openStore } from '../../lib/store/open.ts';
import { describeLong } from '../../testkit/long.ts';
import { STORES } from '../../testkit/stores.ts';
import { applied, settle } from '../contract/store/context.ts';
import { ago, booksOf, call, expectClean, history, makeFolder } from './archive-rig.ts';

const CHILD = fileURLToPath(new URL('./archive-child.ts', import.meta.url));
const BEFORE = ago(40);

/** The steps in order; two hundred calls are removed in two batches. */
const STEPS = [
  ...['after archives.begin 1', 'after accounts.page 1', 'before archives.put 1', 'after archives.put 1'],
  ...['after archives.open 1', 'before archives.remove 1', 'after archives.remove 1', 'before archives.remove 2'],
  ...['before archives.put 2', 'after archives.put 2'],
];

// `archive-property.test.ts` interrupts runs in its own process.
for (const kind of STORES) {
  describeLong(`${kind.name}: an archive run that is killed`, () => {
    for (const step of STEPS) {
      it(`at the step ${step} is finished by the same command`, async () => {
        const folder = makeFolder();
        const database = await kind.create();
        const store = await openStore(database.url, kind.opening);
        const file = folder.file('calls.gz');
        try {
          const { wallet, held, old } = await history(store, 120);
          const books = await booksOf(store, wallet);
          expect(await run(database.url, file, step)).to.equal('SIGKILL');
          expect(await booksOf(store, wallet)).to.deep.equal(books);
          await expectClean(store);
          await call(store, wallet, Date.now());
          await applied(store, settle(wallet, held));
          await expectClean(store);
          const isOver = (await store.archives.list()).some(({ state }) => state === 'done');
          const done = isOver ? undefined : await archiveLedger(store, { before: BEFORE, file });
          if (done) expect(done.calls).to.equal(old.length - 1);
          expect((await verifyArchive(file)).totals.calls).to.equal(old.length - 1);
          const left = await Promise.all(old.map((id) => store.ledger.charge(id)));
          expect(left.filter(Boolean)).to.have.length(1);
          await expectClean(store);
          expect(existsSync(file)).to.equal(true);
        } finally {
          await store.close();
          await database.remove();
          folder.remove();
        }
      });
    }

    it('lists every step of an uninterrupted run', async () => {
      const folder = makeFolder();
      const database = await kind.create();
      const store = await openStore(database.url, kind.opening);
      try {
        await history(store, 120);
        expect(await run(database.url, folder.file('calls.gz'), '')).to.equal(null);
        expect(readdirSync(folder.path)).to.deep.equal(['calls.gz']);
      } finally {
        await store.close();
        await database.remove();
        folder.remove();
      }
    });
  });
}

/** Resolves to the signal that ended the process. */
function run(url: string, file: string, step: string): Promise<string | null> {
  const child = spawn(process.execPath, [CHILD, url, file, `${BEFORE}`, step], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
}
