// Lists that go on over several pages: following them shows everything once.
import { expect } from 'chai';
import type { Visitor } from '../../testkit/pages.ts';
import { appliedInBatches, newAttempt, newId, RUB, reserve, settle } from '../contract/store/context.ts';
import { newOrder } from '../contract/store/payments.ts';
import { makeUser } from '../contract/store/people.ts';
import { openPages, type Pages } from './stage.ts';

const ROWS = 120;

describe('long lists on pages', function () {
  this.timeout(60_000);
  let pages: Pages;
  let owner: Awaited<ReturnType<Pages['owner']>>;
  let operator: Visitor;

  before(async () => {
    pages = await openPages();
    owner = await pages.owner();
    operator = await pages.operator();
  });
  after(() => pages.close());

  /** What the expression finds on the pages, one after the other. */
  async function walk(who: Visitor, path: string, pattern: RegExp, by = ''): Promise<readonly (readonly string[])[]> {
    const found: string[][] = [];
    for (let next: string | undefined = path; next !== undefined && found.length < 9; ) {
      const { status, text } = await who.get(next.replaceAll('&amp;', '&'));
      expect(status, next).to.equal(200);
      found.push([...new Set([...text.matchAll(pattern)].map(([, id = '']) => id))]);
      [, next] = new RegExp(`<a href="([^"]*${by}[^"]*)" rel="next">`).exec(text) ?? [];
    }
    return found;
  }

  function expectAll(found: readonly (readonly string[])[], wanted: readonly string[]): void {
    expect(found.length).to.be.above(1);
    expect(found.flat()).to.have.length(wanted.length);
    expect(found.flat()).to.have.members(wanted);
  }

  it('show all calls and all attempts, of owners and of operators', async () => {
    const now = Date.now();
    const calls = Array.from({ length: ROWS }, (_, at) => ({ chargeId: newId('req'), at: now - 60_000 + at }));
    await appliedInBatches(
      pages.faults.real,
      calls.flatMap(({ chargeId, at }, index) => [
        reserve(owner.account, { chargeId, at, amount: RUB / 1000n }),
        settle(owner.account, chargeId, {
          at,
          amount: 1n,
          attempts: [newAttempt({ at: now - 60_000 + Math.floor(index / 2) })],
        }),
      ]),
    );
    const ids = calls.map(({ chargeId }) => chargeId);
    const last = ids.toReversed();
    for (const path of ['/account/calls', '/account/calls?state=settled']) {
      const found = await walk(owner, path, /href="\/account\/calls\/(req_\w+)"/g);
      expectAll(found, ids);
      expect(found.flat(), 'newest first').to.deep.equal(last);
    }
    const of = `/admin/accounts/${owner.account}/calls`;
    for (const path of [of, `${of}?state=settled`])
      expectAll(await walk(operator, path, /href="\/admin\/ledger\?id=(req_\w+)"/g), ids);
    expectAll(await walk(operator, '/admin/calls?lang=en', /href="\/admin\/ledger\?id=(req_\w+)"/g), ids);
    for (const before of ['x', '1 y req_1', '1.5 1 req_1'])
      expect((await operator.get(`/admin/calls?before=${encodeURIComponent(before)}`)).status, before).to.equal(404);
  });

  it('show all payments, and all movements of a wallet', async () => {
    const { real } = pages.faults;
    const orders = Array.from({ length: ROWS }, (_, at) =>
      newOrder(owner.account, { createdAt: 1_700_000_000_000 + at }),
    );
    for (const order of orders) await real.payments.create(order);
    const ids = orders.map(({ id }) => id);
    expectAll(await walk(owner, '/account/wallet', /order=(pay_\w+)/g, 'payments='), ids);
    expectAll(await walk(operator, '/admin/payments', /href="\/admin\/payments\/(pay_\w+)"/g), ids);
    const amounts = Array.from({ length: 250 }, (_, at) => 10_000n + BigInt(at));
    await appliedInBatches(
      real,
      amounts.map((kopecks) => ({
        ...({ kind: 'adjust', wallet: owner.account, at: Date.now(), reason: 'r', adjustId: newId('adj') } as const),
        amount: kopecks * 10_000n,
      })),
    );
    const found = await walk(owner, '/account/wallet?lang=en', /\+₽(10\d\.\d\d)/g, 'before=');
    expectAll(
      found,
      amounts.map((kopecks) => `${kopecks / 100n}.${String(kopecks % 100n).padStart(2, '0')}`),
    );
  });

  it('show all lines of the audit log', async () => {
    const { real } = pages.faults;
    const targets = Array.from({ length: ROWS }, (_, at) => `target-${1000 + at}`);
    for (const target of targets)
      await real.auditLog.append({
        at: 1,
        user: 'u',
        action: 'account.note',
        account: null,
        target,
        detail: '{}',
        address: '',
      });
    expectAll(await walk(operator, '/admin/audit', /(target-\d{4})/g), targets);
  });

  it('show all customers, and the newest hundred people', async () => {
    const { real } = pages.faults;
    const ids = Array.from({ length: ROWS }, (_, at) => `acc_list${1000 + at}`);
    for (const [at, id] of ids.entries()) await real.accounts.create({ id, name: `customer ${id}`, createdAt: at });
    const found = await walk(
      operator,
      '/admin/accounts?q=acc_list&sort=name',
      /href="\/admin\/accounts\/(acc_list\d+)"/g,
    );
    expectAll(found, ids);
    expect(found.flat()).to.deep.equal(ids);
    for (let at = 0; at < 101; at += 1)
      await real.users.add(makeUser({ email: `many-${1000 + at}@example.com`, createdAt: at }));
    for (const [query, more, shown] of [
      ['many-', '1 more: narrow your search.', 100],
      ['many-10', undefined, 100],
      ['many-1100', undefined, 1],
    ] as const) {
      const { text } = await operator.get(`/admin/people?q=${query}&lang=en`);
      const people = [...text.matchAll(/>(many-\d+)@example\.com</g)].map(([, name]) => name);
      expect(people.length, query).to.equal(shown);
      expect(/\d+ more: narrow your search\./.exec(text)?.[0]).to.equal(more);
      if (shown === 100 && more) expect(people[0]).to.equal('many-1100');
    }
  });
});
