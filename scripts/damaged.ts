// `npm run damaged [-- --store mongodb] [--rounds N]`: what a damaged wallet costs others. Callers hold and settle on
// sound wallets while a call and a sweep keep failing on another wallet: a sound one and a damaged one in alternating
// rounds. The slowest hundredth of the others' holds may be a tenth slower beside the damaged wallet.
import { verifyLedger } from '../lib/ledger/audit.ts';
import { createLedger, type Ledger } from '../lib/ledger/ledger.ts';
import { openStore } from '../lib/store/open.ts';
import { applied, newId, newWallet, RUB, reserve } from '../test/contract/store/context.ts';
import { damageWallet } from '../testkit/damage.ts';
import { startReplicaSet } from '../testkit/replica-set.ts';
import { SQLITE } from '../testkit/stores.ts';
import { readOptions } from './options.ts';

const FUNDS = 1_000_000n;
const CALLERS = 4;
const WALLETS = 2;
const CALLS = 3200;
const DISTURBED_EVERY_MS = 25;
const SLOWER_MAX = 1.1;

const values = readOptions({ store: { type: 'string', default: 'sqlite' }, rounds: { type: 'string', default: '9' } });
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1 || !['sqlite', 'mongodb'].includes(values.store)) {
  process.stderr.write('usage: node scripts/damaged.ts [--store sqlite|mongodb] [--rounds N]\n');
  process.exit(2);
}

const set = values.store === 'mongodb' ? await startReplicaSet({ members: 1 }) : undefined;
const file = set ? undefined : await SQLITE.create();
try {
  process.exitCode = (await compare(set?.url('tollgate') ?? (file as { url: string }).url)) ? 0 : 1;
} finally {
  await set?.stop();
  await file?.remove();
}

async function compare(url: string): Promise<boolean> {
  const store = await openStore(url);
  const others = await Promise.all(Array.from({ length: WALLETS }, () => newWallet(store, FUNDS)));
  const sound = await newWallet(store, FUNDS);
  const damaged = await newWallet(store, FUNDS);
  const log = { warn: () => undefined, error: () => undefined };
  const ledger = createLedger({ store, ownerId: newId('own'), leaseMs: 60_000, log });
  await timesBeside(sound, { ledger, others });

  await applied(store, reserve(damaged, { owner: 'gone', lease: 1, at: 1 }));
  const repair = await damageWallet(url, damaged, { held: -3n * RUB, avail: 3n * RUB });
  const beside: Record<'sound' | 'damaged', number[][]> = { sound: [], damaged: [] };
  for (let round = 0; round < rounds; round += 1) {
    beside.sound.push(await timesBeside(sound, { ledger, others }));
    beside.damaged.push(await timesBeside(damaged, { ledger, others }));
  }
  await repair();
  const left = await ledger.drain(40_000);
  const { ok } = await verifyLedger(store);
  await store.close();
  const before = computeP99(beside.sound);
  const during = computeP99(beside.damaged);
  console.log(`${rounds} rounds of ${CALLS} calls on ${WALLETS} wallets, ${CALLERS} at once, ${values.store}`);
  console.log(
    `p99 of a hold beside a sound wallet: ${before.toFixed(2)} ms, beside a damaged one: ${during.toFixed(2)} ms`,
  );
  console.log(`after the repair ${left} operations wait, the ledger ${ok ? 'adds up' : 'DOES NOT ADD UP'}`);
  return during <= SLOWER_MAX * before && left === 0 && ok;
}

/** The median of the rounds: a single disk pause in one of them says nothing about the other side. */
function computeP99(all: readonly (readonly number[])[]): number {
  const p99s = all.map((times) => [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] as number);
  return p99s.sort((a, b) => a - b)[Math.floor(p99s.length / 2)] as number;
}

async function timesBeside(
  wallet: string,
  { ledger, others }: { readonly ledger: Ledger; readonly others: readonly string[] },
): Promise<number[]> {
  const timer = setInterval(() => {
    void ledger.expireOrphans({ now: Date.now(), limit: 10 });
    void ledger
      .hold({ ...request(wallet), chargeId: newId('req') })
      .then((hold) => ledger.release(hold))
      .catch(() => undefined);
  }, DISTURBED_EVERY_MS);
  const times: number[] = [];
  const call = async (index: number) => {
    for (let left = CALLS / CALLERS; left > 0; left -= 1) {
      const startedAt = performance.now();
      const hold = await ledger.hold(request(others[index % WALLETS] as string));
      times.push(performance.now() - startedAt);
      await ledger.settle(hold, { amount: RUB / 2n, usage: { tokens_input: 1, tokens_output: 1 } });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => call(index)));
  clearInterval(timer);
  return times;
}

function request(wallet: string) {
  return { chargeId: newId('req'), wallet, key: 'key', kind: 'text', model: 'm', prices: '{}', amount: RUB } as const;
}
