// The audit finds every kind of damage to the books, and nothing in an intact store.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import type { JournalStore } from '../../lib/store/ports/journal.ts';
import type { Progress, Store } from '../../lib/store/store.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { newOrder } from '../contract/store/payments.ts';

describe('the audit of a store', () => {
  let faulty: FaultyStore;
  let id: string;

  beforeEach(async () => {
    faulty = await openFaultyStore();
    id = await faulty.wallet();
    const at = Date.now();
    const start = { wallet: id, key: 'k', chargeKind: 'text', model: 'm', prices: '{}', at } as const;
    const hold = { ...start, kind: 'reserve', amount: 10n, owner: 'me', lease: at } as const;
    await faulty.apply({ ...hold, chargeId: 'open' });
    await faulty.apply({ ...hold, chargeId: 'settled' });
    const tokens = { usage: '{"tokens_input":1,"tokens_output":1}' };
    await faulty.apply({ kind: 'settle', wallet: id, chargeId: 'settled', amount: 15n, at, ...tokens });
    await faulty.apply({ ...start, kind: 'charge', chargeId: 'refunded', amount: 20n });
    await faulty.apply({ kind: 'refund', wallet: id, chargeId: 'refunded', at });
    await faulty.apply({ kind: 'adjust', wallet: id, amount: -5n, reason: 'r', adjustId: 'a', at });
  });
  afterEach(() => faulty.close());

  /** Changes the database file directly, without its checks. */
  function tamper(sql: string): void {
    const db = new DatabaseSync(faulty.path, { timeout: 5000 });
    db.exec(`DROP TRIGGER entries_stay; DROP TRIGGER entries_remain; PRAGMA foreign_keys = OFF;
      PRAGMA ignore_check_constraints = ON; ${sql}`);
    db.close();
  }

  it('finds nothing in rows that the ledger wrote, over all pages of wallets', async () => {
    for (let count = 0; count < 5; count += 1) await faulty.wallet(count % 2 === 0 ? 1000n : 0n);
    const report = await verifyLedger(faulty.store);
    expect(report).to.deep.equal({ ok: true, wallets: 6, entries: 10, drift: 0n, problems: [], more: 0 });

    for (let count = 0; count < 600; count += 1) {
      await faulty.real.accounts.create({ id: `acc_${String(count).padStart(4, '0')}`, name: 'n', createdAt: 1 });
    }
    const sizes: number[] = [];
    const page: JournalStore['page'] = async (...args) => {
      const rows = await faulty.real.journal.page(...args);
      sizes.push(rows.accounts.length);
      return rows;
    };
    const counted = { ...faulty.real, journal: { ...faulty.real.journal, page } };
    expect(await verifyLedger(counted)).to.include({ ok: true, wallets: 606, entries: 10 });
    expect(sizes).to.deep.equal([500, 106]);
  });

  it('fails if any of its reads fails', async () => {
    await faulty.real.payments.create(newOrder(id, { id: 'pay_1' }));
    const reads = ['journal.page', 'journal.unknownCharges', 'journal.keys', 'jobs.page', 'payments.page'] as const;
    const others = [
      'usage.readAll',
      'archives.list',
      'accounts.findWrongMarks',
      'users.findWrongMarks',
      'payments.findWrongMarks',
      'jobs.findWrongMarks',
      'archives.findWrongMarks',
    ] as const;
    for (const read of [...reads, ...others] as const) {
      faulty.next(read, refuse);
      expect(await verifyLedger(faulty.store).catch(({ message }) => message), read).to.equal('refused by the test');
      expect(await verifyLedger(faulty.store), read).to.include({ ok: true });
    }
    faulty.next('journal.size', refuse);
    const failed = await verifyLedger(faulty.store, () => undefined).catch(({ message }) => message);
    expect(failed).to.equal('refused by the test');
  });

  it('reads all pages of payments', async () => {
    for (let count = 0; count < 51; count += 1) {
      await faulty.real.payments.create(newOrder(id, { id: `pay_${String(count).padStart(2, '0')}` }));
    }
    const sizes: number[] = [];
    const page: Store['payments']['page'] = async (...args) => {
      const rows = await faulty.real.payments.page(...args);
      if (args[0] === 'payments') sizes.push(rows.length);
      return rows;
    };
    const counted = { ...faulty.real, payments: { ...faulty.real.payments, page } };
    expect(await verifyLedger(counted)).to.include({ ok: true });
    expect(sizes).to.deep.equal([50, 1]);
  });

  it('streams the entries of one wallet, and reports its progress', async () => {
    const at = Date.now();
    for (let count = 0; count < 600; count += 1) {
      await faulty.apply({ kind: 'adjust', wallet: id, amount: 1n, reason: 'r', adjustId: `more-${count}`, at });
    }
    const shown: Progress[] = [];
    const report = await verifyLedger(faulty.store, (progress) => shown.push(progress));
    expect(report).to.include({ ok: true, entries: 607 });
    expect(shown.map(({ done, total, unit }) => [done, total, unit])).to.deep.equal([
      [500, 607, 'entries'],
      [607, 607, 'entries'],
    ]);
    tamper(`UPDATE entries SET charged_after = charged_after + 1 WHERE op_id = 'adjust:more-550'`);
    expect((await verifyLedger(faulty.store)).problems.map(({ problem }) => problem)).to.deep.equal([
      'entry 558: charged so far 16 instead of 15',
      'entry 558: its mark says another id, time, amount, note or status',
      'entry 559: charged so far 15 instead of 16',
    ]);
  });

  it('keeps the first problems of a wallet and counts the rest', async () => {
    const at = Date.now();
    for (let count = 0; count < 30; count += 1) {
      await faulty.apply({ kind: 'adjust', wallet: id, amount: 1n, reason: 'r', adjustId: `more-${count}`, at });
    }
    tamper(`UPDATE entries SET op_id = 'topup' || substr(op_id, 7) WHERE op_id LIKE 'adjust:more%'`);
    const { ok, problems, more } = await verifyLedger(faulty.store);
    expect([ok, problems.length, more]).to.deep.equal([false, 20, 10]);
    expect(problems[0]?.problem).to.equal('entry 8: opId topup:more-0 instead of adjust:more-0');
  });

  it('reports a wallet that spent more than it had', async () => {
    tamper(`UPDATE entries SET avail = avail - 2000000000, topped = topped - 2000000000 WHERE seq = 1`);
    const found = (await verifyLedger(faulty.store)).problems.map(({ problem }) => problem);
    expect(found.filter((problem) => problem.includes('that leaves'))).to.deep.equal([
      'entry 1: a topup that leaves -1000000000, with an overshoot of 0',
    ]);
  });

  it('reports a charge with a key of another account', async () => {
    const other = await faulty.wallet();
    const names = { account: other, name: 'n', last4: 'abcd', createdAt: 1 };
    await faulty.real.keys.add({ ...names, id: 'k', hash: 'h' }, 10);
    const key = 'its key k is not one of this account';
    const wanted = ['open', 'settled', 'refunded'].map((call) => ({ wallet: id, problem: `call ${call}: ${key}` }));
    expect((await verifyLedger(faulty.store)).problems).to.deep.equal(wanted);
  });

  const damages: readonly [name: string, sql: (id: string) => string, problem: RegExp, drift: bigint][] = [
    [
      'money from nowhere',
      (of) => `UPDATE wallets SET avail = avail + 7 WHERE id = '${of}'`,
      /^avail \+ held \+ charged: /,
      14n,
    ],
    [
      'money moved past the journal',
      (of) => `UPDATE wallets SET avail = avail + 7, adjusted = adjusted + 7 WHERE id = '${of}'`,
      /^avail: /,
      14n,
    ],
    ['an entry deleted', () => `DELETE FROM entries WHERE op_id = 'adjust:a'`, /^avail: /, 10n],
    [
      'an entry changed',
      () => `UPDATE entries SET avail = avail + 1 WHERE op_id = 'adjust:a'`,
      /^entry 7: it does not balance/,
      1n,
    ],
    [
      'an open charge closed',
      () => `UPDATE charges SET state = 'expired' WHERE id = 'open'`,
      /^call open: held: 0 instead of 10$/,
      10n,
    ],
    [
      'a charge made cheaper',
      () => `UPDATE charges SET charged = 1 WHERE id = 'settled'`,
      /^call settled: charged: 1 instead of 15$/,
      14n,
    ],
    [
      'a refund undone',
      () => `UPDATE charges SET state = 'settled' WHERE id = 'refunded'`,
      /^call refunded: charged: 20 instead of 0$/,
      20n,
    ],
    [
      'entries renumbered',
      () => `UPDATE entries SET seq = 100 WHERE op_id = 'adjust:a'`,
      /^seq 7 with 7 entries from 1 to 100$/,
      0n,
    ],
  ];
  for (const [name, sql, problem, drift] of damages) {
    it(`reports ${name}`, async () => {
      tamper(sql(id));
      const report = await verifyLedger(faulty.store);
      expect(report).to.include({ ok: false, wallets: 1, drift });
      expect(report.problems[0]?.wallet).to.equal(id);
      expect(report.problems.map((found) => found.problem)[0]).to.match(problem);
    });
  }

  it('rejects when the store does not answer', async () => {
    faulty.next('journal.page', refuse);
    const error = await verifyLedger(faulty.store).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.name).to.equal('StoreError');
  });
});
