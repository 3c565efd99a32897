// The gateway under benchmark, in its own process: everything switched on, commits durable.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readConfig } from '../../lib/config.ts';
import { createGateway } from '../../lib/gateway.ts';
import { createLog } from '../../lib/http/log.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { openOwnStore } from '../../lib/store/open.ts';
import { openBenchAccount, writeBenchCatalog } from './account.ts';
import { heldMemory } from './held.ts';

const upstream = process.argv[2] as string;
const models = process.argv.slice(3);
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
writeBenchCatalog(folder, upstream, models);
const { BENCH_CATALOG: more } = process.env;
if (more) copyFileSync(more, join(folder, 'more.json'));
const env = {
  PORT: '0',
  DATABASE_URL: process.env.BENCH_STORE ?? `sqlite:${join(folder, 'bench.db')}`,
  CATALOG_DIR: folder,
  SANDBOX: 'off',
  RATE_LIMIT_PER_MINUTE: '1000000000',
  // On a busy machine, opening thousands of idle streams takes more than the default.
  IDLE_TIMEOUT_MS: '600000',
  METRICS_PORT: process.env.METRICS_PORT ?? '',
};
const config = readConfig(env);
const log = createLog({ level: 'info', keyPrefix: config.keyPrefix, destination: join(folder, 'log') });
const gateway = await createGateway(config, log);
await gateway.start();

const { id, key, budgetKey } = await openBenchAccount(env);

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
process.send?.({ port: gateway.server.info.port, key, budgetKey });

const session = new Session();

/** The parent's requests. */
const answers: Readonly<Record<string, () => unknown>> = {
  delay() {
    const figures = { p99Ms: delay.percentile(99) / 1e6, mostMs: delay.max / 1e6 };
    delay.reset();
    return figures;
  },
  memory: heldMemory,
  async startProfile() {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    return {};
  },
  async stopProfile() {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    return profile;
  },
  reload: async () => ({ reloaded: await gateway.reload() }),
  async audit() {
    const books = await openOwnStore(config);
    const { ok, drift, entries } = await verifyLedger(books);
    const wallet = await books.ledger.wallet(id);
    await books.close();
    return { ok, entries, drift: `${drift}`, held: `${wallet?.held}` };
  },
};
process.on('message', async (what: string) => process.send?.(await answers[what]?.()));
process.on('disconnect', async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
