// What only the SQLite store has: locks of other processes, threads that die, backups.
import { mkdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { OperatorError } from '../../../lib/base/operator-error.ts';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import type { Operation, Outcome } from '../../../lib/money/decide.ts';
import { type Store, StoreError } from '../../../lib/store/store.ts';
import { itLong, longer } from '../../../testkit/long.ts';
import {
  applied,
  balances,
  everythingOf,
  findWrong,
  newAccount,
  newId,
  newWallet,
  RUB,
  rejection,
  reserve,
  settle,
  statuses,
  topup,
  walletOf,
} from '../../contract/store/context.ts';
import { useFolder, useWorkers } from './folder.ts';

/** Where threads make no difference. */
const HERE = { inProcess: true };

describe('sqlite store', () => {
  const folder = useFolder();
  const workers = useWorkers();

  /** Takes the write lock like another process. */
  function lock(path: string): DatabaseSync {
    const db = folder.raw(path);
    db.exec('BEGIN IMMEDIATE');
    return db;
  }

  describe('while another process writes', () => {
    it('waits to write, and reads meanwhile', async () => {
      const path = folder.file();
      const store = await folder.open(path);
      const wallet = await newWallet(store);
      const other = lock(path);
      const done: string[] = [];
      const written = applied(store, reserve(wallet)).then(() => done.push('write'));
      await sleep(300);
      expect((await walletOf(store, wallet)).seq).to.equal(1);
      done.push('read');
      other.exec('ROLLBACK');
      await written;
      expect(done).to.deep.equal(['read', 'write']);
      expect((await walletOf(store, wallet)).seq).to.equal(2);
    });

    it('gives up after its time to wait, with nothing written', async () => {
      const path = folder.file();
      const store = await folder.open(path, { busyMs: 100 });
      const wallet = await newWallet(store);
      const other = lock(path);
      const batch = [reserve(wallet), reserve(wallet)];
      const error = await rejection(store.ledger.apply(batch));
      expect(error).to.be.instanceOf(StoreError).with.property('applied', 'no');
      for (const call of [
        store.accounts.setStatus(wallet, 'suspended'),
        store.limits.hit('a', 60_000, 0),
        store.owners.renew({ id: 'own', leaseMs: 1000, alone: false }),
      ]) {
        expect(await rejection(call))
          .to.be.instanceOf(StoreError)
          .with.property('applied', 'no');
      }
      other.exec('ROLLBACK');
      const outcomes = await store.ledger.apply(batch);
      expect(outcomes.map((outcome) => outcome?.status)).to.deep.equal(['done', 'done']);
    });

    it('continues if the other process commits in between', async () => {
      const path = folder.file();
      const first = await folder.open(path);
      const second = await folder.open(path);
      const wallet = await newWallet(first, 10_000n);
      const turns = [first, second].map(async (store) => {
        for (let turn = 0; turn < 50; turn += 1) expect(await statuses(store, reserve(wallet))).to.deep.equal(['done']);
      });
      await Promise.all(turns);
      expect((await walletOf(first, wallet)).held).to.equal(100n * RUB);
    });
  });

  describe('a thread that dies', () => {
    it('leaves the outcome of a write unknown, and is replaced for the next call', async () => {
      const path = folder.file();
      const store = await folder.open(path);
      const wallet = await newWallet(store);
      const other = lock(path);
      const batch = [reserve(wallet)];
      const lost = rejection(store.ledger.apply(batch));
      await sleep(50);
      await workers.last('tollgate-writer').terminate();
      expect(await lost)
        .to.be.instanceOf(StoreError)
        .with.property('applied', 'unknown');
      other.exec('ROLLBACK');
      expect((await store.ledger.apply(batch))[0]?.status).to.equal('done');
      expect(balances(await walletOf(store, wallet))).to.deep.equal([999, 1, 0, 1000, 0]);
    });

    itLong('causes a store error, not an operator error, if the database is gone', async () => {
      const path = folder.file();
      const store = await folder.open(path);
      await store.settings.set('a', 'b');
      await workers.last('tollgate-writer').terminate();
      renameSync(path, `${path}-away`);
      mkdirSync(path);
      expect(await rejection(store.settings.set('a', 'c')))
        .to.be.instanceOf(StoreError)
        .with.property('applied', 'no');
      rmdirSync(path);
      renameSync(`${path}-away`, path);
      await store.settings.set('a', 'c');
      expect(await store.settings.get('a')).to.equal('c');
    });

    it('fails only the running calls of a reader', async () => {
      const store = await folder.open(folder.file());
      const wallet = await newWallet(store);
      await walletOf(store, wallet);
      const reads = Array.from({ length: 50 }, () => store.ledger.wallet(wallet));
      const results = Promise.allSettled(reads);
      await workers.last('tollgate-reader').terminate();
      for (const result of await results) {
        if (result.status === 'rejected')
          expect(result.reason).to.be.instanceOf(StoreError).with.property('applied', 'no');
        else expect(result.value?.id).to.equal(wallet);
      }
      expect((await walletOf(store, wallet)).seq).to.equal(1);
    });

    it('loses and doubles nothing if batches are repeated', async () => {
      const store = await folder.open(folder.file());
      const wallet = await newWallet(store, 100_000n);
      const rounds = longer(2, 8);
      for (let round = 0; round < rounds; round += 1) {
        const killer = sleep(Math.random() * 20).then(() => workers.last('tollgate-writer').terminate());
        for (let turn = 0; turn < 10; turn += 1) {
          const chargeIds = Array.from({ length: 10 }, () => newId('req'));
          await insist(
            store,
            chargeIds.map((chargeId) => reserve(wallet, { chargeId })),
          );
          await insist(
            store,
            chargeIds.map((chargeId) => settle(wallet, chargeId, { amount: 2n * RUB })),
          );
        }
        await killer;
      }
      const spent = 200 * rounds;
      expect(balances(await walletOf(store, wallet))).to.deep.equal([100_000 - spent, 0, spent, 100_000, 0]);
      expect(await verifyLedger(store)).to.deep.include({ ok: true, entries: 1 + spent });
    });

    /** Repeats a batch until its outcome is known, like the queue. */
    async function insist(store: Store, operations: readonly Operation[]): Promise<void> {
      let outcomes: readonly Outcome[] | undefined;
      while (!outcomes) {
        outcomes = await store.ledger.apply(operations).catch((error: unknown) => {
          expect(error).to.be.instanceOf(StoreError).with.property('applied', 'unknown');
          return undefined;
        });
      }
      for (const { status } of outcomes) expect(status).to.be.oneOf(['done', 'exists']);
    }
  });

  it('has an audit that detects hidden changes of the ledger', async () => {
    const path = folder.file();
    const store = await folder.open(path, HERE);
    const wallet = await newWallet(store);
    await applied(store, reserve(wallet));
    expect((await verifyLedger(store)).ok).to.equal(true);
    folder.raw(path).exec('UPDATE wallets SET avail = avail + 5, topped = topped + 5');
    const report = await verifyLedger(store);
    expect(report).to.deep.include({ ok: false, drift: 10n });
    expect(report.problems.map(({ problem }) => problem.split(':')[0])).to.deep.equal(['avail', 'topped']);
  });

  it('reads a key with half a limit for end users, or with a damaged list, as one that may spend nothing', async () => {
    const path = folder.file();
    const store = await folder.open(path, HERE);
    const hash = 'f'.repeat(64);
    const account = await newAccount(store);
    await store.keys.add({ id: 'key_1', account, name: 'laptop', hash, last4: 'Ab9z', createdAt: 1 }, 10);
    folder.raw(path).exec(`PRAGMA ignore_check_constraints = ON;
      UPDATE keys SET end_user_reset = 'month', models = '['`);
    const held = await store.keys.find(hash);
    expect(held?.limits).to.deep.include({ models: [], endUsers: { cap: 0n, reset: 'month' } });
  });

  it('hides no change of a key behind its back when the limits of another are changed', async () => {
    const path = folder.file();
    const store = await folder.open(path, HERE);
    const account = await newAccount(store);
    for (const name of ['a', 'b']) {
      const key = { id: `key_${name}`, account, name, hash: name.repeat(64), last4: 'Ab9z', createdAt: 1 };
      await store.keys.add(key, 10);
    }
    folder.raw(path).exec("UPDATE keys SET budget = 5 WHERE id = 'key_b'");
    expect(await store.keys.limit('key_a', { models: ['m'] }, 2)).to.equal('limited');
    expect((await findWrong(store.keys)).map(({ id }) => id)).to.deep.equal(['key_b']);
  });

  it('has an audit that detects charges without entries and missing charges', async () => {
    const path = folder.file();
    const store = await folder.open(path, HERE);
    const wallet = await newWallet(store);
    const other = await newWallet(store);
    const kept = newId('req');
    const gone = newId('req');
    await applied(store, reserve(wallet, { chargeId: kept }), reserve(other, { chargeId: gone }));
    const db = folder.raw(path);
    db.exec(
      `INSERT INTO charges SELECT 'stray', * FROM (SELECT ${columnsAfterId(db)} FROM charges WHERE id = '${kept}')`,
    );
    db.exec(`PRAGMA foreign_keys = OFF; DELETE FROM charges WHERE id = '${gone}'`);
    const { problems } = await verifyLedger(store);
    expect(problems).to.deep.equal([
      { wallet: other, problem: `call ${gone}: it has entries, but there is no charge` },
      { wallet, problem: 'call stray: no entry of the journal creates it' },
    ]);
  });

  describe('a backup', () => {
    it('can be opened and is equal', async () => {
      const path = folder.file();
      const store = await folder.open(path, HERE);
      const wallet = await newWallet(store);
      await applied(store, reserve(wallet), topup(wallet, RUB));
      await store.settings.set('sandbox', 'on');
      const file = folder.file();
      await store.backup(file);
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      const copy = await folder.open(file, HERE);
      expect(await everythingOf(copy, wallet)).to.deep.equal(await everythingOf(store, wallet));
      expect(await copy.accounts.list()).to.deep.equal(await store.accounts.list());
      expect(await copy.settings.get('sandbox')).to.equal('on');
      expect(await statuses(copy, reserve(wallet))).to.deep.equal(['done']);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([1000, 1, 0, 1001, 0]);
    });

    itLong('is consistent under load', async () => {
      const store = await folder.open(folder.file());
      const wallet = await newWallet(store, 100_000n);
      let writing = true;
      const writer = (async () => {
        while (writing) {
          const chargeId = newId('req');
          await applied(store, reserve(wallet, { chargeId }));
          await applied(store, settle(wallet, chargeId));
        }
      })();
      await sleep(200);
      const seqBefore = (await walletOf(store, wallet)).seq;
      const file = folder.file();
      await store.backup(file);
      const seqAfter = (await walletOf(store, wallet)).seq;
      writing = false;
      await writer;
      const copy = await folder.open(file, HERE);
      expect((await walletOf(copy, wallet)).seq).to.be.within(seqBefore, seqAfter);
      expect(await verifyLedger(copy)).to.deep.include({ ok: true, wallets: 1 });
    });

    it('reports in one line why it refuses a file', async () => {
      const path = folder.file();
      const store = await folder.open(path, HERE);
      const error = await rejection(store.backup(path));
      expect(error).to.be.instanceOf(OperatorError).with.property('message', `The file ${path} already exists.`);
    });
  });

  itLong('reads and writes without waiting for an audit or a backup', async () => {
    const store = await folder.open(folder.file());
    const wallet = await newAccount(store);
    await applied(store, topup(wallet, 1_000_000n * RUB));
    for (let batch = 0; batch < longer(15, 40); batch += 1) {
      await applied(store, ...Array.from({ length: store.ledger.batchMax }, () => reserve(wallet)));
    }
    const finished: string[] = [];
    const audits = Array.from({ length: longer(8, 10) }, () => store.journal.page(undefined, 10_000));
    const audited = Promise.all(audits).then(() => finished.push('audits'));
    await applied(store, reserve(wallet)).then(() => finished.push('write'));
    await walletOf(store, wallet).then(() => finished.push('read'));
    await audited;
    expect(finished).to.deep.equal(['write', 'read', 'audits']);
  });
});

function columnsAfterId(db: DatabaseSync): string {
  const columns = db.prepare("SELECT name FROM pragma_table_info('charges') WHERE name <> 'id' ORDER BY cid").all();
  return columns.map(({ name }) => name).join(', ');
}
