// The operator's customers: one search box, filters, order, and from a customer to any call.
import { expect } from 'chai';
import { DAY_MS } from '../../lib/base/durations.ts';
import { type Customer, type CustomerQuery, readCustomerQuery, selectCustomers } from '../../lib/console/customers.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { addDays, findDayStart, formatDay } from '../../lib/money/days.ts';
import { NO_SERVICE } from '../../lib/store/service-sums.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { applied, newAttempt, newId, reserve, settle } from '../contract/store/context.ts';

const NOW = Date.UTC(2026, 10, 26);

function customer(name: string, more: Partial<Customer> & { age?: number; status?: 'suspended' } = {}): Customer {
  const { age = 90, status = 'active', ...rest } = more;
  const account = { id: `acc_${name}`, name, status, createdAt: NOW - age * DAY_MS } as const;
  return { ...account, avail: 5n, topped: 5n, sums: { ...NO_SERVICE, calls: 1 }, ...rest };
}

describe('the customers of an operator', () => {
  const all = [
    customer('Acme', { sums: { ...NO_SERVICE, calls: 3, charged: 9n } }),
    customer('beta', { topped: 0n, age: 3, sums: NO_SERVICE, usedAt: NOW - DAY_MS }),
    customer('Gamma', { avail: -1n, sums: NO_SERVICE, usedAt: NOW }),
    customer('delta', { status: 'suspended', sums: { ...NO_SERVICE, calls: 2, charged: 12n } }),
  ];
  const select = (query: Partial<CustomerQuery>, matching: readonly string[] = []) =>
    selectCustomers(all, {
      text: '',
      filter: 'all',
      sort: 'spent',
      now: NOW,
      matching: new Set(matching),
      ...query,
    }).map(({ name }) => name);

  it('are filtered and sorted', () => {
    expect(select({})).to.deep.equal(['delta', 'Acme', 'beta', 'Gamma']);
    expect(select({ filter: 'unpaid' })).to.deep.equal(['beta']);
    expect(select({ filter: 'negative' })).to.deep.equal(['Gamma']);
    expect(select({ filter: 'suspended' })).to.deep.equal(['delta']);
    expect(select({ filter: 'silent' })).to.deep.equal(['Gamma']);
    expect(select({ sort: 'balance' })[0]).to.equal('Gamma');
    expect(select({ sort: 'created' })[0]).to.equal('beta');
    expect(select({ sort: 'last' })).to.deep.equal(['Gamma', 'beta', 'Acme', 'delta']);
    expect(select({ sort: 'name' })).to.deep.equal(['Acme', 'beta', 'delta', 'Gamma']);
  });

  it('have a low balance if it lasts less than a week at the pace of 30 days, or of fewer since they came', () => {
    const spent = { ...NO_SERVICE, calls: 1, charged: 300n };
    const lasting = (avail: bigint, sums = spent) => customer(`${avail}`, { avail, sums });
    const young = { sums: spent, age: 2 };
    const customers = [
      ...[lasting(69n), lasting(70n), lasting(0n, NO_SERVICE), lasting(-1n, NO_SERVICE)],
      ...[1049n, 1050n].map((avail) => customer(`young ${avail}`, { ...young, avail })),
    ];
    const query = { text: '', filter: 'low', sort: 'name', now: NOW, matching: new Set<string>() } as const;
    expect(selectCustomers(customers, query).map(({ name }) => name)).to.have.members(['69', '-1', 'young 1049']);
  });

  it('are found by name, ID, or what else matches', () => {
    expect(select({ text: 'ACM' })).to.deep.equal(['Acme']);
    expect(select({ text: 'acc_b' })).to.deep.equal(['beta']);
    expect(select({ text: 'anna@' }, ['acc_Gamma'])).to.deep.equal(['Gamma']);
  });

  it('are all shown for values that nobody offers', () => {
    const query = readCustomerQuery(new URLSearchParams({ q: ' x ', filter: '__proto__', sort: 'toString' }));
    expect(query).to.deep.equal({ text: 'x', filter: 'all', sort: 'spent' });
  });
});

describe('the pages of customers', () => {
  let test: TestGateway;
  let operator: Visitor;
  let wallet: string;
  let call: string;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    operator = await setUpOperator(test);
    ({ id: wallet } = await test.account());
    await test.account('0');
    await test.store.accounts.setPriceList(wallet, 'partner');
    await setUpOwner(test, wallet, 'anna@example.com');
    call = `req_${'a1'.repeat(16)}`;
    const at = Date.now();
    const end = settle(wallet, call, { at, attempts: [newAttempt({ at })] });
    await applied(test.store, reserve(wallet, { chargeId: call, at }), end);
    await foldUsage(test.store, wallet);
  });
  after(() => test.stop());

  const text = async (path: string) => (await operator.get(path)).text.replace(/\s+/g, ' ');
  const found = async (query: string) => {
    const page = await text(`/admin/accounts?${query}`);
    return [...page.matchAll(/<td[^>]*><a href="\/admin\/accounts\/(acc_\w+)">/g)].map(([, id]) => id);
  };

  it('show the price list of each customer', async () => {
    expect(await text('/admin/accounts')).to.match(/<th[^>]*>Prices, limits<\/th>.*<td[^>]*>partner<\/td>/);
  });

  it('show the limits and the last call of each customer, and sort by the latter', async () => {
    const limits = { perMinute: 30, atOnce: 2, addresses: ['10.0.0.0/8'] };
    await test.store.accounts.setRequestLimits(wallet, limits);
    const [key] = await test.store.keys.list(wallet);
    await test.store.keys.use([{ id: key?.id ?? '', count: 1, lastUsedAt: Date.UTC(2026, 0, 2, 9) }]);
    const english = await text('/admin/accounts?sort=last&lang=en');
    expect(english)
      .to.contain('>partner, 30/min, 2 at once, addresses: 1<')
      .and.to.contain('<time datetime="2026-01-02T09:00:00');
    const russian = await text('/admin/accounts?sort=last&lang=ru');
    expect(russian)
      .to.contain('>partner, 30/мин, 2 одновременно, адресов: 1<')
      .and.to.contain('>Последний запрос</th>');
    expect((await found('sort=last&lang=en'))[0]).to.equal(wallet);
    await test.store.accounts.setRequestLimits(wallet, undefined);
  });

  it('find a customer by email, key, and name, and open a call, an account or a video at once', async () => {
    const [key] = await test.store.keys.list(wallet);
    expect(await found('q=ANNA@exam')).to.deep.equal([wallet]);
    expect(await found(`q=${key?.last4}`)).to.include(wallet);
    expect(await found('q=nobody@example.com')).to.deep.equal([]);
    expect(await found('q=example.co')).to.deep.equal([wallet]);
    expect(await found('filter=unpaid')).not.to.include(wallet);
    const lead = async (q: string) => (await operator.get(`/admin/accounts?q=${q}`)).headers.location;
    expect(await lead(call)).to.equal(`/admin/ledger?id=${call}`);
    expect(await lead(wallet)).to.equal(`/admin/accounts/${wallet}`);
    expect(await lead(`Error:+chatcmpl_${call}`)).to.equal(`/admin/ledger?id=${call}`);
    expect(await lead('req_unknown')).to.equal(undefined);
  });

  it('tell of a call without a charge, such as one that was refused, why it is not there', async () => {
    const { headers } = await operator.get(`/admin/accounts?q=req_${'0'.repeat(32)}`);
    expect(headers.location).to.equal(`/admin/ledger?id=req_${'0'.repeat(32)}`);
    expect(await text(headers.location ?? '')).to.contain('Requests refused before they start');
  });

  it('lead to any call in two clicks, with its route, cost and margin', async () => {
    const list = await text('/admin/accounts');
    expect(list).to.contain('anna@example.com').and.contain('₽1.00');
    for (const sort of ['name', 'balance']) expect(await text(`/admin/accounts?sort=${sort}`)).to.contain('₽1.00');
    expect(await text('/admin/accounts?page=2&sort=name')).not.to.contain('₽1.00');
    const customer = await text(/href="(\/admin\/accounts\/acc_\w+\/calls)"/.exec(list)?.[1] ?? '');
    const page = await text(/href="(\/admin\/ledger\?id=[^"]+)"/.exec(customer)?.[1] ?? '');
    expect(page).to.contain('vendor: vendor-model').and.contain('chatcmpl-1').and.contain('Margin');
  });

  it('show a chart whose bars lead to the calls of a day', async () => {
    const page = await text(`/admin/accounts/${wallet}`);
    expect(page).to.match(/Spent: ₽1\.00\. Calls: 1, failed: 0\. Cost: ₽0\.00, margin: ₽1\.00\./);
    expect(page).not.to.contain('left out');
    const href = /<a href="(\/admin\/accounts\/acc_\w+\/calls\?from=[^"]+)"/.exec(page)?.[1] ?? '';
    expect(await text(href.replaceAll('&amp;', '&'))).to.contain(call);
    expect(await text(`/admin/accounts/${wallet}/calls?model=none`)).to.contain('No calls match.');
    expect((await operator.get('/admin/accounts/acc_none/calls')).status).to.equal(404);
  });

  it('count the days of the chart in the time zone of the account, like the calls that its bars lead to', async () => {
    const { id } = await test.account();
    const owner = await setUpOwner(test, id, 'vera@example.com');
    const user = await test.store.users.find(owner.email);
    const zone = 'Asia/Vladivostok';
    if (user) await test.store.users.change({ ...user, timeZone: zone });
    // The day before in Moscow, where the operator is.
    const day = addDays(formatDay(Date.now(), zone), -1);
    const [chargeId, at] = [newId('req'), findDayStart(day, zone)];
    await applied(test.store, reserve(id, { chargeId, at }), settle(id, chargeId, { at }));
    await foldUsage(test.store, id);
    const href = `/admin/accounts/${id}/calls?from=${day}&to=${day}`;
    expect(await text(`/admin/accounts/${id}`))
      .to.contain(`"${href.replaceAll('&', '&amp;')}"`)
      .and.to.contain(`Time zone of the account: ${zone}.`)
      .and.to.contain(`What is left at the end of this day (${zone}) is taken back.`);
    expect(await text(href)).to.contain(chargeId);
  });

  it('mark the margin of calls whose cost nobody knows', async () => {
    const { id } = await test.account();
    const [chargeId, at] = [newId('req'), Date.now()];
    const attempts = [newAttempt({ at, cost: null })];
    await applied(test.store, reserve(id, { chargeId, at }), settle(id, chargeId, { at, attempts }));
    await foldUsage(test.store, id);
    const note = 'Attempts left out of the cost: 1.';
    const page = await text(`/admin/accounts/${id}`);
    expect(page).to.contain('Cost: ₽0.00*, margin: ₽1.00*.').and.to.contain(note);
    const list = await text('/admin/accounts');
    expect(list)
      .to.match(/>₽1\.00\*</)
      .and.to.match(/>₽1\.00</)
      .and.to.contain(note);
  });

  it('name the account and the key of a call', async () => {
    const page = await text(`/admin/ledger?id=resp_${call}`);
    expect(page).to.match(new RegExp(`<a href="/admin/accounts/${wallet}">test</a>`));
    // Of a service of the operator, which uses no key of the account.
    expect(page).to.contain('<dt>Key</dt><dd><code>key_');
    const [key] = await test.store.keys.list(wallet);
    const keyed = newId('req');
    const at = Date.now() - 60_000;
    await applied(test.store, reserve(wallet, { chargeId: keyed, key: key?.id ?? '', at }));
    expect(await text(`/admin/ledger?id=${keyed}`)).to.contain(`<dd>test key (…${key?.last4})</dd>`);
    await applied(test.store, { kind: 'release', wallet, chargeId: keyed, at });
  });
});
