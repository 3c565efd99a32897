// Fills an empty store with a large ledger, bypassing the queue but following its rules. One wallet gets a large part
// of it, like that of a busy customer.
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { type Charge, decide, type Entry, emptyWallet, type Operation, type Wallet } from '../../lib/money/decide.ts';
import { type TextPrice, textCost } from '../../lib/money/price.ts';
import { chargeRow, entryRow } from '../../lib/store/mongodb/rows.ts';
import { CHARGE_COLUMNS, ENTRY_COLUMNS } from '../../lib/store/sqlite/rows.ts';

const FILL_CACHE_KIB = 1_048_576;
const CALLS_PER_WRITE = 2000;
const ENTRIES_PER_WRITE = 4000;
const PRICE: TextPrice = { input: 40_000_000n, output: 240_000_000n };
const PRICES = JSON.stringify({ input: `${PRICE.input}`, output: `${PRICE.output}` });
const TOKENS = { input: 1200, output: 4000 };
const RESERVED = 2_000_000n;
/** For later calls. */
const SPARE = 10n ** 13n;
/** The period over which a wallet's calls are spread. */
const HISTORY_MS = 400 * 24 * 3_600_000;

interface Rows {
  readonly entries: Entry[];
  readonly charges: Charge[];
  readonly wallet: Wallet;
}

interface Target {
  /** Creates the accounts. */
  open(ids: readonly string[]): Promise<void>;
  write(rows: readonly Rows[]): Promise<void>;
  close(): Promise<void>;
}

export interface Filling {
  readonly entries: number;
  /** Wallets besides the large one, which gets the rest. */
  readonly wallets: number;
  /** Of each of them. */
  readonly calls: number;
}

export const LARGE = 'acc_large';
export const smallWallet = (index: number) => `acc_small_${index}`;

/** The key of its calls, which is not created. */
export const keyOf = (wallet: string) => `key_${wallet}`;

/** Resolves to the number of entries. */
export async function fillLedger(databaseUrl: string, { entries: wanted, wallets, calls }: Filling): Promise<number> {
  const ids = [LARGE, ...Array.from({ length: wallets }, (_, index) => smallWallet(index))];
  const target = databaseUrl.startsWith('sqlite:') ? openFile(databaseUrl.slice(7)) : await openDatabase(databaseUrl);
  await target.open(ids);
  const small = wallets * (2 * calls + 1);
  let entries = 0;
  let waiting: Rows[] = [];
  let rows = 0;
  for (const [index, id] of ids.entries()) {
    for (const part of historyOf(id, index === 0 ? Math.max(1, Math.ceil((wanted - small - 1) / 2)) : calls)) {
      waiting.push(part);
      rows += part.entries.length;
      if (rows < ENTRIES_PER_WRITE && index < wallets) continue;
      await target.write(waiting);
      entries += rows;
      [waiting, rows] = [[], 0];
    }
  }
  if (waiting.length > 0) await target.write(waiting);
  await target.close();
  return entries + rows;
}

/** A payment, then calls, each with a hold and its charge. */
function* historyOf(id: string, calls: number): Generator<Rows> {
  const rows = { entries: [] as Entry[], charges: [] as Charge[], wallet: emptyWallet(id) };
  const from = Date.now() - HISTORY_MS;
  const at = (call: number) => from + Math.floor((HISTORY_MS * call) / calls);
  const add = (op: Operation, charge?: Charge) => {
    const decision = decide({ wallet: rows.wallet, charge, prior: undefined }, op);
    if (!decision.entry || !decision.wallet) throw new Error(`the ledger answered ${decision.status}`);
    rows.entries.push(decision.entry);
    rows.wallet = decision.wallet;
    return decision.charge;
  };
  const amount = RESERVED * BigInt(calls) + SPARE;
  add({ kind: 'topup', wallet: id, at: from, amount, paymentId: `pay_${id}` });
  const used = {
    amount: textCost(PRICE, TOKENS),
    usage: JSON.stringify({ tokens_input: TOKENS.input, tokens_output: TOKENS.output }),
  };
  for (let call = 0; call < calls; call += 1) {
    const charge = { wallet: id, at: at(call), chargeId: `req_${id}_${call}` };
    const start = { key: keyOf(id), chargeKind: 'text', model: 'model-1', prices: PRICES, amount: RESERVED } as const;
    const held = add({ kind: 'reserve', ...charge, ...start, owner: 'own_1', lease: from });
    rows.charges.push(add({ kind: 'settle', ...charge, ...used }, held) as Charge);
    if (rows.charges.length < CALLS_PER_WRITE && call < calls - 1) continue;
    yield { ...rows };
    rows.entries = [];
    rows.charges = [];
  }
}

function openFile(path: string): Target {
  const db = new DatabaseSync(path);
  // One transaction without a log: a fill that is interrupted is begun anew.
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  db.exec(`PRAGMA cache_size = -${FILL_CACHE_KIB}`);
  const marks = (columns: string) => columns.replace(/\w+/g, '?');
  const entry = db.prepare(`INSERT INTO entries (${ENTRY_COLUMNS}) VALUES (${marks(ENTRY_COLUMNS)})`);
  const charge = db.prepare(`INSERT INTO charges (${CHARGE_COLUMNS}) VALUES (${marks(CHARGE_COLUMNS)})`);
  const wallet = db.prepare(
    'UPDATE wallets SET avail = ?, held = ?, charged = ?, topped = ?, adjusted = ?, seq = ? WHERE id = ?',
  );
  return {
    async open(ids) {
      const accounts = db.prepare('INSERT INTO accounts (id, name, created_at) VALUES (?1, ?1, ?2)');
      const wallets = db.prepare('INSERT INTO wallets (id) VALUES (?)');
      db.exec('BEGIN');
      for (const id of ids) {
        accounts.run(id, Date.now());
        wallets.run(id);
      }
    },
    async write(all) {
      for (const row of all.flatMap(({ charges }) => charges))
        charge.run(...(valuesOf(row, CHARGE_COLUMNS) as string[]));
      for (const row of all.flatMap(({ entries }) => entries)) entry.run(...(valuesOf(row, ENTRY_COLUMNS) as string[]));
      for (const { id, avail, held, charged, topped, adjusted, seq } of all.map((rows) => rows.wallet)) {
        wallet.run(avail, held, charged, topped, adjusted, seq, id);
      }
    },
    async close() {
      db.exec('COMMIT; PRAGMA journal_mode = WAL');
      db.close();
    },
  };
}

/** Columns are named like the fields, except for letter case. */
function valuesOf(row: object, columns: string): readonly unknown[] {
  const fields = new Map(Object.entries(row));
  return columns.split(', ').map((column) => fields.get(column.replace(/_([a-z])/g, (_, c) => c.toUpperCase())));
}

const FAST = { ordered: false, writeConcern: { w: 1 } };
/** Batches on their way to the server, which has another core. */
const WRITES_AT_ONCE = 3;

async function openDatabase(databaseUrl: string): Promise<Target> {
  const client = await MongoClient.connect(databaseUrl, { useBigInt64: true });
  const db = client.db();
  const running = new Set<Promise<unknown>>();
  const put = async (collection: string, documents: readonly object[]) => {
    if (documents.length === 0) return;
    while (running.size >= WRITES_AT_ONCE) await Promise.race(running);
    const writing = db.collection(collection).insertMany(documents, FAST);
    running.add(writing);
    writing.finally(() => running.delete(writing)).catch(() => undefined);
  };
  return {
    async open(ids) {
      const autoTopup = { enabled: false, amount: 0n, threshold: 0n };
      const accounts = ids.map((_id) => ({ _id, name: _id, createdAt: Date.now(), autoTopup, keysAdded: 0 }));
      const zero = { avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n };
      const wallets = ids.map((_id) => ({ _id, ...zero, seq: 0, status: 'active' }));
      await db.collection<{ _id: string }>('accounts').insertMany(accounts, FAST);
      await db.collection<{ _id: string }>('wallets').insertMany(wallets, FAST);
    },
    async write(all) {
      const charges = all.flatMap((rows) => rows.charges.map(chargeRow));
      const entries = all.flatMap((rows) => rows.entries.map(entryRow));
      await put('charges', charges);
      await put('entries', entries);
      const updates = all.map(({ wallet: { id, status, ...balances } }) => ({
        updateOne: { filter: { _id: id }, update: { $set: balances } },
      }));
      await db.collection<{ _id: string }>('wallets').bulkWrite(updates, FAST);
    },
    async close() {
      await Promise.all(running);
      await client.close();
    },
  };
}
