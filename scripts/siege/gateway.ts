// The gateway under siege, in its own process, with accounts for its callers and its attackers.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { readConfig } from '../../lib/config.ts';
import { createGateway } from '../../lib/gateway.ts';
import { createLog } from '../../lib/http/log.ts';
import { openOwnStore } from '../../lib/store/open.ts';

/** Keys: for the callers, for an empty wallet, for wallets that can pay for short calls. */
export interface Keys {
  readonly good: string;
  readonly penniless: string;
  readonly paying: readonly string[];
}

export interface Measured {
  /** CPU time of the longest tick of the loop, in ms. */
  readonly longestTickMs: number;
  /** How late a timer fired, in ms, including delays caused by the rest of the machine. */
  readonly delayP99Ms: number;
  readonly delayMostMs: number;
  /** Log lines that call for an operator. */
  readonly errors: number;
}

const folder = mkdtempSync(join(tmpdir(), 'tollgate-siege-'));
writeFileSync(
  join(folder, 'models.json'),
  JSON.stringify({
    upstreams: {
      up: { plugin: 'openai-compatible', settings: { baseUrl: `${process.argv[2]}/v1`, apiKey: 'siege-key' } },
    },
    models: [
      {
        id: 'call',
        type: 'text',
        provider: 'Siege',
        routes: [{ upstream: 'up', model: 'call' }],
        price: { input: '400', output: '240' },
      },
    ],
  }),
);
const config = readConfig({
  PORT: '0',
  DATABASE_URL: `sqlite:${join(folder, 'siege.db')}`,
  CATALOG_DIR: folder,
  SANDBOX: 'off',
  RATE_LIMIT_PER_MINUTE: '1000000000',
});
const log = createLog({ level: 'info', keyPrefix: config.keyPrefix, destination: join(folder, 'log') });
const gateway = await createGateway(config, log);
await gateway.start();

const store = await openOwnStore(config);
const accounts = createAccounts({ store, keyPrefix: config.keyPrefix });
const makeKey = async (rub: bigint): Promise<string> => {
  const { id } = await accounts.create('siege');
  const { key } = await accounts.issueKey(id, 'siege');
  const op = { kind: 'topup', wallet: id, at: Date.now(), amount: rub * 1_000_000n, paymentId: id } as const;
  if (rub > 0n) await store.ledger.apply([op]);
  return key;
};
const keys: Keys = {
  good: await makeKey(1_000_000n),
  penniless: await makeKey(0n),
  paying: [await makeKey(1000n), await makeKey(1000n), await makeKey(1000n), await makeKey(1000n)],
};
await store.close();

const TICK_MS = 10;
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let longestTickMs = 0;
let before = process.threadCpuUsage();
setInterval(() => {
  // What the thread has worked since the last tick, minus what it may use until the next.
  const { user, system } = process.threadCpuUsage(before);
  longestTickMs = Math.max(longestTickMs, (user + system) / 1000 - TICK_MS);
  before = process.threadCpuUsage();
}, TICK_MS).unref();

process.on('message', () => {
  const errors = readFileSync(join(folder, 'log'), 'utf8').split('{"level":"error"').length - 1;
  const measured: Measured = {
    longestTickMs,
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMostMs: delay.max / 1e6,
    errors,
  };
  process.send?.(measured);
  longestTickMs = 0;
  delay.reset();
  // Reading the log is no tick of the next round.
  before = process.threadCpuUsage();
});
process.on('disconnect', async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
process.send?.({ port: gateway.server.info.port, keys });
