// Fills an empty store with a large ledger, past the queue but by its rules: node scripts/fill-ledger.ts URL [ENTRIES]
// One wallet gets most of it, as that of a busy customer; `tollgate ledger verify`, `store backup` and `store copy` are
// then tried on it.
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { type Charge, decide, type Entry, emptyWallet, type Operation, type Wallet } from '../lib/money/decide.ts';
import { type TextPrice, textCost } from '../lib/money/price.ts';
import { chargeRow, entryRow } from '../lib/store/mongodb/rows.ts';
import { openStore } from '../lib/store/open.ts';
import { CHARGE_COLUMNS, ENTRY_COLUMNS } from '../lib/store/sqlite/rows.ts';

const SMALL_WALLETS = 1000;
const SMALL_CALLS = 20;
const CALLS_PER_WRITE = 2000;
const PRICE: TextPrice = { input: 40_000_000n, output: 240_000_000n };
const PRICES = JSON.stringify({ input: `${PRICE.input}`, output: `${PRICE.output}` });
const TOKENS = { input: 1200, output: 4000 };
const RESERVED = 2_000_000n;

interface Rows {
  readonly entries: Entry[];
  readonly charges: Charge[];
  readonly wallet: Wallet;
}

interface Target {
  write(rows: Rows): Promise<void>;
  close(): Promise<void>;
}

const [url = '', wanted = '2000000'] = process.argv.slice(2);
await fill(url, Number(wanted));

async function fill(databaseUrl: string, entriesWanted: number): Promise<void> {
  const started = performance.now();
  const ids = ['acc_large', ...Array.from({ length: SMALL_WALLETS }, (_, index) => `acc_small_${index}`)];
  const store = await openStore(databaseUrl);
  for (const id of ids) await store.accounts.create({ id, name: id, createdAt: Date.now() });
  await store.close();
  const target = databaseUrl.startsWith('sqlite:') ? openFile(databaseUrl.slice(7)) : await openDatabase(databaseUrl);
  const small = ids.length * (2 * SMALL_CALLS + 1);
  let entries = 0;
  for (const [index, id] of ids.entries()) {
    const calls = index === 0 ? Math.max(1, Math.ceil((entriesWanted - small) / 2)) : SMALL_CALLS;
    for (const rows of historyOf(id, calls)) {
      await target.write(rows);
      entries += rows.entries.length;
    }
  }
  await target.close();
  console.log(`${entries} entries of ${ids.length} wallets in ${Math.round((performance.now() - started) / 1000)} s`);
}

/** A payment, then calls, each a hold and its charge. */
function* historyOf(id: string, calls: number): Generator<Rows> {
  const rows = { entries: [] as Entry[], charges: [] as Charge[], wallet: emptyWallet(id) };
  const at = Date.now();
  const add = (op: Operation, charge?: Charge) => {
    const decision = decide({ wallet: rows.wallet, charge, prior: undefined }, op);
    if (!decision.entry || !decision.wallet) throw new Error(`the ledger answered ${decision.status}`);
    rows.entries.push(decision.entry);
    rows.wallet = decision.wallet;
    return decision.charge;
  };
  const amount = RESERVED * BigInt(calls + 500);
  add({ kind: 'topup', wallet: id, at, amount, paymentId: `pay_${id}` });
  const used = {
    amount: textCost(PRICE, TOKENS),
    usage: JSON.stringify({ tokens_input: TOKENS.input, tokens_output: TOKENS.output }),
  };
  for (let call = 0; call < calls; call += 1) {
    const charge = { wallet: id, at: at + call, chargeId: `req_${id}_${call}` };
    const start = { key: 'key_1', chargeKind: 'text', model: 'model-1', prices: PRICES, amount: RESERVED } as const;
    const held = add({ kind: 'reserve', ...charge, ...start, owner: 'own_1', lease: at });
    rows.charges.push(add({ kind: 'settle', ...charge, ...used }, held) as Charge);
    if (rows.charges.length < CALLS_PER_WRITE && call < calls - 1) continue;
    yield { ...rows };
    rows.entries = [];
    rows.charges = [];
  }
}

function openFile(path: string): Target {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA synchronous = OFF');
  const marks = (columns: string) => columns.replace(/\w+/g, '?');
  const entry = db.prepare(`INSERT INTO entries (${ENTRY_COLUMNS}) VALUES (${marks(ENTRY_COLUMNS)})`);
  const charge = db.prepare(`INSERT INTO charges (${CHARGE_COLUMNS}) VALUES (${marks(CHARGE_COLUMNS)})`);
  const wallet = db.prepare(
    'UPDATE wallets SET avail = ?, held = ?, charged = ?, topped = ?, adjusted = ?, seq = ? WHERE id = ?',
  );
  return {
    async write({ entries, charges, wallet: { id, avail, held, charged, topped, adjusted, seq } }) {
      db.exec('BEGIN IMMEDIATE');
      for (const row of charges) charge.run(...(valuesOf(row, CHARGE_COLUMNS) as string[]));
      for (const row of entries) entry.run(...(valuesOf(row, ENTRY_COLUMNS) as string[]));
      wallet.run(avail, held, charged, topped, adjusted, seq, id);
      db.exec('COMMIT');
    },
    close: async () => db.close(),
  };
}

/** Columns are named as the fields, but for the case of their letters. */
function valuesOf(row: object, columns: string): readonly unknown[] {
  const fields = new Map(Object.entries(row));
  return columns.split(', ').map((column) => fields.get(column.replace(/_([a-z])/g, (_, c) => c.toUpperCase())));
}

async function openDatabase(databaseUrl: string): Promise<Target> {
  const client = await MongoClient.connect(databaseUrl, { useBigInt64: true });
  const db = client.db();
  return {
    async write({ entries, charges, wallet: { id, ...balances } }) {
      const fast = { ordered: false, writeConcern: { w: 1 } };
      await db.collection('charges').insertMany(charges.map(chargeRow), fast);
      await db.collection('entries').insertMany(entries.map(entryRow), fast);
      await db.collection<{ _id: string }>('wallets').updateOne({ _id: id }, { $set: balances });
    },
    close: () => client.close(),
  };
}
