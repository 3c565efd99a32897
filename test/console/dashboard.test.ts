// The figures of the operator's start page: periods, failures and upstreams; and the calls behind them.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { estimatePercentile, findBucket, NO_TIMES } from '../../lib/base/time-buckets.ts';
import { listFailures, listUpstreams, readDashboard, readDashboardRange } from '../../lib/console/dashboard/figures.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import type { ServiceRow } from '../../lib/store/ports/usage.ts';
import { formatRouteName, NO_SERVICE, type RouteName } from '../../lib/store/service-sums.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { applied, giveBack, newAttempt, newId, reserve, settle } from '../contract/store/context.ts';

const NOW = Date.UTC(2026, 10, 26, 9, 30);
const ZONE = 'Europe/Moscow';

function route(name: Partial<RouteName>, totals: Partial<ServiceRow>): ServiceRow {
  const labels = { upstream: 'vendor', model: 'm', ending: 'answered', reason: '', ...name } as const;
  return { ...NO_SERVICE, at: 0, name: formatRouteName(labels), ...totals };
}

describe('the period of the start page', () => {
  const range = (query: string) => readDashboardRange(new URLSearchParams(query), ZONE, NOW);

  it('is the last 24 hours, a day, or 7 or 30 days', () => {
    expect(range('').slots).to.have.length(24);
    expect(range('').to).to.equal(Date.UTC(2026, 10, 26, 10));
    expect(range('day=2026-11-25').from).to.equal(Date.UTC(2026, 10, 24, 21));
    const week = range('span=week');
    expect([week.slots.length, week.slots[0]?.day, week.slots.at(-1)?.day]).to.deep.equal([
      7,
      '2026-11-20',
      '2026-11-26',
    ]);
    expect(week.from - week.before).to.equal(7 * 24 * HOUR_MS);
    const month = range('span=month');
    expect([month.slots.length, month.slots.at(-1)?.day]).to.deep.equal([30, '2026-11-26']);
    expect(month.from - month.before).to.equal(30 * 24 * HOUR_MS);
  });

  it('ignores days that are none, or have not begun', () => {
    for (const query of ['day=2026-13-01', 'day=x', 'day=2026-11-27']) expect(range(query).day).to.equal(undefined);
  });
});

describe('the figures of the start page', () => {
  it('are read for the period, the one before, the last hours and today', async () => {
    const asked: Record<string, unknown>[] = [];
    const row = (name: string, charged: bigint, more: Partial<ServiceRow> = {}): ServiceRow => ({
      ...NO_SERVICE,
      ...{ at: 0, name, charged, calls: 1, ...more },
    });
    const models = [row('a', 5n), row('b', 5n, { calls: 3 }), row('c', 7n), row('a', 1n, { at: 1 })];
    const serviceSums = async (query: Record<string, unknown>) => {
      asked.push(query);
      if (query.subject === 'account') return [row('acc_1', 4n), row('acc_2', 3n)];
      if (query.subject === 'route') return query.counts ? [route({ ending: 'timeout' }, { failed: 2 })] : [];
      return query.by === 'both' ? models : [row('a', 2n), row('b', 1n)];
    };
    const ranks = [row('acc_1', 4n), row('acc_2', 3n), row('acc_3', 0n, { calls: 0 })];
    const spans: unknown[] = [];
    const store = {
      usage: { serviceSums },
      ledger: {
        paymentSums: async (span: object) => spans.push(span) && [{ amount: 9n }, { amount: -4n }, { amount: 1n }],
      },
      accounts: { names: async () => [{ id: 'acc_1', name: 'Acme' }], countCreated: async () => 2 },
    } as unknown as Parameters<typeof readDashboard>[0]['store'];
    const range = readDashboardRange(new URLSearchParams(), ZONE, NOW);
    const figures = await readDashboard({ store, customerRanks: async () => ranks }, range, { now: NOW, zone: ZONE });
    expect(figures.models.map(({ name, charged }) => [name, charged])).to.deep.equal([
      ['c', 7n],
      ['a', 6n],
      ['b', 5n],
    ]);
    expect([figures.total.charged, figures.before.charged]).to.deep.equal([18n, 3n]);
    expect(figures.accounts.map(({ title }) => title)).to.deep.equal(['Acme', 'acc_2']);
    expect(figures).to.include({ active: 2, created: 2, paidToday: 10n, returnedToday: 4n });
    expect(figures.failures).to.deep.equal([{ ending: 'timeout', reason: '', failed: 2 }]);
    const hour = NOW - (NOW % HOUR_MS);
    expect(figures.upstreamsSince).to.equal(hour - HOUR_MS);
    const today = Date.UTC(2026, 10, 25, 21);
    expect(spans).to.deep.equal([{ from: today, to: NOW + HOUR_MS }]);
    expect(asked.map(({ from, to }) => [from, to])).to.deep.equal([
      [range.from, range.to],
      [range.before, range.from],
      [range.from, range.to],
      [hour - HOUR_MS, NOW + HOUR_MS],
      [range.from, range.to],
    ]);
    expect(asked.at(-1)?.names).to.deep.equal(['acc_1', 'acc_2', 'acc_3']);
  });

  it('begin what was received today at midnight, also in a zone half an hour off', async () => {
    const spans: unknown[] = [];
    const store = {
      usage: { serviceSums: async () => [] },
      ledger: { paymentSums: async (span: object) => spans.push(span) && [] },
      accounts: { names: async () => [], countCreated: async () => 0 },
    } as unknown as Parameters<typeof readDashboard>[0]['store'];
    const of = { now: Date.UTC(2026, 10, 26, 18, 45), zone: 'Asia/Kolkata' };
    const range = readDashboardRange(new URLSearchParams(), of.zone, of.now);
    await readDashboard({ store, customerRanks: async () => [] }, range, of);
    expect(spans).to.deep.equal([{ from: Date.UTC(2026, 10, 26, 18, 30), to: of.now + HOUR_MS }]);
  });

  it('have models of the same sum by their calls, and ten at most', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => ({
      ...NO_SERVICE,
      at: 0,
      name: `m${at}`,
      charged: 5n,
      calls: at,
    }));
    const store = {
      usage: {
        serviceSums: async ({ by, subject }: Record<string, unknown>) =>
          subject === 'model' && by === 'both' ? rows : [],
      },
      ledger: { paymentSums: async () => [] },
      accounts: { names: async () => [], countCreated: async () => 0 },
    } as unknown as Parameters<typeof readDashboard>[0]['store'];
    const range = readDashboardRange(new URLSearchParams('day=2026-11-25'), ZONE, NOW);
    const { models, accounts } = await readDashboard({ store, customerRanks: async () => [] }, range, {
      now: NOW,
      zone: ZONE,
    });
    expect(models.map(({ name }) => name)).to.deep.equal(Array.from({ length: 10 }, (_, at) => `m${11 - at}`));
    expect(accounts).to.deep.equal([]);
    expect([range.to - range.from, range.from - range.before]).to.deep.equal([24 * HOUR_MS, 24 * HOUR_MS]);
  });
});

describe('the sums of routes', () => {
  it('become reasons of failed calls, most often first', () => {
    const rows = [
      route({ ending: 'failed', reason: '503 overloaded' }, { attempts: 9, failed: 2 }),
      route({ ending: 'failed', reason: '503 overloaded', upstream: 'other' }, { failed: 3 }),
      route({ ending: 'timeout' }, { failed: 1 }),
      route({}, { attempts: 5 }),
    ];
    expect(listFailures(rows)).to.deep.equal([
      { ending: 'failed', reason: '503 overloaded', failed: 5 },
      { ending: 'timeout', reason: '', failed: 1 },
    ]);
  });

  it('become upstreams with faults, which those who left are not', () => {
    const first = NO_TIMES.map((_, at) => (at === findBucket(250) ? 4 : 0));
    const rows = [
      route({}, { attempts: 4, first, cost: 5n }),
      route({ ending: 'left' }, { attempts: 2 }),
      route({ ending: 'cut' }, { attempts: 1 }),
      route({ upstream: '', ending: 'lost' }, { failed: 1 }),
    ];
    const [vendor, ...others] = listUpstreams(rows);
    expect(others).to.deep.equal([]);
    expect(vendor).to.deep.include({ upstream: 'vendor', attempts: 7, faults: 1, cost: 5n });
    expect(estimatePercentile(vendor?.first ?? [], 0.5)).to.be.within(200, 300);
  });

  it('have no percentile without times, and the last bound above it', () => {
    expect(estimatePercentile(NO_TIMES, 0.5)).to.equal(undefined);
    const late = NO_TIMES.map((_, at) => (at === findBucket(100_000) ? 1 : 0));
    expect(estimatePercentile(late, 0.95)).to.equal(60_000);
  });
});

describe('the start page of an operator', () => {
  let test: TestGateway;
  let operator: Visitor;
  let wallet: string;
  let settled: string;
  const text = async (path: string) => (await operator.get(path)).text.replace(/\s+/g, ' ');

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    operator = await setUpOperator(test);
    ({ id: wallet } = await test.account());
    const at = Date.now();
    const FAILED = newAttempt({
      at,
      ending: 'failed',
      reason: '503 overloaded',
      certainty: 'possible',
      cost: null,
      firstMs: null,
    });
    settled = newId('req');
    const failed = newId('req');
    await applied(
      test.store,
      reserve(wallet, { chargeId: settled, at }),
      settle(wallet, settled, { at, attempts: [FAILED, newAttempt({ at: at + 1 })] }),
      reserve(wallet, { chargeId: failed, at }),
      giveBack('release', wallet, failed, { at, attempts: [FAILED] }),
    );
    await foldUsage(test.store, wallet);
  });
  after(() => test.stop());

  it('shows revenue, cost, margin, calls and failures, each with a link to its calls', async () => {
    const page = await text('/admin');
    expect(page).to.match(/Revenue<\/dt><dd><a class="big" href="\/admin\/calls\?from=[^"]+">₽1\.00</);
    expect(page).to.match(/Margin<\/dt><dd><a [^>]+>₽1\.00\*</);
    expect(page).to.match(/Failed calls<\/dt><dd><a [^>]+faults=yes">1<.*?50% of calls/);
    expect(page).to.match(/failed: 503 overloaded<\/a><\/td><td[^>]*>1</);
    expect(page).to.match(/Active customers<\/dt><dd><a class="big" href="\/admin\/accounts\?sort=last">1<.*?new: 2</);
    expect(page).to.match(/>vendor<\/a><\/td><td[^>]*>3<.*?66\.7%/);
    for (const [, href = ''] of page.matchAll(/href="(\/admin\/calls[^"]+)"/g)) {
      expect((await operator.get(href.replaceAll('&amp;', '&'))).status, href).to.equal(200);
    }
  });

  it('leads to yesterday and to 7 days, and says which period it shows', async () => {
    const first = await text('/admin');
    const yesterday = /<a href="(\/admin\?day=[^"]+)">Yesterday/.exec(first)?.[1] ?? '';
    expect(await text(yesterday)).to.contain(`<a href="${yesterday}" aria-current="true">Yesterday</a>`);
    expect(first).to.contain('<a href="/admin?span=week">7 days</a>');
    const week = await text('/admin?span=week');
    expect(week).to.contain('<a href="/admin?span=week" aria-current="true">7 days</a>').and.to.contain('₽1.00');
  });

  it('shows 30 days, and an hour of any day', async () => {
    const month = await text('/admin?span=month');
    const day = [...month.matchAll(/href="(\/admin\?day=[^"]+)"/g)].at(-1)?.[1] ?? '';
    expect(await text(day)).to.match(/Revenue<\/dt><dd><a [^>]+>₽1\.00</);
    const quiet = await text('/admin?day=2020-01-01');
    expect(quiet)
      .to.contain('aria-current="true">1 Jan 2020</a>')
      .and.to.contain('No calls in this period.')
      .and.not.to.contain('class="chart"');
    expect(await text('/admin')).to.contain('class="chart"');
  });

  it('finds attempts by their reason, and leads to the call with its route and cause', async () => {
    const found = await text('/admin/calls?reason=503+overloaded');
    expect([...found.matchAll(/failed: 503 overloaded/g)]).to.have.length(2);
    expect(await text('/admin/calls?model=nothing')).to.contain('No attempts match.');
    expect(await text('/admin/calls?faults=yes&ending=answered')).to.contain('No attempts match.');
    const href = /href="(\/admin\/ledger\?id=[^"]+)"/.exec(found)?.[1] ?? '';
    expect(await text(href)).to.contain('failed: 503 overloaded');
    expect((await operator.get('/admin/calls?before=x')).status).to.equal(404);
    const odd = await operator.get('/admin/calls?from=2026-99-99T00:00&to=x&upstream=%00&ending=none');
    expect(odd.status).to.equal(200);
  });

  it('marks what a failed attempt may have cost in the list of attempts', async () => {
    const { id } = await test.account();
    const [chargeId, at] = [newId('req'), Date.now()];
    const attempt = { at, ending: 'failed', certainty: 'possible' } as const;
    const attempts = [newAttempt(attempt), newAttempt({ at: at + 1 })];
    await applied(test.store, reserve(id, { chargeId, at }), settle(id, chargeId, { at, attempts }));
    const list = await text(`/admin/calls?account=${id}`);
    expect(list)
      .to.match(/>₽0\.00 \(possible\)</)
      .and.to.match(/>₽1\.00<\/td><td[^>]*>₽0\.00</);
  });

  it('adds all upstreams up where there are several, and leads to customers whose balance runs out', async () => {
    const page = await text('/admin');
    expect(page).not.to.contain('>All</a>');
    expect(page).to.contain('<a href="/admin/accounts?filter=low">Whose balance runs out within a week</a>');
    const { id } = await test.account();
    const [chargeId, at] = [newId('req'), Date.now()];
    const attempts = [newAttempt({ at, upstream: 'other' })];
    await applied(test.store, reserve(id, { chargeId, at }), settle(id, chargeId, { at, attempts }));
    await foldUsage(test.store, id);
    const row = /<tr[^>]*><td[^>]*><a href="([^"]+)">All<\/a><\/td>(.*?)<\/tr>/.exec(await text('/admin'));
    expect(row?.[2]?.replace(/<[^>]+>/g, ' ')).to.match(/^ 4 +100% +50% /);
    expect(row?.[1]).to.match(/^\/admin\/calls\?from=[^&]+&amp;to=[^&]+$/);
  });

  it('is not for owners', async () => {
    const owner = await setUpOwner(test, wallet);
    for (const path of ['/admin', '/admin/calls']) expect((await owner.get(path)).status).to.equal(404);
  });
});
