// The metrics of several processes as one: sums, except where they would mean nothing, and counters that never go back.
import { expect } from 'chai';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { readCatalogFiles } from '../../lib/catalog/files.ts';
import { createLog } from '../../lib/http/log.ts';
import { createMetrics, type Metrics, type MetricsSnapshot } from '../../lib/metrics/metrics.ts';
import { createScrapes, type Scrapes } from '../../lib/workers/scrapes.ts';
import { addGone, textOfSum } from '../../lib/workers/sums.ts';
import { parseExposition, scrape } from '../../testkit/exposition.ts';

const none = buildCatalog(readCatalogFiles([], []), new Map());
const REQUESTS = 'tollgate_requests_total';
const SECONDS = 'tollgate_request_duration_seconds_count';

describe('metrics of workers', () => {
  /** A process that has answered so many requests. */
  function answered(requests: number, storeUp = true): Metrics {
    const metrics = createMetrics({ catalog: () => none, routes: () => [] });
    const past = { method: 'get', route: '/', status: 200, ms: 20, aborted: false, notes: {} };
    for (let left = requests; left > 0; left -= 1) metrics.onPast(past);
    metrics.watchService({
      calls: { count: () => requests, countStreams: () => 0 },
      catalog: () => none,
      ping: () => (storeUp ? Promise.resolve() : Promise.reject(new Error('down'))),
      upstreams: () => [{ upstream: 'up', routes: 2, routesOpen: 1, keys: { keys: 1, rate: 0, auth: 0, quota: 0 } }],
    });
    return metrics;
  }
  const sumOf = async (all: readonly MetricsSnapshot[]) => parseExposition(await textOfSum(all));

  it('adds counters, histograms and what is under way', async () => {
    const all = await sumOf([await answered(2).snapshot(), await answered(3).snapshot()]);
    expect([all.sum(REQUESTS), all.sum(SECONDS), all.sum('tollgate_open_calls')]).to.deep.equal([5, 5, 5]);
  });

  it('does not add what is the same for all, and shows the worst of what each has of its own', async () => {
    const all = await sumOf([await answered(1).snapshot(), await answered(1, false).snapshot()]);
    const found = ['tollgate_build_info', 'tollgate_store_up', 'tollgate_upstream_routes_open'];
    expect(found.map((name) => all.sum(name))).to.deep.equal([1, 0, 1]);
    const lag = all.samples.filter(({ name }) => name.startsWith('nodejs_eventloop_lag'));
    expect(lag).not.to.have.length(0);
  });

  it('keeps what workers that are gone have counted, and not what they had under way', async () => {
    const gone = await addGone(await addGone([], await answered(4).snapshot()), await answered(5).snapshot());
    const all = await sumOf([await answered(1).snapshot(), gone]);
    expect([all.sum(REQUESTS), all.sum(SECONDS), all.sum('tollgate_open_calls')]).to.deep.equal([10, 10, 1]);
  });

  describe('on the port', () => {
    let scrapes: Scrapes;
    let url: string;
    let asked: number[];
    beforeEach(async () => {
      asked = [1, 2];
      scrapes = createScrapes({
        ...{ host: '127.0.0.1', port: 0, metrics: answered(0), answerWithinMs: 200 },
        log: createLog({ level: 'silent', keyPrefix: 'tg-' }),
        tell: () => asked,
      });
      url = (await scrapes.start()) ?? '';
    });
    afterEach(() => scrapes.close());
    /** A scrape during which these workers answer. */
    async function during(answers: readonly (readonly [worker: number, requests: number])[]): Promise<number> {
      const scraped = scrape(url);
      await new Promise((resolve) => setTimeout(resolve, 30));
      for (const [worker, requests] of answers) scrapes.answer(worker, await answered(requests).snapshot());
      return (await scraped).sum(REQUESTS);
    }

    it('waits for all, and for nobody who does not answer or has ended', async () => {
      expect(
        await during([
          [1, 2],
          [2, 3],
        ]),
      ).to.equal(5);
      expect(await during([[1, 7]]), 'as it was last').to.equal(10);
      const scraped = scrape(url);
      await scrapes.forget(2);
      scrapes.answer(1, await answered(8).snapshot());
      expect((await scraped).sum(REQUESTS), 'with what is gone').to.equal(11);
      asked = [];
      expect((await scrape(url)).sum(REQUESTS)).to.equal(11);
    });
  });
});
