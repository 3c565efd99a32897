// Rows that the audit reads beside the journal, page by page, and rows that it must not report as damage.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type AuditReport, verifyLedger } from '../../lib/ledger/audit.ts';
import { verifyChanges } from '../../lib/ledger/audit-changes.ts';
import { checkJobs } from '../../lib/ledger/audit-jobs.ts';
import type { JournalStore, KeyAudit } from '../../lib/store/ports/journal.ts';
import type { Store } from '../../lib/store/store.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { AT, applied, charge, newId, RUB, reserve, settle } from '../contract/store/context.ts';
import { newJob } from '../contract/store/jobs.ts';
import { creditOf, newSucceeded } from '../contract/store/payments.ts';

describe('the audit', () => {
  let faulty: FaultyStore;
  let wallet: string;
  beforeEach(async () => {
    faulty = await openFaultyStore();
    wallet = await faulty.wallet();
  });
  afterEach(() => faulty.close());

  /** The store with some answers of its journal replaced. */
  const withJournal = (more: Partial<JournalStore>): Store => ({
    ...faulty.real,
    journal: { ...faulty.real.journal, ...more },
  });
  const textsOf = ({ problems }: AuditReport) => problems.map(({ problem }) => problem);
  function tamper(sql: string): void {
    const db = new DatabaseSync(faulty.path, { timeout: 5000 });
    db.exec(`DROP TRIGGER entries_stay; PRAGMA ignore_check_constraints = ON; ${sql}`);
    db.close();
  }

  it('reads all pages of charges that no entry creates', async () => {
    const lost = (id: string) => ({ id, wallet });
    const pages: Readonly<Record<string, Awaited<ReturnType<JournalStore['unknownCharges']>>>> = {
      '': { found: [lost('a')], next: 'm' },
      m: { found: [], next: 'p' },
      p: { found: [lost('z')] },
    };
    const store = withJournal({ unknownCharges: async (after) => pages[after] ?? { found: [] } });
    expect(textsOf(await verifyLedger(store))).to.deep.equal([
      'call a: no entry of the journal creates it',
      'call z: no entry of the journal creates it',
    ]);
  });

  it('reports keys without an account, and uses without a time, on every page', async () => {
    const key = { account: wallet, hasAccount: true, requestsCount: 0, lastUsedAt: null };
    const keys: readonly KeyAudit[] = [
      { ...key, id: 'a', hasAccount: false },
      ...Array.from({ length: 600 }, (_, n) => ({ ...key, id: `b${1000 + n}` })),
      { ...key, id: 'c', requestsCount: 2 },
      { ...key, id: 'd', lastUsedAt: AT },
    ];
    const store = withJournal({ keys: async (after, limit) => keys.filter(({ id }) => id > after).slice(0, limit) });
    const found = textsOf(await verifyLedger(store));
    expect(found[0]).to.equal('key a: its account does not exist');
    expect(found.slice(1).map((text) => text.slice(0, 6))).to.deep.equal(['key c:', 'key d:']);
  });

  it('reads all pages of jobs', async () => {
    const job = await newJob(faulty.real, wallet);
    const lost = Array.from({ length: 60 }, (_, n) => ({ ...job, id: `vid_${100 + n}`, charge: `req_${n}` }));
    await faulty.real.jobs.put(lost);
    const found = new Set<string>();
    const times = { lastAt: 0, attemptsSince: Number.MAX_SAFE_INTEGER };
    await checkJobs(faulty.real, (_wallet, problem) => void found.add(problem.split(':')[0] ?? ''), times);
    expect([...found]).to.deep.equal(lost.map(({ id }) => `job ${id}`));
  });

  it('accepts calls without a budget from a replacement key', async () => {
    const first = { id: newId('key'), account: wallet, name: 'n', hash: newId('hash'), last4: 'abcd', createdAt: AT };
    await faulty.real.keys.add(first, 10);
    const next = { id: newId('key'), hash: newId('hash'), last4: 'abcd', createdAt: AT, endsAt: AT + 50 };
    await faulty.real.keys.replace(first.id, next, 10);
    const shared = { period: 7, limit: 9n * RUB, key: first.id };
    await applied(faulty.real, charge(wallet, { key: next.id }), charge(wallet, { key: next.id, budget: shared }));
    expect(await verifyLedger(faulty.real)).to.include({ ok: true });
    await applied(faulty.real, charge(wallet, { key: next.id, budget: { ...shared, key: next.id } }));
    expect(textsOf(await verifyLedger(faulty.real))[0]).to.match(
      /it counts in the budget of key_\w+ instead of key_\w+$/,
    );
  });

  it('reports a call that started without enough balance, even if an overshoot hides it', async () => {
    const over = newId('req');
    const late = newId('req');
    await applied(faulty.real, reserve(wallet, { chargeId: over, amount: 900n * RUB }));
    await applied(faulty.real, settle(wallet, over, { amount: 1000n * RUB }), reserve(wallet, { chargeId: late }));
    expect(await faulty.real.ledger.charge(late)).to.equal(undefined);
    tamper(`INSERT INTO charges (id, wallet, key, kind, state, reserved, charged, model, prices, owner, lease, created_at)
        VALUES ('${late}', '${wallet}', 'k', 'text', 'held', 50, 0, 'm', '{}', 'o', ${AT}, ${AT});
      INSERT INTO entries (op_id, wallet, seq, kind, charge, at, avail, held, charged, topped, adjusted, overshoot, charged_after)
        VALUES ('reserve:${late}', '${wallet}', 4, 'reserve', '${late}', ${AT}, -50, 50, 0, 0, 0, 0, 1000000000);
      UPDATE wallets SET avail = avail - 50, held = held + 50, seq = 4 WHERE id = '${wallet}'`);
    const wanted = 'entry 4: a reserve that leaves -50, with an overshoot of 100000000';
    for (const verify of [verifyChanges, verifyLedger]) {
      expect(textsOf(await verify(faulty.real))).to.deep.equal([wanted]);
    }
  });

  it('reports the money of a missing payment in the incremental audit', async () => {
    await applied(faulty.real, creditOf(await newSucceeded(faulty.real, wallet, { id: 'pay_1' })));
    tamper("DELETE FROM payments WHERE id = 'pay_1'");
    expect(textsOf(await verifyChanges(faulty.real))).to.deep.equal(['entry 2: there is no payment pay_1']);
  });
});
