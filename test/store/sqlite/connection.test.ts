// How a connection writes: synced to disk for money, and fairly beside another writer.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Connection, type ConnectionOptions, openForWrites } from '../../../lib/store/sqlite/connection.ts';
import { settingWrites } from '../../../lib/store/sqlite/settings.ts';
import { useFolder } from './folder.ts';

describe('sqlite connection', () => {
  const folder = useFolder();
  const open: Connection[] = [];
  afterEach(() => {
    for (const { db } of open.splice(0)) db.close();
  });

  function connect(path: string, more: Partial<ConnectionOptions> = {}): Connection {
    const connection = openForWrites({
      path,
      mediaFolder: `${path}-media`,
      busyMs: 1000,
      existing: false,
      readOnly: false,
      repeatable: false,
      temporary: false,
      ...more,
    });
    open.push(connection);
    return connection;
  }

  it('waits for the disk again after a write without sync', () => {
    const { db, write } = connect(folder.file());
    const look = db.prepare('PRAGMA synchronous');
    const synchronous = () => look.get()?.synchronous;
    const full = 2;
    const normal = 1;
    expect(write(synchronous)).to.equal(full);
    expect(write(synchronous, 'normal')).to.equal(normal);
    expect(write(synchronous, 'normal')).to.equal(normal);
    expect(write(synchronous)).to.equal(full);
    expect(write(synchronous)).to.equal(full);
  });

  it('does not wait for the disk during a copy, until a setting marks the copy as complete', () => {
    const { db, write } = connect(folder.file(), { repeatable: true });
    // A prepared statement may return the old value.
    const synchronous = () => db.prepare('PRAGMA synchronous').get()?.synchronous;
    const full = 2;
    const normal = 1;
    expect(write(synchronous)).to.equal(normal);
    settingWrites({ db, write }).set('a', 'b');
    expect(synchronous()).to.equal(full);
    expect(write(synchronous)).to.equal(normal);
  });

  it('pauses between transactions for other writers, up to the length of the previous one', async () => {
    const path = folder.file();
    const mine = connect(path);
    const other = connect(path);
    const set = ({ db }: Connection) => db.prepare("INSERT OR REPLACE INTO settings (name, value) VALUES ('a', ?)");
    const mySet = set(mine);
    const otherSet = set(other);
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    let waitedMs = 0;
    for (let turn = 0; turn < 20; turn += 1) {
      other.write(() => otherSet.run(`other ${turn}`));
      const from = performance.now();
      waitedMs += mine.write(() => {
        const began = performance.now();
        mySet.run(`mine ${turn}`);
        Atomics.wait(nothing, 0, 0, 10);
        return began - from;
      });
      await sleep(1);
    }
    // 5 ms each on the average.
    expect(waitedMs).to.be.above(30);
  });
});
