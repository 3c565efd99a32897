// What a store suite starts from: a database of its own, any number of openers, and short ways to write operations.
import { randomBytes } from 'node:crypto';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import type { NewAttempt } from '../../../lib/money/attempt.ts';
import type { BudgetTerms, CapTerms } from '../../../lib/money/budget.ts';
import type { GrantOp, Operation, Outcome, OutcomeStatus, Wallet } from '../../../lib/money/decide.ts';
import { NO_LIMITS } from '../../../lib/money/key-limits.ts';
import { type OpenOptions, openStore } from '../../../lib/store/open.ts';
import { mapCalls } from '../../../lib/store/port-calls.ts';
import type { KeyStore } from '../../../lib/store/ports/keys.ts';
import { type Store, StoreError } from '../../../lib/store/store.ts';

/** What a new key has, unless said otherwise. */
export const UNUSED = {
  revokedAt: null,
  requestsCount: 0,
  lastUsedAt: null,
  limits: NO_LIMITS,
  budgetKey: null,
  createdBy: null,
};

/** A kind of store under test: it makes databases. */
export interface StoreKind {
  readonly name: string;
  readonly opening?: OpenOptions;
  /** Makes calls fail that leave something undone. */
  readonly watch?: (store: Store) => Store;
  /** Without rows; it may have the schema of this version already. */
  create(): Promise<StoreDatabase>;
  /** With nothing in it, for tests of migrations. */
  createBare(): Promise<StoreDatabase>;
}

export interface StoreDatabase {
  /** A `DATABASE_URL`. */
  readonly url: string;
  remove(): Promise<void>;
}

export interface StoreContext {
  readonly url: string;
  /** The first opener of the database. */
  readonly store: Store;
  /** One more opener, as another process would be; closed at the end. */
  open(): Promise<Store>;
  /** Such an opener that all tests of the suite use; there may be a second one. */
  other(number?: 1 | 2): Promise<Store>;
}

/** A database for all tests of a suite; tests stay apart by the ids they make. */
export function useStore(kind: StoreKind): StoreContext {
  const stores: Store[] = [];
  const others = new Map<number, Promise<Store>>();
  let database: StoreDatabase | undefined;
  const open = async () => {
    const plain = await openStore(opened(database).url, kind.opening);
    const store = retryUnwritten(kind.watch?.(plain) ?? plain);
    stores.push(store);
    return store;
  };
  before(async () => {
    database = await kind.create();
    await open();
  });
  after(async () => {
    for (const store of stores) await store.close();
    await database?.remove();
  });
  return {
    get url() {
      return opened(database).url;
    },
    get store() {
      return opened(stores[0]);
    },
    open,
    other(number = 1) {
      const other = others.get(number) ?? open();
      others.set(number, other);
      return other;
    },
  };
}

function opened<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the suite has not started');
  return value;
}

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

export const RUB = 1_000_000n;
/** In 2096: many tests need a time that has not come yet. */
export const AT = 4_000_000_000_000;

export async function newAccount(store: Store): Promise<string> {
  const id = newId('acc');
  await store.accounts.create({ id, name: 'test', createdAt: AT });
  return id;
}

/** An account whose wallet has been topped up. */
export async function newWallet(store: Store, rub = 1000n): Promise<string> {
  const id = await newAccount(store);
  await applied(store, topup(id, rub * RUB));
  return id;
}

export function topup(wallet: string, amount: bigint, more: { paymentId?: string; at?: number } = {}): Operation {
  return { kind: 'topup', wallet, at: AT, amount, paymentId: newId('pay'), ...more };
}

/** The adjustment as the balance that an account had in another system. */
export function movingIn(op: Operation): Operation {
  return { ...op, movesIn: true } as Operation;
}

export function adjust(wallet: string, amount: bigint, more: { adjustId?: string; reason?: string } = {}): Operation {
  return { kind: 'adjust', wallet, at: AT, amount, reason: 'test', adjustId: newId('adj'), ...more };
}

export function grant(wallet: string, amount: bigint, more: Partial<GrantOp> = {}): GrantOp {
  return { kind: 'grant', wallet, at: AT, amount, grantId: newId('grant'), until: null, reason: 'test', ...more };
}

export function endGrant(wallet: string, grantId: string, reason: string | null = null): Operation {
  return { kind: 'grant_end', wallet, at: AT, grantId, reason };
}

interface Start {
  readonly chargeId?: string;
  readonly amount?: bigint;
  readonly at?: number;
  readonly key?: string;
  readonly budget?: BudgetTerms;
  readonly caps?: readonly CapTerms[];
}

/** Of no kind that the audit knows: the amounts here are arbitrary. */
export const PRICES = '{"any":"40000000"}';

function start(wallet: string) {
  const call = { key: 'key_1', chargeKind: 'text', model: 'model-1', prices: PRICES } as const;
  return { wallet, at: AT, chargeId: newId('req'), amount: RUB, ...call };
}

export function reserve(
  wallet: string,
  more: Start & { owner?: string; lease?: number; excess?: bigint } = {},
): Operation {
  return { kind: 'reserve', ...start(wallet), owner: 'own_1', lease: AT + 15_000, ...more };
}

export function charge(wallet: string, more: Start = {}): Operation {
  return { kind: 'charge', ...start(wallet), chargeKind: 'video', usage: '{"seconds":5}', ...more };
}

/** What a settled call of these tests used. */
export const USED = '{"tokens_input":10,"tokens_output":20}';

export function settle(
  wallet: string,
  chargeId: string,
  more: { amount?: bigint; at?: number; usage?: string; attempts?: readonly NewAttempt[] } = {},
): Operation {
  return { kind: 'settle', wallet, at: AT, chargeId, amount: RUB, usage: USED, ...more };
}

export function giveBack(
  kind: 'release' | 'expire' | 'refund',
  wallet: string,
  chargeId: string,
  more: { at?: number; attempts?: readonly NewAttempt[] } = {},
): Operation {
  return { kind, wallet, at: AT, chargeId, ...more };
}

/** A whole answer whose usage was reported. */
export function newAttempt(more: Partial<NewAttempt> = {}): NewAttempt {
  const prices = '{"input":"1000000","output":"2000000"}';
  return {
    model: 'model-1',
    upstream: 'vendor',
    upstreamModel: 'vendor-model',
    keyPlace: 1,
    requestId: 'chatcmpl-1',
    at: AT,
    ending: 'answered',
    firstMs: 120,
    totalMs: 900,
    usage: USED,
    certainty: 'reported',
    cost: { currency: 'USD', prices, rate: 80_000_000n, cost: 50n, costRub: 4_000n },
    ...more,
  };
}

/** More than one batch can hold. */
export async function appliedInBatches(store: Store, operations: readonly Operation[]): Promise<void> {
  for (let from = 0; from < operations.length; from += BATCH) {
    await applied(store, ...operations.slice(from, from + BATCH));
  }
}

const BATCH = 200;

/**
 * Applies the operations as one batch of a wallet's lane. A database that is too busy to answer
 * is asked again, as the lane does.
 */
export async function applied(store: Store, ...operations: Operation[]): Promise<Outcome[]> {
  return [...(await patiently(() => store.ledger.apply(operations)))];
}

/** Each may take as long as the store waits for its database. */
const ATTEMPTS = 15;

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isTooBusy(error)) throw error;
    }
  }
}

/** A database of a busy machine may answer too late, or conflicts of many writers may not end in time. */
function isTooBusy(error: unknown): boolean {
  return error instanceof StoreError && /has not answered within|WriteConflict/.test(error.message);
}

/** Whoever calls a store may call again what was certainly not written. */
function retryUnwritten(store: Store): Store {
  return mapCalls(store, (call) => async (...args) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call(...args);
      } catch (error) {
        if (attempt === ATTEMPTS || !isTooBusy(error) || (error as StoreError).applied !== 'no') throw error;
      }
    }
  });
}

export async function statuses(store: Store, ...operations: Operation[]): Promise<OutcomeStatus[]> {
  return (await applied(store, ...operations)).map((outcome) => outcome.status);
}

/** Everything of a wallet that an operation could change. */
export async function everythingOf(store: Store, wallet: string) {
  return { wallet: await walletOf(store, wallet), entries: await store.ledger.entries(wallet, { limit: 10_000 }) };
}

/** What the audit says of one wallet, without reading the entries of the others, which take most of its time. */
export async function problemsOf(store: Store, wallet: string): Promise<readonly string[]> {
  const { journal } = store;
  const page: typeof journal.page = (from, limit) => journal.walletPage(wallet, from?.seq ?? 0, limit);
  return problemsInAll({ ...store, journal: { ...journal, page } }, wallet);
}

/** The same from pages of all wallets. */
export async function problemsInAll(store: Store, wallet: string): Promise<readonly string[]> {
  const { problems } = await verifyLedger(store);
  return problems.filter((found) => found.wallet === wallet).map(({ problem }) => problem);
}

export async function walletOf(store: Store, id: string): Promise<Wallet> {
  const wallet = await store.ledger.wallet(id);
  if (!wallet) throw new Error(`no wallet ${id}`);
  return wallet;
}

/** The running sum of a key or a cap, in RUB; undefined if there is none. */
export async function readSpent(store: Store, id: string): Promise<{ period: number; rub: number } | undefined> {
  const [row] = await store.ledger.budgets([id]);
  return row && { period: row.period, rub: Number(row.spent) / 1e6 };
}

/** The balance columns, in RUB. */
export function balances({ avail, held, charged, topped, adjusted }: Omit<Wallet, 'id' | 'seq' | 'status'>) {
  return [avail, held, charged, topped, adjusted].map((micro) => Number(micro) / 1e6);
}

/** What a promise is rejected with; fails when it is not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([promise]);
  if (result?.status !== 'rejected') throw new Error('it was not rejected');
  return result.reason;
}

/** Rows whose marks do not fit them. */
export async function findWrong(table: Pick<KeyStore, 'findWrongMarks'>) {
  const found: { readonly id: string; readonly wallet?: string }[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: Awaited<ReturnType<KeyStore['findWrongMarks']>> = await table.findWrongMarks({ after, limit: 500 });
    found.push(...page.found);
    after = page.next;
  }
  return found;
}
