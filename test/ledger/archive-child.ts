// A process that archives and is killed like kill -9 right before or after one of its calls to the store: `archive-child.ts
// URL FILE BEFORE STEP`. It prints each call that it makes; without a step it runs to the end.
import { archiveLedger } from '../../lib/ledger/archive.ts';
import { openStore } from '../../lib/store/open.ts';
import { mapCalls } from '../../lib/store/port-calls.ts';

const [, , url = '', file = '', before = '', step = ''] = process.argv;
const store = await openStore(url);
const seen = new Map<string, number>();

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

const killed = mapCalls(store, (call, { port, name }) => async (...args) => {
  const label = `${port}.${name}`;
  const count = (seen.get(label) ?? 0) + 1;
  seen.set(label, count);
  process.stdout.write(`${label} ${count}\n`);
  if (step === `before ${label} ${count}`) await die();
  const result = await call(...args);
  if (step === `after ${label} ${count}`) await die();
  return result;
});
await archiveLedger(killed, { before: Number(before), file });
await store.close();
