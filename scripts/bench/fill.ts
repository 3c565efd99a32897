// Fills an empty store with a large ledger, bypassing the queue but following its rules. One wallet gets a large part
// of it, like that of a busy customer. Calls come in the order of time, whichever wallet they are of: the rows of a wallet
// lie as far apart as those of a service that has run for long, and so do those that its indexes get.
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { type Attempt, type NewAttempt, toAttemptRows } from '../../lib/money/attempt.ts';
import { computeCost, convertToRub, serializeCost } from '../../lib/money/cost.ts';
import {
  type Charge,
  createEmptyWallet,
  decide,
  type Entry,
  type Operation,
  type Wallet,
} from '../../lib/money/decide.ts';
import { type TextPrice, textCost } from '../../lib/money/price.ts';
import { CALL_ATTEMPTS, toAttemptDocument } from '../../lib/store/mongodb/attempts.ts';
import { toBalanceFields, toChargeDocument, toEntryDocument } from '../../lib/store/mongodb/rows.ts';
import { openStore } from '../../lib/store/open.ts';
import { createSaveAttempt } from '../../lib/store/sqlite/attempts.ts';
import { CHARGE_COLUMNS, ENTRY_COLUMNS, WALLET_COLUMNS } from '../../lib/store/sqlite/rows.ts';
import type { Store } from '../../lib/store/store.ts';

/** The columns of a wallet that the ledger leaves out when they say nothing. */
const NO_EXTRAS = { playMoney: 0, opened: 0, granted: 0n, grants: null };
const FILL_CACHE_KIB = 1_048_576;
const ROWS_PER_WRITE = 4000;
/** A busy database refuses a step of a fold now and then. */
const FOLD_TRIES = 50;
const PRICE: TextPrice = { input: 40_000_000n, output: 240_000_000n };
const PRICES = JSON.stringify({ input: `${PRICE.input}`, output: `${PRICE.output}` });
const TOKENS = { input: 1200, output: 4000 };
const COST = textCost(PRICE, TOKENS);
const USAGE = JSON.stringify({ tokens_input: TOKENS.input, tokens_output: TOKENS.output });
/** What the vendor takes. */
const VENDOR_PRICE: TextPrice = { input: 400_000n, output: 2_400_000n };
const RATE = 81_400_000n;
const VENDOR_COST = computeCost({ prices: VENDOR_PRICE }, JSON.parse(USAGE)) ?? 0n;
const VENDOR_PRICES = serializeCost(VENDOR_PRICE);
const RESERVED = 2_000_000n;
/** For later calls. */
const SPARE = 10n ** 13n;
/** The period over which the calls are spread. */
const HISTORY_MS = 400 * 24 * HOUR_MS;
const MODEL = 'model-1';
const FAILED_EVERY = 50;

interface Rows {
  readonly entries: Entry[];
  readonly charges: Charge[];
  readonly attempts: Attempt[];
}

interface Target {
  /** With empty wallets. */
  addAccounts(ids: readonly string[]): Promise<void>;
  write(rows: Rows): Promise<void>;
  /** As they are after everything. */
  saveWallets(wallets: readonly Wallet[]): Promise<void>;
  close(): Promise<void>;
}

export interface Filling {
  readonly entries: number;
  /** Wallets besides the large one, which gets the rest. */
  readonly wallets: number;
  /** Of each of them. */
  readonly calls: number;
  /** Small wallets in all, between which those lie evenly; the others are empty. By default there are no others. */
  readonly accounts?: number;
  /** So many models and keys of each wallet take turns, and one call in 50 fails. */
  readonly variety?: Variety;
}

interface Variety {
  readonly models: number;
  readonly keys: number;
}

export const LARGE = 'acc_large';
const smallWallet = (index: number) => `acc_small_${index}`;

/** The small wallets that have calls. */
export function smallWallets({
  wallets,
  accounts = wallets,
}: Pick<Filling, 'wallets' | 'accounts'>): readonly string[] {
  return Array.from({ length: wallets }, (_, index) => smallWallet(Math.floor((index * accounts) / wallets)));
}

/** The key of its calls, which is not created. */
export const nameKey = (wallet: string) => `key_${wallet}`;

/** One of its keys, if they take turns. */
export const nameVariedKey = (wallet: string, number: number) => `${nameKey(wallet)}_${number}`;

/** Models and keys with lower numbers have more calls. */
function chooseNumber(call: number, count: number): number {
  return Math.floor((((call * 2654435761) % 1000) / 1000) ** 2 * count);
}

/** Must be done before the store is filled. */
export async function addAccounts(databaseUrl: string, { wallets, accounts = wallets }: Filling): Promise<void> {
  const target = await openTarget(databaseUrl);
  await target.addAccounts([LARGE, ...Array.from({ length: accounts }, (_, index) => smallWallet(index))]);
  await target.close();
}

/** Resolves to the number of entries. */
export async function fillLedger(databaseUrl: string, filling: Filling): Promise<number> {
  const target = await openTarget(databaseUrl);
  const small = smallWallets(filling);
  const history = createHistory([LARGE, ...small], filling.variety);
  let entries = 0;
  const flush = async () => {
    const rows = history.take();
    entries += rows.entries.length;
    await target.write(rows);
  };
  for (const [wallet, at] of generateCalls(filling, small)) {
    history.addCall(wallet, at);
    if (history.size() >= ROWS_PER_WRITE) await flush();
  }
  await flush();
  await target.saveWallets(history.wallets());
  await target.close();
  const store = await openStore(databaseUrl);
  for (const wallet of [LARGE, ...small]) await foldWhole(store, wallet);
  await store.close();
  return entries;
}

/** Otherwise a gateway would do it for minutes after its start. Each try goes on where the last one ended. */
async function foldWhole(store: Store, wallet: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return void (await foldUsage(store, wallet));
    } catch (error) {
      if (tries === FOLD_TRIES) throw error;
    }
  }
}

/** Whose each call is and when it is; those of the large wallet are spread evenly between the others. */
function* generateCalls(
  { entries, wallets, calls }: Filling,
  ids: readonly string[],
): Generator<readonly [wallet: string, at: number]> {
  const small = wallets * calls;
  const large = Math.max(1, Math.ceil((entries - 2 * small - wallets - 1) / 2));
  const all = small + large;
  const from = Date.now() - HISTORY_MS;
  let next = 0;
  for (let call = 0; call < all; call += 1) {
    const isLarge = Math.floor(((call + 1) * large) / all) > Math.floor((call * large) / all);
    const wallet = isLarge ? LARGE : (ids[next++ % wallets] as string);
    yield [wallet, from + Math.floor((HISTORY_MS * call) / all)];
  }
}

/** A payment of each wallet, then calls, each with a hold and its charge. */
function createHistory(ids: readonly string[], variety?: Variety) {
  const wallets = new Map<string, Wallet>();
  let rows: Rows = { entries: [], charges: [], attempts: [] };
  const add = (op: Operation, charge?: Charge) => {
    const wallet = wallets.get(op.wallet) ?? createEmptyWallet(op.wallet);
    const decision = decide({ wallet, charge, prior: undefined }, op);
    if (!decision.entry || !decision.wallet) throw new Error(`the ledger answered ${decision.status}`);
    rows.entries.push(decision.entry);
    wallets.set(op.wallet, decision.wallet);
    return decision.charge;
  };
  const paidAt = Date.now() - HISTORY_MS;
  for (const wallet of ids) add({ kind: 'topup', wallet, at: paidAt, amount: SPARE, paymentId: `pay_${wallet}` });

  let calls = 0;
  function addCall(wallet: string, at: number): void {
    calls += 1;
    const charge = { wallet, at, chargeId: makeId(at, calls) };
    const model = variety ? `model-${chooseNumber(calls, variety.models) + 1}` : MODEL;
    const start = {
      key: variety ? nameVariedKey(wallet, chooseNumber(calls * 7 + 3, variety.keys)) : nameKey(wallet),
      chargeKind: 'text',
      model,
      prices: PRICES,
      amount: RESERVED,
    } as const;
    const held = add({ kind: 'reserve', ...charge, ...start, owner: 'own_1', lease: at });
    const isFailed = variety && calls % FAILED_EVERY === 0;
    const ended = isFailed
      ? add({ kind: 'release', ...charge }, held)
      : add({ kind: 'settle', ...charge, amount: COST, usage: USAGE }, held);
    rows.charges.push(ended as Charge);
    const attempt = isFailed ? makeFailedAttempt(at, model) : makeAttempt(at, model);
    rows.attempts.push(...toAttemptRows({ charge: charge.chargeId, wallet }, [attempt]));
  }

  return {
    addCall,
    size: () => rows.entries.length,
    take(): Rows {
      const taken = rows;
      rows = { entries: [], charges: [], attempts: [] };
      return taken;
    },
    wallets: () => [...wallets.values()],
  };
}

function makeFailedAttempt(at: number, model: string): NewAttempt {
  const { cost: _, usage: __, ...attempt } = makeAttempt(at, model);
  return {
    ...attempt,
    ending: 'failed',
    reason: '503 overloaded',
    firstMs: null,
    usage: null,
    certainty: 'none',
    cost: null,
  };
}

/** Of a call that was answered in full. */
export function makeAttempt(at: number, model = MODEL): NewAttempt {
  const cost = {
    currency: 'USD',
    prices: VENDOR_PRICES,
    rate: RATE,
    cost: VENDOR_COST,
    costRub: convertToRub(VENDOR_COST, RATE),
  };
  return {
    model,
    upstream: 'vendor',
    upstreamModel: 'vendor-model-1',
    keyPlace: 1,
    requestId: `chatcmpl-${at.toString(36)}`,
    at,
    ending: 'answered',
    firstMs: 400,
    totalMs: 9000,
    usage: USAGE,
    certainty: 'reported',
    cost,
  };
}

/** Like those of requests. */
function makeId(at: number, number: number): string {
  return `req_${at.toString(16).padStart(12, '0')}${number.toString(16).padStart(20, '0')}`;
}

async function openTarget(databaseUrl: string): Promise<Target> {
  return databaseUrl.startsWith('sqlite:') ? openFile(databaseUrl.slice(7)) : await openDatabase(databaseUrl);
}

function openFile(path: string): Target {
  const db = new DatabaseSync(path);
  // One transaction without a log: a fill that is interrupted is begun anew.
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  db.exec(`PRAGMA cache_size = -${FILL_CACHE_KIB}`);
  db.exec('BEGIN');
  const addEntry = createInsert(db, 'entries', ENTRY_COLUMNS);
  const addCharge = createInsert(db, 'charges', CHARGE_COLUMNS);
  const addWallet = createInsert(db, 'wallets', WALLET_COLUMNS);
  const changes = WALLET_COLUMNS.split(', ').map((name) => `${name} = excluded.${name}`);
  const saveWallet = createInsert(
    db,
    'wallets',
    WALLET_COLUMNS,
    `ON CONFLICT (id) DO UPDATE SET ${changes.join(', ')}`,
  );
  const addAttempt = createSaveAttempt(db);
  const addAccount = createInsert(db, 'accounts', 'id, name, created_at');
  return {
    async addAccounts(ids) {
      for (const id of ids) {
        addAccount({ id, name: id, createdAt: Date.now() });
        addWallet({ ...createEmptyWallet(id), ...NO_EXTRAS });
      }
    },
    async write({ entries, charges, attempts }) {
      charges.forEach(addCharge);
      for (const entry of entries) addEntry({ ...entry, granted: entry.granted ?? 0n });
      attempts.forEach(addAttempt);
    },
    async saveWallets(wallets) {
      for (const wallet of wallets) saveWallet({ ...wallet, ...NO_EXTRAS });
    },
    async close() {
      db.exec('COMMIT; PRAGMA journal_mode = WAL');
      db.close();
    },
  };
}

/** Columns are named like the fields, except for letter case. */
function createInsert(db: DatabaseSync, table: string, columns: string, conflict = ''): (row: object) => void {
  const insert = db.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.replace(/\w+/g, '?')}) ${conflict}`);
  const names = columns.split(', ').map((column) => column.replace(/_([a-z])/g, (_, c) => c.toUpperCase()));
  return (row) => void insert.run(...names.map((name) => (row as Record<string, string>)[name] as string));
}

/** Not validated: the rows are the ledger's own decisions. */
const FAST = { ordered: false, writeConcern: { w: 1 }, bypassDocumentValidation: true };
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
  const walletRow = (wallet: Wallet) => ({ _id: wallet.id, ...toBalanceFields(wallet), status: wallet.status });
  return {
    async addAccounts(ids) {
      const autoTopup = { enabled: false, amount: 0n, threshold: 0n };
      const row = (_id: string) => ({ _id, name: _id, createdAt: Date.now(), autoTopup, keysAdded: 0 });
      await put('accounts', ids.map(row));
      await put(
        'wallets',
        ids.map((id) => walletRow(createEmptyWallet(id))),
      );
    },
    async write({ entries, charges, attempts }) {
      await put(CALL_ATTEMPTS, attempts.map(toAttemptDocument));
      await put('charges', charges.map(toChargeDocument));
      await put('entries', entries.map(toEntryDocument));
    },
    async saveWallets(wallets) {
      const save = (wallet: Wallet) => ({
        replaceOne: { filter: { _id: wallet.id as never }, replacement: walletRow(wallet) },
      });
      await db.collection('wallets').bulkWrite(wallets.map(save), FAST);
    },
    async close() {
      await Promise.all(running);
      await client.close();
    },
  };
}
