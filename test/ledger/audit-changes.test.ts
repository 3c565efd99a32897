// The incremental audit: it reads no entry twice, finds problems of new entries and of every wallet, and reports them with
// each audit.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { verifyChanges } from '../../lib/ledger/audit-changes.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';

const CLEAN = { ok: true, drift: 0n, problems: [], more: 0 };

describe('the incremental audit', () => {
  let faulty: FaultyStore;
  let wallets: string[];
  let calls = 0;

  beforeEach(async () => {
    faulty = await openFaultyStore();
    wallets = [await faulty.wallet(), await faulty.wallet(), await faulty.wallet()];
    for (const wallet of wallets) await call(wallet);
    expect(await verifyChanges(faulty.store)).to.deep.equal({ ...CLEAN, wallets: 3, entries: 9 });
  });
  afterEach(() => faulty.close());

  /** A hold and its settlement. */
  async function call(wallet: string): Promise<void> {
    calls += 1;
    const of = { wallet, chargeId: `req_${calls}`, at: Date.now() };
    const start = { key: 'k', chargeKind: 'text', model: 'm', prices: '{}', owner: 'me', lease: Date.now() } as const;
    await faulty.apply({ kind: 'reserve', ...of, ...start, amount: 10n });
    await faulty.apply({ kind: 'settle', ...of, amount: 15n, usage: '{"tokens_input":1,"tokens_output":1}' });
  }

  /** Changes the database file directly, without its checks. */
  function tamper(sql: string): void {
    const db = new DatabaseSync(faulty.path, { timeout: 5000 });
    db.exec(`DROP TRIGGER IF EXISTS entries_stay; DROP TRIGGER IF EXISTS entries_remain; PRAGMA foreign_keys = OFF;
      PRAGMA ignore_check_constraints = ON; ${sql}`);
    db.close();
  }
  const problems = async () =>
    (await verifyChanges(faulty.store)).problems.map(({ wallet, problem }) => [wallet, problem]);

  it('reads only the entries since the last audit', async () => {
    expect(await verifyChanges(faulty.store)).to.deep.equal({ ...CLEAN, wallets: 3, entries: 0 });
    await call(wallets[1] as string);
    expect(await verifyChanges(faulty.store)).to.deep.equal({ ...CLEAN, wallets: 3, entries: 2 });
    await faulty.wallet();
    expect(await verifyChanges(faulty.store)).to.deep.equal({ ...CLEAN, wallets: 4, entries: 1 });
    expect(await verifyChanges(faulty.store)).to.deep.equal({ ...CLEAN, wallets: 4, entries: 0 });
  });

  it('writes the checkpoints of many wallets together', async () => {
    for (let more = 0; more < 150; more += 1) await faulty.wallet();
    let puts = 0;
    faulty.always('checkpoints.put', (put) => {
      puts += 1;
      return put();
    });
    expect(await verifyChanges(faulty.store)).to.deep.equal({ ...CLEAN, wallets: 153, entries: 150 });
    expect(puts).to.equal(3);
    expect(await verifyChanges(faulty.store)).to.deep.equal({ ...CLEAN, wallets: 153, entries: 0 });
    expect(puts).to.equal(3);
  });

  it('fails if it cannot write the first of many checkpoints', async () => {
    for (let more = 0; more < 150; more += 1) await faulty.wallet();
    faulty.next('checkpoints.put', refuse);
    expect(await verifyChanges(faulty.store).catch(({ message }) => message)).to.equal('refused by the test');
  });

  it('compares every wallet, however many there are', async () => {
    const ids = Array.from({ length: 2100 }, (_, index) => `a${index}`);
    tamper(
      `INSERT INTO accounts (id, name, created_at) VALUES ${ids.map((id) => `('${id}', 'n', 1)`).join(', ')};
      INSERT INTO wallets (id) VALUES ${ids.map((id) => `('${id}')`).join(', ')}`,
    );
    let looks = 0;
    faulty.always('checkpoints.changes', (look) => {
      looks += 1;
      return look();
    });
    for (const wallet of wallets) await call(wallet);
    expect(await verifyChanges(faulty.store)).to.deep.equal({ ...CLEAN, wallets: 2103, entries: 6 });
    expect(looks).to.equal(3);
  });

  it('checks the settlement of a hold that an earlier audit has read', async () => {
    const wallet = wallets[0] as string;
    const of = { wallet, chargeId: 'long', at: Date.now() };
    const start = { key: 'k', chargeKind: 'text', model: 'm', prices: '{}', owner: 'me', lease: Date.now() } as const;
    await faulty.apply({ kind: 'reserve', ...of, ...start, amount: 10n });
    expect(await verifyChanges(faulty.store)).to.include({ ok: true, entries: 1 });
    await faulty.apply({ kind: 'release', ...of });
    expect(await verifyChanges(faulty.store)).to.include({ ok: true, entries: 1 });
  });

  it('reads each entry of a wallet of many pages once', async () => {
    const wallet = wallets[0] as string;
    const at = Date.now();
    for (let count = 0; count < 1100; count += 1) {
      await faulty.apply({ kind: 'adjust', wallet, amount: 1n, reason: 'r', adjustId: `a${count}`, at });
    }
    expect(await verifyChanges(faulty.store)).to.include({ ok: true, entries: 1100 });
    expect(await verifyChanges(faulty.store)).to.include({ ok: true, entries: 0 });
  });

  const damages: readonly (readonly [what: string, sql: (wallet: string) => string, says: RegExp])[] = [
    [
      'a wallet with other sums',
      (id) => `UPDATE wallets SET avail = avail + 1, adjusted = adjusted + 1 WHERE id = '${id}'`,
      /avail: 99\d+ instead of/,
    ],
    ['a wallet that is gone', (id) => `DELETE FROM wallets WHERE id = '${id}'`, /there is no such wallet/],
    [
      'a wallet without its last entries',
      (id) => `UPDATE wallets SET seq = 1 WHERE id = '${id}'`,
      /seq 1 with 5 entries/,
    ],
    ['an entry that is lost', (id) => `DELETE FROM entries WHERE wallet = '${id}' AND seq = 4`, /seq 5 with 4 entries/],
    [
      'an entry with another amount',
      (id) => `UPDATE entries SET avail = avail - 1, charged = charged + 1 WHERE wallet = '${id}' AND seq = 5`,
      /charged so far|instead of/,
    ],
    [
      'a call with another charge',
      (id) => `UPDATE charges SET charged = 14 WHERE wallet = '${id}' AND id = 'req_LAST'`,
      /charged/,
    ],
  ];
  for (const [what, sql, says] of damages) {
    it(`reports ${what}, again with each audit`, async () => {
      const id = wallets[1] as string;
      await call(id);
      tamper(sql(id).replace('LAST', `${calls}`));
      const first = await problems();
      expect(first.map(([wallet]) => wallet)).to.include(id);
      expect(new Set(first.map(([wallet]) => wallet)).size).to.equal(1);
      expect(first.map(([, problem]) => problem).join('\n')).to.match(says);
      await call(wallets[0] as string);
      expect(await problems()).to.deep.equal(first);
    });
  }

  it('does not see changes before its checkpoint, which the full audit does', async () => {
    tamper(`UPDATE entries SET at = 0, note = 'x', kind = 'adjust' WHERE wallet = '${wallets[2]}' AND seq = 1`);
    expect(await problems()).to.deep.equal([]);
    expect((await verifyLedger(faulty.store)).ok).to.equal(false);
  });

  it('reads entries again if it could not write the checkpoint, and fails if the store fails', async () => {
    await call(wallets[0] as string);
    for (const behaviour of [refuse, lose]) {
      faulty.next('checkpoints.put', behaviour);
      expect(await verifyChanges(faulty.store).catch(({ message }) => message)).to.match(/by the test/);
    }
    // The second checkpoint was written: only the answer was lost.
    expect(await verifyChanges(faulty.store)).to.include({ ok: true, entries: 0 });
    for (const name of ['checkpoints.changes', 'journal.walletPage'] as const) {
      await call(wallets[0] as string);
      faulty.next(name, refuse);
      expect(await verifyChanges(faulty.store).catch(({ message }) => message)).to.equal('refused by the test');
    }
  });
});
