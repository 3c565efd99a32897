// A separate process on a SQLite store, for what a test cannot do to its own process.
import { openSqliteStore } from '../../../lib/store/sqlite/store.ts';
import { StoreError } from '../../../lib/store/store.ts';
import { newId, reserve } from '../../contract/store/context.ts';

const [, , task, path = '', wallet = ''] = process.argv;
const store = await openSqliteStore(path);
switch (task) {
  case 'open':
    break;
  case 'forget':
    // Ends without closing the store.
    await store.ping();
    break;
  case 'busy':
    await writeUntilKilled();
    break;
  case 'fill':
    await writeUntilFull();
    break;
  case 'twice':
    await createTwice();
}

/** Makes an account twice, then another one: tells what became of the second and the last. */
async function createTwice(): Promise<void> {
  const create = (id: string) => store.accounts.create({ id, name: id, createdAt: 1 });
  await create('one');
  const second = await create('one').catch((error: unknown) => error);
  const last = await create('two').then(
    () => 'done',
    (error: unknown) => String(error),
  );
  process.send?.({ applied: second instanceof StoreError ? second.applied : String(second), last });
  process.disconnect?.();
}

async function writeUntilKilled(): Promise<never> {
  process.send?.('ready');
  while (true) await store.ledger.apply(Array.from({ length: 64 }, () => reserve(wallet, { amount: 1n })));
}

/** Writes until the file may not grow any more; tells what was acknowledged, what was not, and whether it still reads. */
async function writeUntilFull(): Promise<void> {
  const acknowledged: string[] = [];
  while (true) {
    const ids = Array.from({ length: 64 }, () => newId('req'));
    try {
      await store.ledger.apply(ids.map((chargeId) => reserve(wallet, { chargeId, amount: 1n })));
      acknowledged.push(...ids);
    } catch (error) {
      const { name, applied } = error instanceof StoreError ? error : { name: String(error), applied: '' };
      const seq = (await store.ledger.wallet(wallet))?.seq;
      process.send?.({ acknowledged, open: ids, name, applied, seq });
      process.disconnect?.();
      return;
    }
  }
}
