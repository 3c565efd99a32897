// Moves the money of calls on a store like a running server, in this process or in an endless one of its own.
import { pathToFileURL } from 'node:url';
import type { HoldOp, Operation, SettleOp } from '../../lib/money/decide.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';

export async function apply(store: Store, ...operations: Operation[]): Promise<void> {
  for (const { status } of await store.ledger.apply(operations)) {
    if (status !== 'done') throw new Error(`an operation was answered ${status}`);
  }
}

export function reserveOf(wallet: string, chargeId: string): HoldOp {
  const at = Date.now();
  return {
    kind: 'reserve',
    wallet,
    chargeId,
    at,
    key: 'key_test',
    chargeKind: 'text',
    model: 'model-1',
    prices: '{"input":"40000000","output":"240000000"}',
    amount: 2_000_000n,
    owner: 'own_test',
    lease: at + 60_000,
  };
}

export function settleOf(wallet: string, chargeId: string, amount = 1_240_000n): SettleOp {
  return {
    kind: 'settle',
    wallet,
    chargeId,
    at: Date.now(),
    amount,
    usage: '{"tokens_input":1000,"tokens_output":5000}',
  };
}

/** Run as a process: writes call after call to a wallet, saying on stdout how many, until it is ended. */
async function writeForever(databaseUrl: string, wallet: string): Promise<void> {
  const store = await openStore(databaseUrl, { inProcess: true });
  for (let count = 0; ; count += 1) {
    await apply(store, reserveOf(wallet, `busy_${count}`));
    await apply(store, { ...settleOf(wallet, `busy_${count}`, 1n), usage: null });
    process.stdout.write(`${count + 1}\n`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await writeForever(process.argv[2]!, process.argv[3]!);
}
