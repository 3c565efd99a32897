// The alerts against what a gateway really renders: `increase()` sees nothing of a series that begins with its first event.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { fault } from '../../lib/base/faults.ts';
import { createMetrics } from '../../lib/metrics/metrics.ts';
import { toClientFault } from '../../lib/upstream/host/client-fault.ts';
import { FAULT_KINDS, upstreamFault } from '../../lib/upstream/host/fault.ts';
import { TILLS } from '../../testkit/bank.ts';
import { ask, CHAT, MESSAGES, send } from '../../testkit/client.ts';
import { type Exposition, parseExposition, type Sample, scrape } from '../../testkit/exposition.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const rules = readFileSync(new URL('../../docs/alerts.yml', import.meta.url), 'utf8');
const alerts = [...rules.matchAll(/- alert: (\w+)\n\s+expr: (?:>-\n)?(.*?)\n {8}\w+:/gs)].map(
  ([, name = '', text = '']) => ({ name, text }),
);

interface Selector {
  readonly name: string;
  readonly matches: (sample: Sample) => boolean;
}

/** What an expression selects: metric names with or without matchers. */
function selectorsIn(text: string): readonly Selector[] {
  const found = text.matchAll(/\b((?:tollgate|process|nodejs)_\w+)(?:\{([^}]*)\})?/g);
  return [...found].map(([, name = '', inner = '']) => {
    const tests = [...inner.matchAll(/(\w+)\s*(=~|!~|!=|=)"([^"]*)"/g)]
      // Prometheus adds these two itself.
      .filter(([, label]) => label !== 'job' && label !== 'instance')
      .map(([, label = '', operator = '', value = '']) => {
        const pattern = operator.includes('~') ? new RegExp(`^(?:${value})$`) : undefined;
        const isEqual = (text: string) => (pattern ? pattern.test(text) : text === value);
        return ({ labels }: Sample) => isEqual(labels[label] ?? '') !== operator.startsWith('!');
      });
    return { name, matches: (sample) => sample.name === name && tests.every((holds) => holds(sample)) };
  });
}

const PAYMENTS = { till: { plugin: 'till', settings: { baseUrl: 'http://127.0.0.1:9' } } };

const seriesOf = ({ name, labels }: Sample) => `${name} ${JSON.stringify(Object.entries(labels).sort())}`;

describe('alerts', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let first: Exposition;

  before(async () => {
    upstream = await startUpstream();
    const env = { METRICS_PORT: '0', PAYMENTS_PATH: TILLS };
    gateway = await startGateway({ catalog: chatCatalog(upstream.url, { payments: PAYMENTS }), env });
    first = await scrape(gateway.gateway.facts.metricsUrl ?? '');
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it('select series that a gateway has before its first call', () => {
    expect(alerts.length).to.be.above(15);
    for (const { name, text } of alerts) {
      for (const selector of selectorsIn(text)) {
        // A gauge that is there once the ledger was verified.
        if (selector.name === 'tollgate_ledger_problems') continue;
        const found = first.samples.filter(selector.matches);
        expect(found.length, `${name}: ${selector.name}`).to.be.above(0);
      }
    }
  });

  it('select no series that starts with an event', async () => {
    const catalog = {
      models: [{ id: 'model-a', type: 'text', routes: [{ upstream: 'up' }] }],
      byName: new Map([['model-a', {}]]),
    };
    const routes = [MESSAGES, CHAT].map((path) => ({ method: 'post', path }));
    const providers = () => new Map([['till', {}]]);
    const metrics = createMetrics({ catalog: () => catalog as never, providers, routes: () => routes });
    const scraped = async () => parseExposition(await metrics.scrape());
    const watched = metrics.watchLedger({
      size: () => 0,
      settle: async () => ({ charged: 2n, reserved: 1n, balance: 0n, confirmed: false }),
      expireOrphans: async () => 1,
    } as never);
    const store = metrics.watchStore({ ledger: { apply: () => Promise.reject(new Error('full')) } } as never);
    const before = await scraped();
    for (const route of [MESSAGES, CHAT]) {
      const past = { method: 'post', route, ms: 1, aborted: false, bytes: 0 };
      const model = { model: 'model-a' };
      metrics.onRequestEnd({ ...past, status: 200, notes: { ...model, first_ms: 1, doubt: 'none came' } });
      metrics.onRequestEnd({ ...past, status: 500, notes: { ...model, fault: 'internal' } });
      metrics.onRequestEnd({ ...past, status: 200, aborted: true, notes: { ...model, ending: 'gone' } });
      metrics.onRequestEnd({ ...past, status: 0, aborted: true, notes: { ...model, ending: 'gone' } });
    }
    for (const type of ['finish', 'gone'] as const) metrics.onAttempt('up', { type } as never);
    for (const kind of FAULT_KINDS) {
      metrics.onAttempt('up', { type: 'error', fault: toClientFault(upstreamFault(kind, '')) });
    }
    for (const code of ['upstream_timeout', 'upstream_truncated', 'internal'] as const) {
      metrics.onAttempt('up', { type: 'error', fault: fault(code) });
    }
    for (const kind of FAULT_KINDS) metrics.payments.onFailure('till', kind);
    for (const end of ['done', 'again', 'rejected'] as const) metrics.payments.onWebhook('till', end);
    await watched.settle({ charge: { model: 'model-a' } } as never, { usage: {} } as never);
    await watched.expireOrphans({} as never);
    await store.ledger.apply([]).catch(() => undefined);
    const known = new Set(before.samples.map(seriesOf));
    const after = await scraped();
    let moved = 0;
    for (const { name, text } of alerts) {
      for (const { matches } of selectorsIn(text)) {
        const series = after.samples.filter(matches).filter((sample) => !sample.name.startsWith('nodejs_'));
        for (const sample of series) expect(known.has(seriesOf(sample)), `${name}: ${seriesOf(sample)}`).to.equal(true);
        moved += series.filter(({ value }) => value > 0).length;
      }
    }
    expect(moved).to.be.above(30);
    // A second look wipes nothing.
    expect((await scraped()).sum('tollgate_first_fragment_seconds_count')).to.equal(2);
  });

  it('count the first call of a model added by an edit', async () => {
    const more = chatCatalog(upstream.url, { payments: PAYMENTS }) as { models: object[] };
    const model = { ...more.models[0], id: 'model-new', aliases: [] };
    gateway.writeCatalog({ ...more, models: [...more.models, model] });
    expect(await gateway.gateway.reload()).to.equal(true);
    const before = await scrape(gateway.gateway.facts.metricsUrl ?? '');
    upstream.behave(chatAnswer('Hello.'));
    const { key } = await gateway.account();
    expect((await send(gateway.url + CHAT, { key, body: ask('hi', { model: 'model-new' }) })).status).to.equal(200);
    const name = 'tollgate_charged_rubles_total';
    const labels = { model: 'model-new' };
    const seriesAt = (at: Exposition) =>
      at.samples.filter((sample) => sample.name === name && sample.labels.model === labels.model);
    expect(seriesAt(before).map(({ value }) => value)).to.deep.equal([0]);
    const after = await scrape(gateway.gateway.facts.metricsUrl ?? '');
    expect(after.sum(name, labels)).to.be.above(0);
  });
});
