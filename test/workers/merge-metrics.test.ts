// The metrics of several processes as one: sums, except where they would mean nothing, and counters that never go back.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { readCatalogFiles } from '../../lib/catalog/files.ts';
import { createLog } from '../../lib/http/log.ts';
import { createMetrics, type Metrics, type MetricsSnapshot } from '../../lib/metrics/metrics.ts';
import { addExitedCounts, formatMergedMetrics } from '../../lib/workers/merge-metrics.ts';
import { createScrapes, type Scrapes } from '../../lib/workers/scrapes.ts';
import { send } from '../../testkit/client.ts';
import { parseExposition, scrape } from '../../testkit/exposition.ts';

const none = buildCatalog(readCatalogFiles([], []), new Map());
const REQUESTS = 'tollgate_requests_total';
const SECONDS = 'tollgate_request_duration_seconds_count';

describe('metrics of workers', () => {
  /** A process that has answered so many requests. */
  function answered(requests: number, storeUp = true): Metrics {
    const metrics = createMetrics({ catalog: () => none, routes: () => [] });
    const past = { method: 'get', route: '/', status: 200, ms: 20, aborted: false, bytes: 0, notes: {} };
    for (let left = requests; left > 0; left -= 1) metrics.onRequestEnd(past);
    metrics.watchService({
      calls: { count: () => requests, countStreams: () => 0 },
      catalog: () => none,
      catalogFailure: () => (storeUp ? undefined : new Error('a mistake')),
      ping: () => (storeUp ? Promise.resolve() : Promise.reject(new Error('down'))),
      upstreams: () => [
        {
          upstream: 'up',
          routes: 2,
          outages: [{ models: ['m'], kind: 'server', openMs: 5, failedMs: 0 }],
          keys: { keys: 1, rate: 0, auth: 0, quota: 0 },
        },
      ],
    });
    return metrics;
  }
  const sumOf = async (all: readonly MetricsSnapshot[]) => parseExposition(await formatMergedMetrics(all));

  it('adds counters, histograms and running calls', async () => {
    const all = await sumOf([await answered(2).snapshot(), await answered(3).snapshot()]);
    expect([all.sum(REQUESTS), all.sum(SECONDS), all.sum('tollgate_open_calls')]).to.deep.equal([5, 5, 5]);
  });

  it('does not add shared values, and shows the worst of separate ones', async () => {
    const all = await sumOf([await answered(1).snapshot(), await answered(1, false).snapshot()]);
    const found = ['tollgate_build_info', 'tollgate_store_up', 'tollgate_upstream_routes_open'];
    expect(found.map((name) => all.sum(name))).to.deep.equal([1, 0, 1]);
    const lag = all.samples.filter(({ name }) => name.startsWith('nodejs_eventloop_lag'));
    expect(lag).not.to.have.length(0);
  });

  for (const [name, aggregator, sum] of [
    ['tollgate_build_info', 'sum', 5],
    ['tollgate_models', 'sum', 5],
    ['tollgate_open_videos', 'sum', 5],
    ['tollgate_payments_in_review', 'sum', 5],
    ['tollgate_store_up', 'sum', 2],
    ['tollgate_upstream_keys_resting', 'sum', 5],
    ['tollgate_upstream_routes_open', 'sum', 5],
    ['nodejs_eventloop_lag_p99_seconds', 'average', 5],
    ['tollgate_open_calls', 'sum', 7],
    ['nodejs_version_info', 'first', 2],
  ] as const) {
    it(`makes ${sum} of 2 and 5 of ${name}`, async () => {
      const snapshots = [2, 5].map((value) => [
        { name, help: 'h', type: 'gauge', aggregator, values: [{ value, labels: {} }] },
      ]);
      expect((await sumOf(snapshots as unknown as MetricsSnapshot[])).sum(name)).to.equal(sum);
    });
  }

  it('keeps the counters of exited workers, and not their running calls', async () => {
    const gone = await addExitedCounts(
      await addExitedCounts([], await answered(4).snapshot()),
      await answered(5).snapshot(),
    );
    const all = await sumOf([await answered(1).snapshot(), gone]);
    expect([all.sum(REQUESTS), all.sum(SECONDS), all.sum('tollgate_open_calls')]).to.deep.equal([10, 10, 1]);
  });

  describe('on the port', () => {
    let scrapes: Scrapes;
    let url: string;
    let tell: () => number[];
    afterEach(() => scrapes.close());

    /** It asks two workers unless `tell` is another. */
    async function start(answerWithinMs: number, metrics = answered(0)): Promise<void> {
      tell = () => [1, 2];
      scrapes = createScrapes({
        host: '127.0.0.1',
        port: 0,
        metrics,
        answerWithinMs,
        log: createLog({ level: 'silent', keyPrefix: 'tg-' }),
        broadcast: () => tell(),
      });
      url = (await scrapes.start()) ?? '';
    }

    /** A scrape during which this is done. */
    async function during(work: () => Promise<unknown>): Promise<number> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = tell;
      tell = () => {
        resolve();
        return before();
      };
      const scraped = scrape(url);
      await promise;
      tell = before;
      await work();
      return (await scraped).sum(REQUESTS);
    }
    const answer = async (worker: number, requests: number) =>
      scrapes.answer(worker, { metrics: await answered(requests).snapshot(), readiness: undefined });

    it('waits for all live workers only', async () => {
      await start(60_000);
      expect(
        await during(async () => {
          await answer(1, 2);
          await sleep(30);
          await answer(2, 3);
        }),
      ).to.equal(5);
      expect(
        await during(async () => {
          await answer(1, 8);
          await scrapes.forget(2);
        }),
        'with what is gone',
      ).to.equal(11);
      tell = () => [];
      expect((await scrape(url)).sum(REQUESTS)).to.equal(11);
    });

    it('is ready if all workers are, and shows the worst state of each upstream', async () => {
      await start(50);
      const ready = (worker: number, status: 'ok' | 'unavailable', resting: number) => {
        const up = { routes: 2, routes_open: 2 - resting, keys: 2, keys_resting: resting };
        const readiness = { status, store: status === 'ok', models: worker, upstreams: { up } };
        scrapes.answer(worker, { metrics: [], readiness });
      };
      const root = url.replace('/metrics', '');
      ready(1, 'ok', 0);
      ready(2, 'ok', 2);
      const worst = { routes: 2, routes_open: 2, keys: 2, keys_resting: 2 };
      const all = await send(`${root}/readyz?verbose`);
      expect([all.status, all.json]).to.deep.equal([
        200,
        { status: 'ok', store: true, models: 1, upstreams: { up: worst } },
      ]);
      ready(2, 'unavailable', 0);
      const one = await send(`${root}/readyz`);
      expect([one.status, one.json]).to.deep.equal([503, { status: 'unavailable', store: false, models: 1 }]);
      await scrapes.forget(2);
      expect((await send(`${root}/readyz`)).status).to.equal(200);
    });

    it('uses the last values of workers that do not answer', async () => {
      await start(50);
      await answer(2, 3);
      expect(await during(() => answer(1, 7))).to.equal(10);
    });

    it('counts a worker that exits during a scrape once', async () => {
      await start(60_000, { ...answered(0), snapshot: async () => [] });
      await answer(1, 4);
      await answer(2, 3);
      tell = () => {
        void scrapes.forget(2);
        return [];
      };
      expect((await scrape(url)).sum(REQUESTS)).to.equal(7);
      expect((await scrape(url)).sum(REQUESTS)).to.equal(7);
    });
  });
});
