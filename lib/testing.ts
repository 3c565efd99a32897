// `tollgate/testing`: a whole gateway for the tests of applications and plugins, without a network or anything to set up.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Accounts, createAccounts, quote } from './accounts/accounts.ts';
import { OperatorError } from './base/operator-error.ts';
import { refuseUnknownFields } from './base/unknown-fields.ts';
import { type Config, readConfig } from './config.ts';
import { type CreateTransform, createGateway, type Gateway } from './gateway.ts';
import type { FinishedRequest } from './http/access-log.ts';
import { createLog } from './http/log.ts';
import { getRequestState } from './http/request-state.ts';
import { bookOperation } from './ledger/booking.ts';
import { AMOUNT_MAX, formatRub, parseRub } from './money/money.ts';
import type { ChargeState } from './money/wallet.ts';
import { FIRST_TOPUP_MINIMUM } from './money/wallet-rules.ts';
import { openServiceStore } from './store/open.ts';
import type { Store } from './store/store.ts';

export { OperatorError } from './base/operator-error.ts';

export interface TestGatewayOptions {
  /**
   * What would be in a file of `CATALOG_DIR` (docs/catalog.md), or the path of such a folder. By default, and beside the
   * given models, there are those of the sandbox, which need no network: `smart`, `sandbox-lite`, `sandbox-image`, …
   */
  readonly catalog?: object | string;
  /** At least one. By default one account with one key and 1000 RUB. */
  readonly accounts?: readonly TestAccountOptions[];
  /** Whose time counts, until `close()`: docs/testing.md says for what. By default it is the machine's. */
  readonly clock?: Pick<TestClock, 'now'>;
  /** Variables of docs/configuration.md and of the catalog. Those of the process are not read. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further steps on the way of every text answer, as `createGateway` takes them. */
  readonly transforms?: readonly CreateTransform[];
}

export interface TestAccountOptions {
  /** By default `test`. */
  readonly name?: string;
  /** What it can spend, in RUB with at most six decimals: `'12.5'`. By default `'1000'`; `'0'` for nothing. */
  readonly rub?: string;
  /** At least one. By default one without limits. */
  readonly keys?: readonly TestKeyOptions[];
}

export interface TestKeyOptions {
  /** By default `test`. */
  readonly name?: string;
  /** The most it may spend, in RUB: `'2.50'`. */
  readonly budget?: string;
  /** From when on it is refused, in ms since the epoch. */
  readonly expiresAt?: number;
  /** The ids or aliases of the only models that it may use. */
  readonly models?: readonly string[];
}

export interface TestAccount {
  readonly id: string;
  readonly name: string;
  /** The text of its first key, for the header `x-api-key` or `Authorization: Bearer`. */
  readonly key: string;
  /** In the order of the options. */
  readonly keys: readonly { readonly id: string; readonly key: string }[];
}

/** A request that reached the gateway. */
export interface TestRequest {
  /** The `x-request-id` of its reply. */
  readonly id: string;
  /** In capitals. */
  readonly method: string;
  /** With the query: `/api/v1/models?type=text`. */
  readonly path: string;
  /** The value if it is JSON, otherwise the text; undefined if there is none. Of a refused request, what was read of it. */
  readonly body: unknown;
  /** Undefined while the reply is being made or sent; 0 if the client left before it. */
  readonly status: number | undefined;
  /** The id of the model that was called; undefined without one, and while there is no status. */
  readonly model: string | undefined;
  /** Undefined if it cost nothing and reserved nothing. */
  readonly charge: TestCharge | undefined;
}

/** What a request costs, in RUB as exact decimal strings: `'0.25'`. A video may still be refunded after its request. */
export interface TestCharge {
  readonly account: string;
  /** The id of the key. */
  readonly key: string;
  readonly state: ChargeState;
  /** What was held before the call. */
  readonly reserved: string;
  /** What it cost; after a refund, what was refunded. */
  readonly charged: string;
}

export interface TestWallet {
  /** What can be spent, in RUB as an exact decimal string: `'999.75'`. */
  readonly available: string;
  /** What running calls hold. */
  readonly held: string;
}

export interface TestGateway extends AsyncDisposable {
  /** Without a slash at the end: `http://127.0.0.1:43217`. */
  readonly url: string;
  /** The first key of the first account. */
  readonly key: string;
  /** As seeded, in the order of the options. */
  readonly accounts: readonly [TestAccount, ...TestAccount[]];
  /** The gateway itself, as `createGateway` makes it. */
  readonly gateway: Gateway;
  /** Adds an account while the gateway runs. Rejects with an `OperatorError` for options that make no sense. */
  addAccount(options?: TestAccountOptions): Promise<TestAccount>;
  /** The money of an account, by its id; by default that of the first. Rejects with an `OperatorError` if there is none. */
  wallet(account?: string): Promise<TestWallet>;
  /** All requests so far, in the order they arrived. Waits until those whose replies are complete have their charges. */
  requests(): Promise<readonly TestRequest[]>;
  /** Ends running calls, stops, and removes everything. Repeating it does nothing. */
  close(): Promise<void>;
}

/** Stands still until it is moved. */
export interface TestClock {
  /** In ms since the epoch. */
  now(): number;
  /** Moves it ahead; throws a `RangeError` for what is not a number of ms from 0. */
  advance(ms: number): void;
}

/** A clock for `createTestGateway` that begins at this time, in ms since the epoch: by default, now. */
export function createTestClock(startAt: number = Date.now()): TestClock {
  let at = startAt;
  return {
    now: () => at,
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`A clock moves ahead by ms from 0, not by ${ms}.`);
      at += ms;
    },
  };
}

/**
 * Starts a gateway on a free port of this machine, with accounts, keys and money. Its store is SQLite in a temporary
 * folder. Rejects with an `OperatorError`, which says what is wrong, for options or a catalog that make no sense.
 */
export async function createTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  refuseUnknownFields('options', options, ['catalog', 'accounts', 'clock', 'env', 'transforms']);
  const releaseClock = takeClock(options.clock);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-testing-'));
  function cleanUp(): void {
    rmSync(folder, { recursive: true, force: true });
    releaseClock();
  }
  try {
    return await startIn(folder, options, cleanUp);
  } catch (error) {
    cleanUp();
    throw error;
  }
}

const RATES = ['RATE', 'BALANCE_RATE', 'COUNT_RATE', 'MANAGEMENT_RATE', 'PAGE_RATE', 'VIDEO_RATE'];
/** What no test should have to think of. */
const DEFAULTS = {
  PORT: '0',
  SANDBOX: 'on',
  LOG_LEVEL: 'silent',
  DRAIN_MS: '0',
  VIDEO_POLL_MS: '50',
  ...Object.fromEntries(RATES.map((rate) => [`${rate}_LIMIT_PER_MINUTE`, '100000'])),
};
const STDERR = 2;

async function startIn(folder: string, options: TestGatewayOptions, cleanUp: () => void): Promise<TestGateway> {
  const { catalog = {}, accounts: seeds = [{}], env, transforms } = options;
  const config = readConfig({
    ...DEFAULTS,
    DATABASE_URL: `sqlite:${join(folder, 'tollgate.db')}`,
    DATA_DIR: folder,
    CATALOG_DIR: typeof catalog === 'string' ? catalog : writeCatalog(folder, catalog),
    ...env,
  });
  const log = createLog({ level: config.logLevel, keyPrefix: config.keyPrefix, destination: STDERR });
  // In this thread: another would have the machine's clock.
  const store = await openServiceStore(config, { inProcess: true });
  const recorder = createRecorder(store);
  const gateway = await createGateway(config, log, { store, transforms, onRequestEnd: recorder.onRequestEnd });
  try {
    recorder.watch(gateway);
    // Before the start, which would make a demo account for a store without any.
    const accounts = await seedAccounts(store, config, seeds);
    await gateway.start();
    return createHandle({ gateway, store, config, accounts, recorder, cleanUp });
  } catch (error) {
    await gateway.stop();
    throw error;
  }
}

function writeCatalog(folder: string, catalog: object): string {
  const path = join(folder, 'catalog');
  mkdirSync(path);
  writeFileSync(join(path, 'catalog.json'), JSON.stringify(catalog));
  return path;
}

interface Parts {
  readonly gateway: Gateway;
  readonly store: Store;
  readonly config: Config;
  readonly accounts: TestGateway['accounts'];
  readonly recorder: Recorder;
  readonly cleanUp: () => void;
}

function createHandle({ gateway, store, config, accounts, recorder, cleanUp }: Parts): TestGateway {
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= gateway.stop().finally(cleanUp);
    return closing;
  };
  function checkOpen(): void {
    if (closing) throw new OperatorError('The test gateway is closed.');
  }

  return {
    url: `http://127.0.0.1:${gateway.server.info.port}`,
    key: accounts[0].key,
    accounts,
    gateway,
    async addAccount(options = {}) {
      checkOpen();
      return addAccount(store, createAccounts({ store, keyPrefix: config.keyPrefix }), options);
    },
    async wallet(account = accounts[0].id) {
      checkOpen();
      const wallet = await store.ledger.wallet(account);
      if (!wallet) throw new OperatorError(`There is no account ${quote(account)}.`);
      return { available: formatRub(wallet.avail), held: formatRub(wallet.held) };
    },
    async requests() {
      checkOpen();
      return recorder.list();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function seedAccounts(
  store: Store,
  { keyPrefix }: Config,
  seeds: readonly TestAccountOptions[],
): Promise<TestGateway['accounts']> {
  const accounts = createAccounts({ store, keyPrefix });
  const made: TestAccount[] = [];
  for (const seed of seeds) made.push(await addAccount(store, accounts, seed));
  const [first, ...others] = made;
  if (!first) throw new OperatorError('accounts: there must be at least one account.');
  return [first, ...others];
}

async function addAccount(store: Store, accounts: Accounts, options: TestAccountOptions): Promise<TestAccount> {
  refuseUnknownFields('accounts', options, ['name', 'rub', 'keys']);
  const { name = 'test', rub = '1000', keys: wanted = [{}] } = options;
  for (const key of wanted) refuseUnknownFields('keys', key, ['name', 'budget', 'expiresAt', 'models']);
  const amount = readRub('rub', rub);
  const { id } = await accounts.create(name);
  const keys: { id: string; key: string }[] = [];
  for (const { name: keyName = 'test', budget, expiresAt = null, models = null } of wanted) {
    const limits = { budget: budget === undefined ? null : readRub('budget', budget), expiresAt, models };
    keys.push(await accounts.issueKey(id, keyName, limits));
  }
  const [first] = keys;
  if (!first) throw new OperatorError('keys: there must be at least one key.');
  if (amount > 0n) await giveMoney(store, id, amount);
  return { id, name, key: first.key, keys };
}

/** The first top-up has a minimum, and calls need one: what it is more than wanted is taken away. */
async function giveMoney(store: Store, wallet: string, amount: bigint): Promise<void> {
  const id = `test-${wallet}`;
  const at = Date.now();
  const paid = amount > FIRST_TOPUP_MINIMUM ? amount : FIRST_TOPUP_MINIMUM;
  await bookOperation(store, { kind: 'topup', wallet, at, amount: paid, paymentId: id });
  if (paid === amount) return;
  await bookOperation(store, { kind: 'adjust', wallet, at, amount: amount - paid, reason: 'test', adjustId: id });
}

function readRub(field: string, text: unknown): bigint {
  const amount = typeof text === 'string' ? parseRub(text) : undefined;
  if (amount === undefined || amount < 0n || amount > AMOUNT_MAX) {
    const given = typeof text === 'string' ? quote(text) : String(text);
    throw new OperatorError(`${field}: ${given} is not a string with an amount in RUB, such as "12.5".`);
  }
  return amount;
}

interface Recorder {
  watch(gateway: Gateway): void;
  onRequestEnd(request: FinishedRequest): void;
  list(): Promise<readonly TestRequest[]>;
}

interface Recorded {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly chunks: readonly Buffer[];
  readonly response: ServerResponse;
  readonly end: PromiseWithResolvers<void>;
  finished?: FinishedRequest;
}

function createRecorder({ ledger }: Store): Recorder {
  const recorded = new Map<string, Recorded>();

  async function readCharge(id: string): Promise<TestCharge | undefined> {
    const charge = await ledger.charge(id);
    if (!charge) return undefined;
    const { wallet: account, key, state, reserved, charged } = charge;
    return { account, key, state, reserved: formatRub(reserved), charged: formatRub(charged) };
  }

  return {
    watch({ server }) {
      server.ext('onRequest', (request, h) => {
        const { id } = getRequestState(request);
        const { req, res: response } = request.raw;
        const path = `${request.url.pathname}${request.url.search}`;
        const method = request.method.toUpperCase();
        const chunks = recordChunks(req);
        recorded.set(id, { id, method, path, chunks, response, end: Promise.withResolvers() });
        return h.continue;
      });
    },
    onRequestEnd(finished) {
      const request = recorded.get(finished.id);
      if (!request) return;
      request.finished = finished;
      request.end.resolve();
    },
    async list() {
      const requests = [...recorded.values()];
      const complete = requests.filter(({ response }) => response.writableEnded || response.destroyed);
      await Promise.all(complete.map(({ end }) => end.promise));
      return Promise.all(
        requests.map(async ({ id, method, path, chunks, finished }) => {
          const call = { status: finished?.status, model: finished?.notes.model, charge: await readCharge(id) };
          return { id, method, path, body: readBody(chunks), ...call };
        }),
      );
    },
  };
}

/** Copies the chunks as whoever reads the body gets them. A listener would start the flow before they are wanted. */
function recordChunks(request: IncomingMessage): readonly Buffer[] {
  const chunks: Buffer[] = [];
  const emit = request.emit.bind(request) as (event: string | symbol, ...values: unknown[]) => boolean;
  request.emit = (event: string | symbol, ...values: unknown[]) => {
    if (event === 'data') chunks.push(Buffer.from(values[0] as Buffer));
    return emit(event, ...values);
  };
  return chunks;
}

function readBody(chunks: readonly Buffer[]): unknown {
  if (chunks.length === 0) return undefined;
  const text = Buffer.concat(chunks).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

let isClockTaken = false;

/** The gateway asks `Date.now`, so that is what is replaced, for the whole process. Call the result to undo it. */
function takeClock(clock: Pick<TestClock, 'now'> | undefined): () => void {
  if (!clock) return () => undefined;
  if (typeof clock.now !== 'function' || !Number.isFinite(clock.now())) {
    throw new OperatorError('clock: its now() must return ms since the epoch.');
  }
  if (isClockTaken) throw new OperatorError('clock: another test gateway of this process has one; close it first.');
  isClockTaken = true;
  const { now } = Date;
  Date.now = () => clock.now();
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    isClockTaken = false;
    Date.now = now;
  };
}
