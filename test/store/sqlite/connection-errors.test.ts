// What a failed write leaves behind and whom it blames, and what a read-only connection must not do.
import { copyFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { OperatorError } from '../../../lib/base/operator-error.ts';
import {
  type Connection,
  type ConnectionOptions,
  openForReads,
  openForWrites,
} from '../../../lib/store/sqlite/connection.ts';
import { StoreError } from '../../../lib/store/store.ts';
import { useFolder } from './folder.ts';

describe('sqlite connection', () => {
  const folder = useFolder();
  const open: { close(): void }[] = [];
  afterEach(() => {
    for (const db of open.splice(0)) db.close();
  });

  const optionsOf = (path: string, more: Partial<ConnectionOptions> = {}): ConnectionOptions => ({
    path,
    mediaFolder: `${path}-media`,
    busyMs: 50,
    existing: false,
    readOnly: false,
    repeatable: false,
    temporary: false,
    ...more,
  });
  function connect(path: string, more: Partial<ConnectionOptions> = {}): Connection {
    const connection = openForWrites(optionsOf(path, more));
    open.push(connection.db);
    return connection;
  }
  function reader(path: string, more: Partial<ConnectionOptions> = {}) {
    const db = openForReads(optionsOf(path, more));
    open.push(db);
    return db;
  }
  function failureOf(work: () => unknown): StoreError {
    try {
      work();
    } catch (error) {
      expect(error).to.be.instanceOf(StoreError);
      return error as StoreError;
    }
    throw new Error('it did not fail');
  }
  const namesOf = ({ db }: Connection) => db.prepare('SELECT name FROM settings ORDER BY name').all();
  const add = ({ db }: Connection, name: string, value = 'v') =>
    db.prepare('INSERT INTO settings (name, value) VALUES (?, ?)').run(name, value);

  it('writes nothing to a file that was removed or replaced, and goes on once it is back', () => {
    const path = folder.file();
    const connection = connect(path);
    const write = (name: string) => connection.write(() => add(connection, name));
    write('before');
    renameSync(path, `${path}-aside`);
    expect(failureOf(() => write('removed'))).to.include({ applied: 'no', blames: 'store' });
    copyFileSync(`${path}-aside`, path);
    expect(failureOf(() => write('replaced')).message).to.match(/was removed or replaced while it was open/);
    rmSync(path);
    renameSync(`${path}-aside`, path);
    write('after');
    expect(namesOf(connection).map(({ name }) => name)).to.include.members(['before', 'after']);
    expect(namesOf(connection).map(({ name }) => name)).not.to.include.members(['removed']);
  });

  const failures: Readonly<Record<string, readonly ['store' | 'batch', (connection: Connection) => void]>> = {
    'a row that is there already': ['batch', (connection) => add(connection, 'first')],
    'a rule of a table': ['batch', ({ db }) => db.exec("INSERT INTO batches (writer, number, at) VALUES ('w', 0, 1)")],
    'a mistake of the program': [
      'batch',
      () => {
        throw new TypeError('a mistake');
      },
    ],
    'a full disk': [
      'store',
      (connection) => {
        connection.db.exec('PRAGMA max_page_count = 1');
        add(connection, 'large', 'x'.repeat(10_000_000));
      },
    ],
    'a database that may only be read': [
      'store',
      (connection) => {
        connection.db.exec('PRAGMA query_only = ON');
        add(connection, 'late');
      },
    ],
  };
  for (const [name, [blames, work]] of Object.entries(failures)) {
    it(`undoes all of a write that meets ${name}, and blames the ${blames}`, () => {
      const connection = connect(folder.file());
      connection.write(() => add(connection, 'first'));
      const failed = failureOf(() =>
        connection.write(() => {
          add(connection, 'second');
          work(connection);
        }),
      );
      expect(failed).to.include({ applied: 'no', blames });
      expect(connection.db.isTransaction).to.equal(false);
      expect(namesOf(connection)).to.deep.equal([{ name: 'first' }]);
    });
  }

  it('reports an unknown outcome for a failed commit, and accepts the next write', () => {
    const connection = connect(folder.file());
    connection.db.exec(`PRAGMA foreign_keys = ON; CREATE TABLE parents (id TEXT PRIMARY KEY);
      CREATE TABLE children (parent TEXT REFERENCES parents DEFERRABLE INITIALLY DEFERRED)`);
    const failed = failureOf(() => connection.write(() => connection.db.exec("INSERT INTO children VALUES ('none')")));
    expect(failed).to.include({ applied: 'unknown', blames: 'store' });
    connection.write(() => add(connection, 'next'));
    expect(namesOf(connection)).to.deep.equal([{ name: 'next' }]);
  });

  it('reports a busy store after its time to wait', () => {
    const path = folder.file();
    const mine = connect(path);
    const other = connect(path);
    other.db.exec('BEGIN IMMEDIATE');
    const from = performance.now();
    const failed = failureOf(() => mine.write(() => add(mine, 'late')));
    expect(failed).to.include({ applied: 'no', blames: 'store' });
    expect(performance.now() - from).to.be.at.least(50);
    other.db.exec('ROLLBACK');
    mine.write(() => add(mine, 'now'));
    expect(namesOf(mine)).to.deep.equal([{ name: 'now' }]);
  });

  it('limits the size of its log', () => {
    const { db } = connect(folder.file());
    const settingOf = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    expect(['wal_autocheckpoint', 'journal_size_limit'].map(settingOf)).to.deep.equal([4000, 67_108_864]);
  });

  for (const readOnly of [false, true]) {
    it(`writes nothing where it reads${readOnly ? ' a file that it may not change' : ''}`, () => {
      const path = folder.file();
      connect(path).db.close();
      open.pop();
      const db = reader(path, { readOnly, existing: readOnly });
      expect(() => db.exec("INSERT INTO settings (name, value) VALUES ('a', 'b')")).to.throw(/readonly/);
    });
  }

  it('creates no tables in a file that must have them', () => {
    const path = folder.file();
    writeFileSync(path, '');
    expect(() => connect(path, { existing: true })).to.throw(`There is no Tollgate store at ${path}`);
    const missing = folder.file();
    expect(() => connect(missing, { existing: true })).to.throw(`There is no Tollgate store at ${missing}`);
    expect(existsSync(missing)).to.equal(false);
  });

  it('waits for other writers at the opening, and reports why it fails', () => {
    const path = folder.file();
    const other = connect(path);
    other.db.exec('BEGIN IMMEDIATE');
    const from = performance.now();
    expect(() => connect(path)).to.throw(OperatorError, `The database ${path} cannot be opened: database is locked.`);
    expect(performance.now() - from).to.be.at.least(50);
  });

  it('opens an unfinished backup only for the backup itself', () => {
    const path = `${folder.file()}.unfinished`;
    const message = `The file ${path} is an unfinished backup.`;
    expect(() => connect(path)).to.throw(message);
    connect(path, { temporary: true });
    for (const existing of [false, true]) expect(() => connect(path, { existing })).to.throw(message);
    expect(() => reader(path, { existing: true, readOnly: true })).to.throw(message);
  });
});
