import { expect } from 'chai';
import { Registry } from 'prom-client';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { readCatalogFiles } from '../../lib/catalog/files.ts';
import type { LossNotice } from '../../lib/catalog/loss.ts';
import { createMetrics } from '../../lib/metrics/metrics.ts';
import { createServiceMetrics } from '../../lib/metrics/service.ts';
import { parseExposition } from '../../testkit/exposition.ts';
import { openFaultyStore } from '../../testkit/faulty-store.ts';
import { itTimed } from '../../testkit/timed.ts';

const calls = { count: () => 5, countStreams: () => 3 };
const none = buildCatalog(readCatalogFiles([], []), new Map());
const catalog = () => none;
const catalogFailure = () => undefined;

describe('service metrics', () => {
  it('tell the readiness of the service that is watched', async () => {
    const metrics = createMetrics({ catalog, routes: () => [] });
    expect(await metrics.readiness()).to.equal(undefined);
    let isUp = true;
    const ping = async () => {
      if (!isUp) throw new Error('down');
    };
    const keys = { keys: 4, rate: 1, auth: 1, quota: 0 };
    const upstreams = () => [{ upstream: 'one', routes: 3, outages: [], keys }];
    metrics.watchService({ calls, catalog, catalogFailure, ping, upstreams });
    const { upstreams: found, ...rest } = (await metrics.readiness()) ?? {};
    expect(rest).to.deep.equal({ status: 'unavailable', store: true, models: 0 });
    expect(found).to.deep.equal({ one: { routes: 3, routes_open: 0, keys: 4, keys_resting: 2 } });
    isUp = false;
    expect(await metrics.readiness()).to.include({ store: false });
  });

  async function look(ping: () => Promise<void>) {
    const registry = new Registry();
    createServiceMetrics(registry, { calls, catalog, catalogFailure, ping });
    return parseExposition(await registry.metrics());
  }

  it('reads the state at each scrape', async () => {
    const { sum } = await look(async () => undefined);
    const names = ['tollgate_open_calls', 'tollgate_open_streams', 'tollgate_models', 'tollgate_store_up'];
    expect(names.map((name) => sum(name))).to.deep.equal([5, 3, 0, 1]);
  });

  it('shows whether the last reload of the catalog failed', async () => {
    const registry = new Registry();
    let failure: unknown;
    const facts = { calls, catalog, catalogFailure: () => failure, ping: async () => undefined };
    createServiceMetrics(registry, facts);
    const look = async () => parseExposition(await registry.metrics()).sum('tollgate_catalog_reload_failed');
    expect(await look()).to.equal(0);
    failure = { at: 1, reason: 'a mistake' };
    expect(await look()).to.equal(1);
  });

  it('counts the models that are sold below cost', async () => {
    const registry = new Registry();
    const loss = { model: 'a', upstream: 'one', route: 'm', member: 'input', price: 1n, cost: 2n };
    const losses: LossNotice[] = [
      { ...loss, outcome: 'kept' },
      { ...loss, member: 'output', outcome: 'kept' },
      { ...loss, model: 'b', outcome: 'raised' },
    ];
    const facts = { calls, catalogFailure: () => undefined, ping: async () => undefined };
    createServiceMetrics(registry, { ...facts, catalog: () => ({ ...none, losses }) });
    expect(parseExposition(await registry.metrics()).sum('tollgate_models_below_cost')).to.equal(1);
  });

  itTimed('shows a store as down if it fails or never answers', async () => {
    const store = await openFaultyStore();
    await store.close();
    expect((await look(store.real.ping)).sum('tollgate_store_up')).to.equal(0);
    const startedAt = performance.now();
    expect((await look(() => new Promise(() => undefined))).sum('tollgate_store_up')).to.equal(0);
    expect(performance.now() - startedAt).to.be.below(8000);
  });
});
