// The tables refuse what the ledger must never write, and files of other programs stay untouched.
import { readFileSync, writeFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { OperatorError } from '../../../lib/base/operator-error.ts';
import { MIGRATIONS, READABLE_SINCE, SCHEMA_VERSION } from '../../../lib/store/sqlite/schema.ts';
import { openSqliteStore, type SqliteOptions } from '../../../lib/store/sqlite/store.ts';
import { fillServiceWeeks } from '../../../lib/store/sqlite/usage-schema.ts';
import { longer } from '../../../testkit/long.ts';
import { expectRecorded } from '../../../testkit/recorded.ts';
import { applied, newId, newWallet, rejection, reserve } from '../../contract/store/context.ts';
import { useFolder } from './folder.ts';

describe('sqlite schema', () => {
  const folder = useFolder();

  it('carries its version and application id', async () => {
    const path = folder.file();
    await folder.open(path);
    const db = folder.raw(path);
    expect(db.prepare('PRAGMA user_version').get()).to.deep.include({ user_version: SCHEMA_VERSION });
    expect(db.prepare('PRAGMA application_id').get()).to.deep.include({ application_id: 0x746f6c6c });
    expect(db.prepare('PRAGMA journal_mode').get()).to.deep.include({ journal_mode: 'wal' });
    expect(db.prepare('PRAGMA integrity_check').get()).to.deep.include({ integrity_check: 'ok' });
  });

  it('is the one that is recorded', async () => {
    const path = folder.file();
    await folder.open(path);
    const rows = folder
      .raw(path)
      .prepare("SELECT sql FROM sqlite_master WHERE sql <> '' ORDER BY tbl_name, name")
      .all();
    const texts = rows.map(({ sql }) => String(sql).replaceAll(/\s*\n\s*/g, '\n'));
    expectRecorded(new URL('tables.txt', import.meta.url), texts);
  });

  it('has all its tables in the oldest file that is read as it is', async () => {
    const path = folder.file();
    await folder.open(path);
    const listTables = (db: DatabaseSync) =>
      db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        .all();
    const old = folder.raw(folder.file());
    for (const step of MIGRATIONS.slice(0, READABLE_SINCE)) {
      if (typeof step === 'string') old.exec(step);
      else while (step(old) === true);
    }
    expect(listTables(old)).to.deep.equal(listTables(folder.raw(path)));
  });

  it('is created if several processes open a new file concurrently', async () => {
    for (let round = 0; round < longer(1, 3); round += 1) {
      const path = folder.file();
      const stores = await Promise.all([1, 2, 3].map(() => folder.open(path)));
      const wallet = await newWallet(stores[0] as (typeof stores)[0]);
      for (const store of stores) expect((await store.ledger.wallet(wallet))?.id).to.equal(wallet);
    }
  });

  describe('refuses', () => {
    async function refused(path: string, options?: SqliteOptions): Promise<string> {
      const before = readFileSync(path);
      const error = await rejection(folder.open(path, options));
      expect(error).to.be.instanceOf(OperatorError);
      const { message } = error as OperatorError;
      expect(message).to.include(path).and.not.include('\n');
      expect(readFileSync(path).equals(before), 'the file is as it was').to.equal(true);
      return message;
    }

    it('a newer schema', async () => {
      const path = folder.file();
      await (await folder.open(path)).close();
      folder.raw(path).exec(`PRAGMA journal_mode = DELETE; PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
      const known = `version ${SCHEMA_VERSION + 1}, this version of Tollgate knows ${SCHEMA_VERSION}`;
      expect(await refused(path)).to.include(known);
    });

    it('a file that is not a database', async () => {
      const path = folder.file();
      writeFileSync(path, 'a letter, not a database\n'.repeat(500));
      expect(await refused(path)).to.match(/is not a SQLite database\.$/);
    });

    it('a database of another program', async () => {
      const path = folder.file();
      folder.raw(path).exec('CREATE TABLE wallets (id TEXT)');
      expect(await refused(path)).to.match(/belongs to another program\.$/);
    });

    it('to read a file without a store', async () => {
      const path = folder.file();
      writeFileSync(path, '');
      expect(await refused(path, { readOnly: true })).to.match(/^There is no Tollgate store at /);
    });

    it('to read a file of another program, or of a newer version', async () => {
      const path = folder.file();
      await (await folder.open(path)).close();
      const change = (pragma: string) => folder.raw(path).exec(`PRAGMA journal_mode = DELETE; PRAGMA ${pragma}`);
      change(`user_version = ${SCHEMA_VERSION + 1}`);
      expect(await refused(path, { readOnly: true })).to.match(/start a newer Tollgate on it\.$/);
      change(`user_version = ${SCHEMA_VERSION}; PRAGMA application_id = 252006674`);
      expect(await refused(path, { readOnly: true })).to.match(/belongs to another program\.$/);
    });

    it('to read a schema before its usage by the week was filled in', async () => {
      const path = folder.file();
      await (await folder.open(path)).close();
      await (await folder.open(path, { readOnly: true })).close();
      const version = MIGRATIONS.indexOf(fillServiceWeeks);
      folder.raw(path).exec(`PRAGMA journal_mode = DELETE; PRAGMA user_version = ${version}`);
      const message = await refused(path, { readOnly: true });
      expect(message).to.match(new RegExp(`has schema version ${version}: start this Tollgate on it once\\.$`));
    });

    it('an empty database that another program marked as its own', async () => {
      const path = folder.file();
      folder.raw(path).exec('PRAGMA application_id = 252006674');
      expect(await refused(path)).to.match(/belongs to another program\.$/);
    });
  });

  describe('rules of the tables', () => {
    let path = '';
    let db: DatabaseSync;
    const held = newId('req');
    const ended = newId('req');
    const wallet = newId('acc');

    before(async () => {
      path = folder.file();
      const store = await openSqliteStore(path);
      await store.accounts.create({ id: wallet, name: 'test', createdAt: 1 });
      const pay = { kind: 'topup', wallet, at: 1, amount: 1_000_000_000n, paymentId: newId('pay') } as const;
      await applied(store, pay, reserve(wallet, { chargeId: held }), reserve(wallet, { chargeId: ended }));
      await applied(store, { kind: 'release', wallet, at: 2, chargeId: ended });
      await store.close();
    });
    beforeEach(() => {
      db = folder.raw(path);
    });

    const columns = 'op_id, wallet, seq, kind, charge, at, avail, held, charged, topped, adjusted, overshoot';
    const entry = (values: string) => `INSERT INTO entries (${columns}, charged_after) VALUES (${values})`;
    const rules: readonly [string, RegExp, () => string][] = [
      ['a wallet that does not add up', /CHECK/, () => 'UPDATE wallets SET avail = avail + 1'],
      ['a negative hold', /CHECK/, () => 'UPDATE wallets SET held = -1, avail = avail + held + 1'],
      ['a negative sum of charges', /CHECK/, () => 'UPDATE wallets SET charged = -1, avail = avail + 1'],
      ['negative payments', /CHECK/, () => 'UPDATE wallets SET topped = -1, adjusted = adjusted + topped + 1'],
      ['an unknown status', /CHECK/, () => "UPDATE wallets SET status = 'closed'"],
      ['a negative number of entries', /CHECK/, () => 'UPDATE wallets SET seq = -1'],
      ['a fraction', /REAL value in INTEGER/, () => 'UPDATE wallets SET avail = avail + 0.5, held = held - 0.5'],
      ['a text for an amount', /TEXT value in INTEGER/, () => "UPDATE charges SET reserved = 'much'"],
      ['an unknown state', /CHECK/, () => "UPDATE charges SET state = 'lost'"],
      ['an unknown kind', /CHECK/, () => "UPDATE charges SET kind = 'audio'"],
      ['a reserve of nothing', /CHECK/, () => 'UPDATE charges SET reserved = 0'],
      ['a negative charge', /CHECK/, () => `UPDATE charges SET charged = -1 WHERE id = '${ended}'`],
      ['a hold without an owner', /CHECK/, () => `UPDATE charges SET owner = NULL WHERE id = '${held}'`],
      ['a hold without a lease', /CHECK/, () => `UPDATE charges SET lease = NULL WHERE id = '${held}'`],
      ['a hold that has ended', /CHECK/, () => `UPDATE charges SET ended_at = 5 WHERE id = '${held}'`],
      ['an end that is still owned', /CHECK/, () => `UPDATE charges SET owner = 'own' WHERE id = '${ended}'`],
      ['a released charge that cost something', /CHECK/, () => `UPDATE charges SET charged = 5 WHERE id = '${ended}'`],
      [
        'an entry that does not balance',
        /CHECK/,
        () => entry(`'x', '${wallet}', 9, 'topup', NULL, 1, 1, 0, 0, 0, 0, 0, 0`),
      ],
      ['an entry number zero', /CHECK/, () => entry(`'x', '${wallet}', 0, 'topup', NULL, 1, 0, 0, 0, 0, 0, 0, 0`)],
      ['an entry number twice', /UNIQUE/, () => entry(`'x', '${wallet}', 1, 'topup', NULL, 1, 0, 0, 0, 0, 0, 0, 0`)],
      [
        'an operation twice',
        /UNIQUE/,
        () => entry(`'reserve:${held}', '${wallet}', 9, 'reserve', '${held}', 1, 0, 0, 0, 0, 0, 0, 0`),
      ],
      [
        'an entry of an unknown kind',
        /CHECK/,
        () => entry(`'x', '${wallet}', 9, 'gift', NULL, 1, 0, 0, 0, 0, 0, 0, 0`),
      ],
      [
        'a settlement without its charge',
        /CHECK/,
        () => entry(`'x', '${wallet}', 9, 'settle', NULL, 1, 0, 0, 0, 0, 0, 0, 0`),
      ],
      ['a negative overshoot', /CHECK/, () => entry(`'x', '${wallet}', 9, 'topup', NULL, 1, 0, 0, 0, 0, 0, -1, 0`)],
      ['a change of the journal', /append-only/, () => 'UPDATE entries SET at = at + 1'],
      ['a hole in the journal', /append-only/, () => 'DELETE FROM entries WHERE seq = 2'],
      ['an account twice', /UNIQUE/, () => `INSERT INTO accounts (id, name, created_at) VALUES ('${wallet}', 'b', 1)`],
      ['a window without a hit', /CHECK/, () => "INSERT INTO limits (bucket, ends_at, count) VALUES ('b', 1, 0)"],
    ];
    for (const [name, error, sql] of rules) {
      it(`refuse ${name}`, () => {
        expect(() => db.exec(sql())).to.throw(error);
      });
    }

    it('refuse the same hash for two keys', () => {
      const insert = (id: string) =>
        db.exec(
          `INSERT INTO keys (id, account, name, hash, last4, created_at, reset, zone)
          VALUES ('${id}', '${wallet}', 'k', 'h', 'l', 1, 'none', 'UTC')`,
        );
      insert('key_1');
      expect(() => insert('key_2')).to.throw(/UNIQUE/);
    });
  });
});
