// A primary over workers of a test: an owner of its store while they run, answers to their hits, and an end that tells.
import cluster from 'node:cluster';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { createLog } from '../../lib/http/log.ts';
import { WorkerFailed } from '../../lib/workers/pool.ts';
import { type Primary, startPrimary } from '../../lib/workers/primary.ts';
import { send, until } from '../../testkit/client.ts';
import { scrape } from '../../testkit/exposition.ts';
import { type Books, type Home, makeHome, openBooks } from '../../testkit/process.ts';
import type { Mode } from './pool-worker.ts';

const EXEC = fileURLToPath(new URL('./pool-worker.ts', import.meta.url));
const DRAIN_MS = 1000;

describe('a primary', () => {
  let home: Home;
  let books: Books;
  let running: Primary | undefined;
  const log = createLog({ level: 'silent', keyPrefix: 'tg-' });
  before(async () => {
    home = makeHome({ upstreams: {}, models: [] });
    books = await openBooks(home);
  });
  after(async () => {
    await books.close();
    home.remove();
  });
  afterEach(async () => {
    mock.timers.reset();
    delete process.env.POOL_WORKER_MODE;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
    await running?.stop().catch(() => undefined);
    running = undefined;
  });

  async function start(mode: Mode, env: Readonly<Record<string, string>> = {}): Promise<Primary> {
    cluster.setupPrimary({ exec: EXEC });
    process.env.POOL_WORKER_MODE = mode;
    const config = readConfig({ ...home.env, WORKERS: '2', DRAIN_MS: `${DRAIN_MS}`, SANDBOX: 'off', ...env });
    running = await startPrimary(config, log);
    return running;
  }
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('stays an owner on the store while its workers run, and reports them on its port', async () => {
    const primary = await start('listens', { METRICS_PORT: '0' });
    const [owner, ...others] = await books.store.gateways();
    expect([owner, others]).to.deep.equal([
      (primary.report as unknown as { terms: { group: string } }).terms.group,
      [],
    ]);
    expect((await scrape(primary.metricsUrl ?? '')).sum('tollgate_workers')).to.equal(2);
    expect(await primary.reload()).to.equal(true);
    await primary.stop();
    expect(await books.store.gateways()).to.deep.equal([]);
    expect(await failureOf(send(primary.metricsUrl ?? ''))).to.include({ code: 'ECONNREFUSED' });
    expect(await primary.reload(), 'with nobody left').to.equal(false);
  });

  it('counts hits in the store beside another gateway on it', async () => {
    const other = { id: 'own_other', leaseMs: 60_000, alone: false };
    await books.store.owners.renew(other);
    await start('listens');
    await until(async () => {
      const windows = await books.store.limits.open(Date.now());
      return windows.find(({ bucket }) => bucket === 'generate:key_1')?.count === 2;
    });
    await books.store.owners.remove(other.id);
  });

  it('leaves nothing behind if a worker cannot start', async () => {
    expect(await failureOf(start('fails'))).to.be.instanceOf(WorkerFailed);
    expect(await books.store.gateways()).to.deep.equal([]);
  });

  it('reports a worker that did not stop cleanly', async () => {
    const primary = await start('stops badly');
    expect(await failureOf(primary.stop())).to.include({ message: 'a worker did not stop cleanly' });
    expect(await books.store.gateways()).to.deep.equal([]);
  });

  it('gives workers twenty seconds beyond the drain time of their calls', async () => {
    const primary = await start('stays');
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected());
    expect(workers).to.have.length(2);
    mock.timers.enable({ apis: ['setTimeout'] });
    const stopped = failureOf(primary.stop());
    const forced = () => workers.filter((worker) => worker?.process.killed).length;
    mock.timers.tick(DRAIN_MS + 19_999);
    expect(forced()).to.equal(0);
    mock.timers.tick(1);
    expect(forced()).to.equal(2);
    expect(await stopped).to.include({ message: 'a worker did not stop cleanly' });
  });
});
