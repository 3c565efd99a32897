// A whole gateway on loopback: real store in a temporary folder, real sockets, a catalog that points where tests want.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccounts } from '../lib/accounts/accounts.ts';
import { readConfig } from '../lib/config.ts';
import { type CreateTransform, createGateway, type Gateway, type Membership, type Timings } from '../lib/gateway.ts';
import { createLog } from '../lib/http/log.ts';
import { verifyLedger } from '../lib/ledger/audit.ts';
import type { Wallet } from '../lib/money/decide.ts';
import { parseRub } from '../lib/money/money.ts';
import { openOwnStore } from '../lib/store/open.ts';
import type { Store } from '../lib/store/store.ts';
import { until } from './client.ts';
import { openTestDatabase } from './test-store.ts';

export interface TestGateway {
  readonly url: string;
  readonly folder: string;
  readonly databaseUrl: string;
  /** The gateway's store opened a second time, as by the command line. */
  readonly store: Store;
  readonly gateway: Gateway;
  /** Creates an account with a key, and tops it up with `rub` if above zero. */
  account(rub?: string): Promise<TestAccount>;
  wallet(account: TestAccount): Promise<Wallet>;
  /** Fails if the ledger does not add up or something is still held. */
  checkMoney(): Promise<void>;
  /** Rewrites the catalog; the caller waits for the reload or requests it. */
  writeCatalog(catalog: object): void;
  stop(): Promise<void>;
}

export interface TestAccount {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

export interface TestGatewayOptions {
  readonly catalog: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly timings?: Timings;
  readonly transforms?: readonly CreateTransform[];
  /** It is one of several of a start. */
  readonly member?: Membership;
  /** A folder to continue with instead of a new one. */
  readonly folder?: string;
  /** Instead of one that belongs to the folder. */
  readonly database?: string;
}

export async function startGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const { catalog, env = {}, timings, transforms, member, folder, database } = options;
  const home = folder ?? mkdtempSync(join(tmpdir(), 'tollgate-'));
  const catalogDir = join(home, 'catalog');
  mkdirSync(catalogDir, { recursive: true });
  const writeCatalog = (value: object) => writeFileSync(join(catalogDir, 'models.json'), JSON.stringify(value));
  writeCatalog(catalog);
  const own = database === undefined ? await openTestDatabase(home) : undefined;
  const databaseUrl = own?.url ?? String(database);
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: home,
    CATALOG_DIR: catalogDir,
    SANDBOX: 'off',
    LOG_LEVEL: 'info',
    RATE_LIMIT_PER_MINUTE: '100000',
    BALANCE_RATE_LIMIT_PER_MINUTE: '100000',
    PAGE_RATE_LIMIT_PER_MINUTE: '100000',
    ...env,
  });
  const log = createLog({ level: config.logLevel, keyPrefix: config.keyPrefix, destination: join(home, 'log') });
  const gateway = await createGateway(config, log, { timings, transforms, ...(member && { member }) });
  await gateway.start();
  const store = await openOwnStore(config, { inProcess: true });
  const accounts = createAccounts({ store, keyPrefix: config.keyPrefix });
  let payments = 0;

  return {
    url: `http://127.0.0.1:${gateway.server.info.port}`,
    folder: home,
    databaseUrl,
    store,
    gateway,
    writeCatalog,
    async account(rub = '1000') {
      const { id } = await accounts.create('test');
      const { id: keyId, key } = await accounts.issueKey(id, 'test key');
      const amount = parseRub(rub) ?? 0n;
      payments += 1;
      const op = { kind: 'topup', wallet: id, at: Date.now(), amount, paymentId: `${id}-${payments}` } as const;
      if (amount > 0n) await store.ledger.apply([op]);
      return { id, keyId, key };
    },
    async wallet(account) {
      return (await store.ledger.wallet(account.id)) as Wallet;
    },
    async checkMoney() {
      const report = await verifyLedger(store);
      if (!report.ok) throw new Error(`the ledger does not add up: ${JSON.stringify(report.problems)}`);
      for (const { id } of await store.accounts.list()) {
        const readHeld = async () => (await store.ledger.wallet(id))?.held;
        // The end of a call whose client has left may be under way.
        await until(async () => (await readHeld()) === 0n).catch(async () => {
          throw new Error(`${await readHeld()} is still held in ${id}`);
        });
      }
    },
    async stop() {
      await store.close();
      await gateway.stop();
      if (folder !== undefined) return;
      await own?.remove();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A catalog of text models on one chat-style upstream. */
export function chatCatalog(url: string, more: object = {}): object {
  return {
    upstreams: { up: { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' } } },
    models: [
      {
        id: 'model-a',
        aliases: ['a'],
        type: 'text',
        provider: 'Test',
        routes: [{ upstream: 'up', model: 'up-model', cost: { currency: 'RUB', input: '100', output: '500' } }],
        price: { input: '1000', output: '5000' },
      },
      {
        id: 'image-a',
        type: 'image',
        provider: 'Test',
        routes: [{ upstream: 'up', model: 'up-image' }],
        price: { request: '10' },
      },
      {
        id: 'film-a',
        type: 'video',
        provider: 'Test',
        routes: [{ upstream: 'up', model: 'up-film' }],
        price: { second: { '720p': '8', '1080p': '15' } },
      },
    ],
    retired: { 'old-a': 'model-a' },
    ...more,
  };
}
