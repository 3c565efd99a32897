import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { readCatalogFiles } from '../../lib/catalog/files.ts';
import { createMetrics } from '../../lib/metrics/metrics.ts';
import { parseExposition } from '../../testkit/exposition.ts';
import { expectRecorded } from '../../testkit/recorded.ts';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const page = read('metrics.md');
const rules = read('alerts.yml');
const none = buildCatalog(readCatalogFiles([], []), new Map());

/** Every family with its labels: each is touched once, as a family without a series shows none. */
async function scrape(): Promise<string> {
  const routes = () => [{ method: 'post', path: '/' }];
  const metrics = createMetrics({ catalog: () => none, providers: () => new Map([['till', {}]]), routes });
  const charge = { model: 'm' } as never;
  const cost = { costRub: 1n };
  const attempt = { model: 'm', upstream: 'up', certainty: 'reported', cost };
  const settled = { charged: 2n, reserved: 1n, balance: 0n, confirmed: true };
  const ledger = metrics.watchLedger({
    size: () => 0,
    settle: async () => settled,
    release: async () => ({ ...settled, charged: 0n }),
  } as never);
  await ledger.settle({ charge } as never, { usage: { tokens_input: 1 }, attempts: [attempt] } as never);
  await ledger.release({ charge } as never);
  const store = metrics.watchStore({ ledger: { apply: async () => [] } } as never);
  await store.ledger.apply([]);
  metrics.watchService({
    calls: { count: () => 0, countStreams: () => 0 },
    catalog: () => none,
    catalogFailure: () => undefined,
    ping: async () => undefined,
    upstreams: () => [{ upstream: 'up', routes: 1, outages: [], keys: { keys: 1, rate: 0, auth: 0, quota: 0 } }],
  });
  const notes = { model: 'm', first_ms: 1, doubt: 'none came' };
  metrics.onRequestEnd({ method: 'post', route: '/', status: 200, ms: 1, aborted: false, bytes: 0, notes });
  metrics.onBadHttp({ request_id: 'r', status: 400, reason: undefined });
  metrics.onAttempt('up', { type: 'gone' });
  metrics.onPoll('up', 'processing');
  metrics.onJobEnd({ model: 'm' } as never, 'completed', 1000);
  metrics.watchJobs({ open: async () => 1 });
  metrics.watchReviews({ list: async () => [] });
  metrics.watchWorkers({ alive: () => 2, replaced: () => 0 });
  metrics.onAudit(0);
  metrics.media.onStored({ kind: 'image', bytes: 1 });
  metrics.media.onRemoved(1);
  return metrics.scrape();
}

async function families(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { types, samples } = parseExposition(await scrape());
  const found = new Map<string, Set<string>>([...types.keys()].map((name) => [name, new Set()]));
  for (const { name, labels } of samples) {
    const family = found.get(name) ?? found.get(name.replace(/_(bucket|sum|count)$/, ''));
    for (const label of Object.keys(labels)) family?.add(label);
  }
  return found;
}

/** The names in a text, without the suffixes of histograms. */
function namesIn(text: string, known: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const names = text.match(/\b(?:tollgate|nodejs|process)_[a-z0-9_]+/g) ?? [];
  return new Set(names.map((name) => (known.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''))));
}

describe('the page on metrics', () => {
  const expressions = [...rules.matchAll(/expr: (?:>-\n)?(.*?)\n {8}\w+:/gs)].map(([, text = '']) => text);
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);

  it('has every metric, with its labels and unit, and no other', async () => {
    const all = await families();
    const rows = [...page.matchAll(/^\| `(tollgate_\w+)` \| ([^|]+) \|/gm)];
    const ours = [...all.keys()].filter((name) => name.startsWith('tollgate_'));
    expect(rows.map(([, name]) => name).sort()).to.deep.equal(ours.sort());
    for (const [, name = '', shape = ''] of rows) {
      const labels = [...(all.get(name) ?? [])].filter((label) => label !== 'le').sort();
      const listed = [...shape.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort();
      expect(listed, name).to.deep.equal(labels);
      if (name.includes('_seconds')) expect(shape, name).to.match(/^histogram, s:/);
      if (name.includes('_rubles')) expect(shape, name).to.match(/^counter, RUB:/);
    }
    for (const name of namesIn(page, all)) expect([name, all.has(name)]).to.deep.equal([name, true]);
  });

  it('has those metrics, buckets and helps that are recorded', async () => {
    const lines = (await scrape()).split('\n').filter((line) => /^(# (HELP|TYPE) )?tollgate_/.test(line));
    const known = lines.map((line) =>
      line.startsWith('#')
        ? line
        : line.replace(/_seconds(\S*) .*/, '_seconds$1').replace(/(version|node)="[^"]*"/g, '$1="VERSION"'),
    );
    expectRecorded(new URL('metrics.txt', import.meta.url), [known.join('\n')]);
  });

  it('explains what to do for every alert', () => {
    const rows = [...page.matchAll(/^\| `(Tollgate\w+)` \| [^|]+ \| [^|]+ \|$/gm)].map(([, name]) => name);
    expect(rows).to.deep.equal(alerts);
    expect(new Set(alerts).size).to.equal(alerts.length);
  });

  it('has alerts on existing metrics and labels, with balanced expressions', async () => {
    const all = await families();
    expect(expressions).to.have.length(alerts.length);
    for (const expression of expressions) {
      for (const name of namesIn(expression, all)) expect([name, all.has(name)]).to.deep.equal([name, true]);
      for (const [, name = '', inner = ''] of expression.matchAll(/\b(\w+)\{([^}]*)\}/g)) {
        if (name === 'up') continue;
        const labels = all.get([...namesIn(name, all)][0] ?? '') ?? new Set(['none']);
        for (const [, label = ''] of inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)"/g)) {
          expect([name, label, labels.has(label) || label === 'job']).to.deep.equal([name, label, true]);
        }
      }
      expect(expression.split('(').length, expression).to.equal(expression.split(')').length);
      expect(expression.split('{').length, expression).to.equal(expression.split('}').length);
      expect(expression.split('"').length % 2, expression).to.equal(1);
      expect(expression, expression).to.match(/ (==|>) [\d.]+\s*$/);
    }
  });
});
