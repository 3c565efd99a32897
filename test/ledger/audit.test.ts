// The audit finds every kind of damage to the books, and nothing where there is none.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { auditWallet, verifyLedger } from '../../lib/ledger/audit.ts';
import type { LedgerStore, WalletAudit } from '../../lib/store/store.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../helpers/faulty-store.ts';

const sound: WalletAudit = {
  wallet: { id: 'w', avail: 70n, held: 20n, charged: 10n, topped: 90n, adjusted: 10n, seq: 5, status: 'active' },
  entries: 5,
  seqMin: 1,
  seqMax: 5,
  avail: 70n,
  held: 20n,
  charged: 10n,
  topped: 90n,
  adjusted: 10n,
  overshoot: 0n,
  unbalanced: 0,
  holds: 20n,
  settled: 10n,
};

describe('audit of one wallet', () => {
  const rows: readonly [name: string, change: Partial<WalletAudit>, drift: bigint, problems: readonly string[]][] = [
    ['nothing', {}, 0n, []],
    ['an empty wallet', emptyRow(), 0n, []],
    ['an overshoot that was recorded', indebted(5n), 0n, []],
    ['avail below the overshoot', indebted(4n), 0n, ['avail -5 is below the overshoot -4']],
    ['a column that differs from its entries', { held: 25n }, 5n, ['held: 20 instead of 25']],
    [
      'columns that do not balance',
      { wallet: { ...sound.wallet, avail: 71n }, avail: 71n },
      1n,
      ['avail + held + charged: 101 instead of 100'],
    ],
    ['a hold without its charge', { holds: 13n }, 7n, ['held by open charges: 20 instead of 13']],
    ['a charge that is not in the books', { settled: 12n }, 2n, ['charged by settled charges: 10 instead of 12']],
    ['an entry that does not balance', { unbalanced: 1 }, 0n, ['1 entries do not balance']],
    ['an entry that is missing', { entries: 4 }, 0n, ['seq 5 with 4 entries from 1 to 5']],
    ['a seq that starts late', { seqMin: 2 }, 0n, ['seq 5 with 5 entries from 2 to 5']],
    ['a wallet behind its journal', { seqMax: 6, entries: 6 }, 0n, ['seq 5 with 6 entries from 1 to 6']],
  ];
  for (const [name, change, drift, problems] of rows) {
    it(name, () => {
      expect(auditWallet({ ...sound, ...change })).to.deep.equal({ drift, problems });
    });
  }

  function emptyRow(): WalletAudit {
    const nothing = { avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n };
    const wallet = { id: 'w', ...nothing, seq: 0, status: 'active' } as const;
    return { ...sound, ...nothing, wallet, entries: 0, seqMin: 0, seqMax: 0, holds: 0n, settled: 0n };
  }

  function indebted(overshoot: bigint): Partial<WalletAudit> {
    const columns = { avail: -5n, held: 0n, charged: 105n };
    return { wallet: { ...sound.wallet, ...columns }, ...columns, holds: 0n, settled: 105n, overshoot };
  }
});

describe('audit of a store', () => {
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

  /** Changes the file past the store, and past its own checks. */
  function tamper(sql: string): void {
    const db = new DatabaseSync(faulty.path, { timeout: 5000 });
    db.exec(`DROP TRIGGER entries_stay; DROP TRIGGER entries_remain; PRAGMA foreign_keys = OFF;
      PRAGMA ignore_check_constraints = ON; ${sql}`);
    db.close();
  }

  it('is content with what the ledger wrote, over all pages of wallets', async () => {
    for (let count = 0; count < 5; count += 1) await faulty.wallet(count % 2 === 0 ? 1000n : 0n);
    const report = await verifyLedger(faulty.store);
    expect(report).to.deep.equal({ ok: true, wallets: 6, entries: 10, drift: 0n, problems: [] });

    for (let count = 0; count < 200; count += 1) {
      await faulty.real.accounts.create({ id: `acc_${String(count).padStart(4, '0')}`, name: 'n', createdAt: 1 });
    }
    const sizes: number[] = [];
    const audit: LedgerStore['audit'] = async (page) => {
      const rows = await faulty.real.ledger.audit(page);
      sizes.push(rows.length);
      return rows;
    };
    const counted = { ...faulty.real, ledger: { ...faulty.real.ledger, audit } };
    expect(await verifyLedger(counted)).to.include({ ok: true, wallets: 206, entries: 10 });
    expect(sizes).to.deep.equal([200, 6]);
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
    ['an entry changed', () => `UPDATE entries SET avail = avail + 1 WHERE op_id = 'adjust:a'`, /^avail: /, 1n],
    ['an open charge closed', () => `UPDATE charges SET state = 'expired' WHERE id = 'open'`, /^held by open /, 10n],
    ['a charge made cheaper', () => `UPDATE charges SET charged = 1 WHERE id = 'settled'`, /^charged by settled /, 14n],
    ['a refund undone', () => `UPDATE charges SET state = 'settled' WHERE id = 'refunded'`, /^charged by /, 20n],
    [
      'entries renumbered',
      () => `UPDATE entries SET seq = 100 WHERE op_id = 'adjust:a'`,
      /^seq 7 with 7 entries from 1 to 100$/,
      0n,
    ],
  ];
  for (const [name, sql, problem, drift] of damages) {
    it(`finds ${name}`, async () => {
      tamper(sql(id));
      const report = await verifyLedger(faulty.store);
      expect(report).to.include({ ok: false, wallets: 1, drift });
      expect(report.problems[0]?.wallet).to.equal(id);
      expect(report.problems.map((found) => found.problem)[0]).to.match(problem);
    });
  }

  it('rejects when the store does not answer', async () => {
    faulty.next('ledger.audit', refuse);
    const error = await verifyLedger(faulty.store).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.name).to.equal('StoreError');
  });
});
